#include "Workload/Nvml.h"

#include "Support/Clock.h"

#include <algorithm>
#include <dlfcn.h>

using namespace carve;

// These declarations are copied from nvml.h, because a toolkit without its development package
// lacks that header. The library keeps these layouts for the versioned names.
struct Nvml::Process {
  unsigned Pid;
  unsigned long long UsedBytes;
  unsigned GpuInstance, ComputeInstance;
};
struct Nvml::Utilization {
  unsigned Pid;
  unsigned long long TimeStampUs;
  unsigned Sm, Memory, Encoder, Decoder;
};
struct Nvml::Memory {
  unsigned long long TotalBytes, FreeBytes, UsedBytes;
};
namespace {
enum NvmlStatus : int { NvmlSuccess = 0, NvmlNotFound = 6, NvmlInsufficientSize = 7 };

uint64_t microsecondsNow() { return uint64_t(unixNanoseconds()) / 1000; }
} // namespace

template <typename F> bool Nvml::find(F *&Function, const char *Name) {
  Function = reinterpret_cast<F *>(::dlsym(Handle, Name));
  return Function != nullptr;
}

Nvml::Nvml(const std::string &Library) : Handle(::dlopen(Library.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  Initialised = Handle && find(Init, "nvmlInit_v2") && find(Shutdown, "nvmlShutdown") &&
                find(Count, "nvmlDeviceGetCount_v2") &&
                find(ByIndex, "nvmlDeviceGetHandleByIndex_v2") &&
                find(ByUuid, "nvmlDeviceGetHandleByUUID") &&
                find(Processes, "nvmlDeviceGetComputeRunningProcesses_v3") &&
                find(Used, "nvmlDeviceGetProcessUtilization") && Init() == NvmlSuccess;
  Describes = Initialised && find(UuidOf, "nvmlDeviceGetUUID") &&
              find(NameOf, "nvmlDeviceGetName") &&
              find(CapabilityOf, "nvmlDeviceGetCudaComputeCapability") &&
              find(MemoryOf, "nvmlDeviceGetMemoryInfo");
  if (Describes)
    (void)find(MigModeOf, "nvmlDeviceGetMigMode");
}

Nvml::~Nvml() {
  if (Initialised)
    Shutdown();
  if (Handle)
    ::dlclose(Handle);
}

std::vector<NvmlDevice> Nvml::devices(llvm::ArrayRef<std::string> Uuids) const {
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

std::vector<unsigned> Nvml::processes(NvmlDevice Device) const {
  std::vector<Process> Known(64);
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

/// How busy each process kept the GPU in the last second, in per cent; nothing if the driver does
/// not tell it.
std::optional<std::vector<std::pair<unsigned, unsigned>>> Nvml::busy(NvmlDevice Device) const {
  std::vector<Utilization> Known(256);
  unsigned Size = Known.size();
  int Status = Used(Device, Known.data(), &Size, microsecondsNow() - 1'000'000);
  if (Status != NvmlSuccess && Status != NvmlNotFound)
    return std::nullopt;
  std::vector<std::pair<unsigned, unsigned>> Percent;
  for (unsigned I = 0; Status == NvmlSuccess && I < Size; ++I)
    Percent.emplace_back(Known[I].Pid, Known[I].Sm);
  return Percent;
}

std::vector<NvmlUser> Nvml::users(NvmlDevice Device) const {
  auto Busy = busy(Device);
  std::vector<NvmlUser> Users;
  for (unsigned Pid : processes(Device)) {
    NvmlUser User{Pid};
    if (Busy) {
      User.BusyPercent = 0;
      for (auto [Other, Sm] : *Busy)
        if (Other == Pid && Sm <= 100)
          User.BusyPercent = std::max(*User.BusyPercent, Sm);
    }
    Users.push_back(User);
  }
  return Users;
}

std::optional<NvmlGpu> Nvml::describe(NvmlDevice Device) const {
  char Uuid[96] = {}, Name[96] = {};
  NvmlGpu Gpu;
  Memory Bytes = {};
  if (!Describes || UuidOf(Device, Uuid, sizeof(Uuid)) != NvmlSuccess ||
      NameOf(Device, Name, sizeof(Name)) != NvmlSuccess ||
      CapabilityOf(Device, &Gpu.Major, &Gpu.Minor) != NvmlSuccess ||
      MemoryOf(Device, &Bytes) != NvmlSuccess)
    return std::nullopt;
  // GPUs without MIG do not support this question.
  unsigned Current = 0, Pending = 0;
  Gpu.Mig = MigModeOf && MigModeOf(Device, &Current, &Pending) == NvmlSuccess && Current != 0;
  Gpu.Uuid = Uuid;
  Gpu.Name = Name;
  Gpu.MemoryBytes = Bytes.TotalBytes;
  return Gpu;
}
