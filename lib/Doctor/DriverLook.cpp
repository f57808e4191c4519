#include "Doctor/DriverLook.h"

#include "Command/Installation.h"
#include "Device/DeviceModel.h"
#include "Support/Files.h"
#include "Workload/Workload.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cuda.h>
#include <dlfcn.h>

using namespace carve;

namespace {

/// The functions of libcuda that tell what there is.
struct DriverFunctions {
  decltype(&::cuInit) Init = nullptr;
  decltype(&::cuGetErrorString) ErrorString = nullptr;
  decltype(&::cuDriverGetVersion) DriverVersion = nullptr;
  decltype(&::cuDeviceGetCount) DeviceCount = nullptr;
  decltype(&::cuDeviceGet) Device = nullptr;
  decltype(&::cuDeviceGetName) DeviceName = nullptr;
  decltype(&::cuDeviceGetAttribute) DeviceAttribute = nullptr;
};

template <typename T> bool find(void *Library, const char *Name, T &Function) {
  Function = reinterpret_cast<T>(::dlsym(Library, Name));
  return Function != nullptr;
}

/// Looks up all functions; false if \p Library lacks one.
bool findFunctions(void *Library, DriverFunctions &F) {
  return find(Library, "cuInit", F.Init) && find(Library, "cuGetErrorString", F.ErrorString) &&
         find(Library, "cuDriverGetVersion", F.DriverVersion) &&
         find(Library, "cuDeviceGetCount", F.DeviceCount) &&
         find(Library, "cuDeviceGet", F.Device) && find(Library, "cuDeviceGetName", F.DeviceName) &&
         find(Library, "cuDeviceGetAttribute", F.DeviceAttribute);
}

std::string loadFailure() {
  const char *Why = ::dlerror();
  return Why ? Why : "it cannot be loaded";
}

/// The GPU number \p Ordinal; nothing if the driver does not tell.
std::optional<SeenGpu> gpuAt(int Ordinal, const DriverFunctions &F,
                             llvm::ArrayRef<std::string> Architectures) {
  CUdevice Device = 0;
  char Name[256] = "";
  int Major = 0, Minor = 0;
  if (F.Device(&Device, Ordinal) || F.DeviceName(Name, sizeof Name, Device) ||
      F.DeviceAttribute(&Major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, Device) ||
      F.DeviceAttribute(&Minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, Device))
    return std::nullopt;
  SeenGpu Gpu{Name, "sm_" + std::to_string(Major) + std::to_string(Minor)};
  Gpu.Known = llvm::is_contained(Architectures, Gpu.Arch);
  return Gpu;
}

void askDriver(SeenDriver &Seen, llvm::StringRef DevicesDir, const DriverPlaces &Places) {
  void *Library = ::dlopen(Places.Library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    Seen.Failure = loadFailure();
    return;
  }
  DriverFunctions F;
  if (!findFunctions(Library, F)) {
    Seen.Failure = Places.Library + " lacks a function: " + loadFailure();
    return;
  }
  if (CUresult Result = F.Init(0)) {
    const char *Why = nullptr;
    (void)F.ErrorString(Result, &Why);
    Seen.Failure =
        "cuInit returns " + std::to_string(Result) + (Why ? std::string(", ") + Why : "");
    return;
  }
  int Cuda = 0, Count = 0;
  if (!F.DriverVersion(&Cuda)) {
    Seen.CudaMajor = Cuda / 1000;
    Seen.CudaMinor = Cuda % 1000 / 10;
  }
  const std::vector<std::string> Architectures = knownArchitectures(DevicesDir);
  if (F.DeviceCount(&Count))
    Count = 0;
  for (int I = 0; I < Count; ++I)
    if (std::optional<SeenGpu> Gpu = gpuAt(I, F, Architectures))
      Seen.Gpus.push_back(std::move(*Gpu));
}

/// The release in `NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Wed Jul ...`.
std::string releaseIn(llvm::StringRef Text) {
  for (llvm::StringRef Word : llvm::split(Text.split('\n').first, ' '))
    if (!Word.empty() && llvm::isDigit(Word.front()) && Word.contains('.') &&
        llvm::all_of(Word, [](char C) { return llvm::isDigit(C) || C == '.'; }))
      return Word.str();
  return "";
}

/// What follows on \p Name at the beginning of a line of \p Text.
std::optional<llvm::StringRef> fieldOf(llvm::StringRef Text, llvm::StringRef Name) {
  for (llvm::StringRef Line : llvm::split(Text, '\n'))
    if (Line.consume_front(Name))
      return Line.trim();
  return std::nullopt;
}

/// Whether this process has CAP_SYS_ADMIN, which the driver asks for.
bool isAdministrator(const std::string &StatusFile) {
  constexpr unsigned AdministratorBit = 21;
  uint64_t Capabilities = 0;
  std::string Text = readProcFile(StatusFile).value_or("");
  std::optional<llvm::StringRef> Field = fieldOf(Text, "CapEff:");
  return Field && !Field->getAsInteger(16, Capabilities) && (Capabilities >> AdministratorBit & 1);
}

} // namespace

SeenDriver carve::lookAtDriver(GetEnv Env, llvm::StringRef DevicesDir, const DriverPlaces &Places) {
  SeenDriver Seen;
  auto Nothing = [](llvm::StringRef) -> std::optional<std::string> { return std::nullopt; };
  Seen.HasDevices = gpuPresent(Nothing);
  if (Seen.HasDevices && !gpuPresent(Env))
    Seen.Hidden = Env("CUDA_VISIBLE_DEVICES");
  Seen.Version = releaseIn(readProcFile(Places.Proc + "/version").value_or(""));
  std::string Params = readProcFile(Places.Proc + "/params").value_or("");
  // The name by which the driver itself lists NVreg_RestrictProfilingToAdminUsers.
  if (std::optional<llvm::StringRef> Only = fieldOf(Params, "RmProfilingAdminOnly:"))
    Seen.CountersRestricted = *Only != "0";
  Seen.IsAdministrator = isAdministrator(Places.ProcessStatus);
  askDriver(Seen, DevicesDir, Places);
  return Seen;
}

SeenCupti carve::lookAtCupti(llvm::StringRef BinDir) {
  SeenCupti Seen;
  Seen.Path = findCupti(BinDir).value_or("");
  if (Seen.Path.empty())
    return Seen;
  if (!::dlopen(Seen.Path.c_str(), RTLD_NOW | RTLD_LOCAL))
    Seen.Failure = loadFailure();
  return Seen;
}
