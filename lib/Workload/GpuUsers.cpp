#include "Workload/GpuUsers.h"

#include "Protocol/Protocol.h"
#include "Support/Clock.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include "Workload/WorkloadProcesses.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <dlfcn.h>

using namespace carve;

namespace {

// These declarations are copied from nvml.h, because a toolkit without its development package
// lacks that header. The library keeps these layouts for the versioned names.
using NvmlDevice = struct NvmlDeviceHandle *;
struct NvmlProcess {
  unsigned Pid;
  unsigned long long UsedBytes;
  unsigned GpuInstance, ComputeInstance;
};
struct NvmlUtilization {
  unsigned Pid;
  unsigned long long TimeStampUs;
  unsigned Sm, Memory, Encoder, Decoder;
};
enum NvmlStatus : int { NvmlSuccess = 0, NvmlNotFound = 6, NvmlInsufficientSize = 7 };

uint64_t microsecondsNow() { return uint64_t(unixNanoseconds()) / 1000; }

} // namespace

/// The library's functions. They are usable only if all were found and nvmlInit succeeded.
class GpuUsers::Nvml {
public:
  explicit Nvml(const std::string &Library);
  ~Nvml();
  bool usable() const { return Initialised; }

  std::vector<NvmlDevice> devices(llvm::ArrayRef<std::string> Uuids) const;
  std::vector<unsigned> processes(NvmlDevice Device) const;
  /// How busy each process kept the GPU in the last second, in per cent; nothing if the driver does
  /// not tell it.
  std::optional<std::vector<std::pair<unsigned, unsigned>>> busy(NvmlDevice Device) const;

private:
  template <typename F> bool find(F *&Function, const char *Name) {
    Function = reinterpret_cast<F *>(::dlsym(Handle, Name));
    return Function != nullptr;
  }

  void *Handle;
  bool Initialised = false;
  int (*Init)() = nullptr;
  int (*Shutdown)() = nullptr;
  int (*Count)(unsigned *) = nullptr;
  int (*ByIndex)(unsigned, NvmlDevice *) = nullptr;
  int (*ByUuid)(const char *, NvmlDevice *) = nullptr;
  int (*Processes)(NvmlDevice, unsigned *, NvmlProcess *) = nullptr;
  int (*Utilization)(NvmlDevice, NvmlUtilization *, unsigned *, unsigned long long) = nullptr;
};

GpuUsers::Nvml::Nvml(const std::string &Library)
    : Handle(::dlopen(Library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  Initialised = Handle && find(Init, "nvmlInit_v2") && find(Shutdown, "nvmlShutdown") &&
                find(Count, "nvmlDeviceGetCount_v2") &&
                find(ByIndex, "nvmlDeviceGetHandleByIndex_v2") &&
                find(ByUuid, "nvmlDeviceGetHandleByUUID") &&
                find(Processes, "nvmlDeviceGetComputeRunningProcesses_v3") &&
                find(Utilization, "nvmlDeviceGetProcessUtilization") && Init() == NvmlSuccess;
}

GpuUsers::Nvml::~Nvml() {
  if (Initialised)
    Shutdown();
  if (Handle)
    ::dlclose(Handle);
}

std::vector<NvmlDevice> GpuUsers::Nvml::devices(llvm::ArrayRef<std::string> Uuids) const {
  std::vector<NvmlDevice> Found;
  NvmlDevice Device = nullptr;
  for (const std::string &Uuid : Uuids)
    if (ByUuid(Uuid.c_str(), &Device) == NvmlSuccess)
      Found.push_back(Device);
  unsigned All = 0;
  if (Uuids.empty() && Count(&All) == NvmlSuccess)
    for (unsigned I = 0; I < All; ++I)
      if (ByIndex(I, &Device) == NvmlSuccess)
        Found.push_back(Device);
  return Found;
}

std::vector<unsigned> GpuUsers::Nvml::processes(NvmlDevice Device) const {
  std::vector<NvmlProcess> Known(64);
  unsigned Size = Known.size();
  int Status = Processes(Device, &Size, Known.data());
  if (Status == NvmlInsufficientSize) {
    Known.resize(Size + 64);
    Size = Known.size();
    Status = Processes(Device, &Size, Known.data());
  }
  std::vector<unsigned> Pids;
  for (unsigned I = 0; Status == NvmlSuccess && I < Size; ++I)
    Pids.push_back(Known[I].Pid);
  return Pids;
}

std::optional<std::vector<std::pair<unsigned, unsigned>>>
GpuUsers::Nvml::busy(NvmlDevice Device) const {
  std::vector<NvmlUtilization> Known(256);
  unsigned Size = Known.size();
  int Status = Utilization(Device, Known.data(), &Size, microsecondsNow() - 1'000'000);
  if (Status != NvmlSuccess && Status != NvmlNotFound)
    return std::nullopt;
  std::vector<std::pair<unsigned, unsigned>> Percent;
  for (unsigned I = 0; Status == NvmlSuccess && I < Size; ++I)
    Percent.emplace_back(Known[I].Pid, Known[I].Sm);
  return Percent;
}

std::string GpuUser::text() const {
  std::string Text = "another process uses this GPU: pid " + std::to_string(Pid);
  if (!Name.empty())
    Text += " " + Name;
  if (!BusyPercent)
    return Text + ": times are noisier while it computes";
  if (*BusyPercent == 0)
    return Text + " (idle when looked at)";
  return Text + " (" + std::to_string(*BusyPercent) + " % busy): times are noisier";
}

GpuUsers::GpuUsers(std::string Library) : Library(std::move(Library)) {}
GpuUsers::~GpuUsers() = default;

/// The name of process \p Pid, or an empty text if it is not in our pid namespace.
static std::string processName(unsigned Pid) {
  std::optional<std::string> Name = readProcFile("/proc/" + std::to_string(Pid) + "/comm");
  return llvm::StringRef(Name.value_or("")).trim().str();
}

void GpuUsers::note(unsigned Pid, std::optional<unsigned> BusyPercent) {
  auto Known = llvm::find_if(Found, [&](const GpuUser &U) { return U.Pid == Pid; });
  if (Known == Found.end()) {
    // Processes that a workload has left running are reported elsewhere.
    if (hasEnvironment(pid_t(Pid), std::string(probe::DirVariable) + "="))
      return;
    Found.push_back({Pid, processName(Pid), BusyPercent});
    logLine(Found.back().text());
  } else if (BusyPercent) {
    Known->BusyPercent = std::max(Known->BusyPercent.value_or(0), *BusyPercent);
  }
}

void GpuUsers::look(llvm::ArrayRef<std::string> Uuids) {
  if (!Opened)
    Api = std::make_unique<Nvml>(Library);
  Opened = true;
  if (!Api->usable())
    return;
  for (NvmlDevice Device : Api->devices(Uuids)) {
    auto Busy = Api->busy(Device);
    for (unsigned Pid : Api->processes(Device)) {
      std::optional<unsigned> Percent;
      if (Busy) {
        Percent = 0;
        for (auto [Other, Sm] : *Busy)
          if (Other == Pid && Sm <= 100)
            Percent = std::max(*Percent, Sm);
      }
      note(Pid, Percent);
    }
  }
}
