/// \file
/// Replaces the driver's management library in tests. The variable STUB_NVML has words separated by
/// spaces: `<uuid>=<pid>` for a process on that GPU, `<pid>:<percent>` for how busy it is,
/// `no-utilization`, `no-init`, `no-names`, and `mig` if both GPUs are divided.

#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#define STUB_API extern "C" __attribute__((visibility("default")))

namespace {
struct Process {
  unsigned Pid;
  unsigned long long UsedBytes;
  unsigned GpuInstance, ComputeInstance;
};
struct Utilization {
  unsigned Pid;
  unsigned long long TimeStampUs;
  unsigned Sm, Memory, Encoder, Decoder;
};
struct Device {
  std::string Uuid;
};
Device Devices[] = {{"GPU-a"}, {"GPU-b"}};
enum { Success = 0, NotSupported = 3, NotFound = 6, InsufficientSize = 7, Unknown = 999 };

std::vector<std::string> words() {
  std::istringstream In(std::getenv("STUB_NVML") ? std::getenv("STUB_NVML") : "");
  std::vector<std::string> All;
  for (std::string Word; In >> Word;)
    All.push_back(Word);
  return All;
}

bool says(const char *Wanted) {
  for (const std::string &Word : words())
    if (Word == Wanted)
      return true;
  return false;
}
} // namespace

STUB_API int nvmlInit_v2() { return says("no-init") ? Unknown : Success; }
STUB_API int nvmlShutdown() { return Success; }

STUB_API int nvmlDeviceGetCount_v2(unsigned *Count) {
  *Count = 2;
  return Success;
}

STUB_API int nvmlDeviceGetHandleByIndex_v2(unsigned Index, Device **Found) {
  *Found = &Devices[Index];
  return Success;
}

STUB_API int nvmlDeviceGetHandleByUUID(const char *Uuid, Device **Found) {
  for (Device &D : Devices)
    if (D.Uuid == Uuid) {
      *Found = &D;
      return Success;
    }
  return NotFound;
}

STUB_API int nvmlDeviceGetUUID(Device *D, char *Text, unsigned Size) {
  std::strncpy(Text, D->Uuid.c_str(), Size);
  return Success;
}

STUB_API int nvmlDeviceGetName(Device *, char *Text, unsigned Size) {
  std::strncpy(Text, "NVIDIA H200", Size);
  return says("no-names") ? Unknown : Success;
}

STUB_API int nvmlDeviceGetCudaComputeCapability(Device *, int *Major, int *Minor) {
  *Major = 9;
  *Minor = 0;
  return Success;
}

STUB_API int nvmlDeviceGetMemoryInfo(Device *, unsigned long long *Bytes) {
  Bytes[0] = 150754820096;
  return Success;
}

STUB_API int nvmlDeviceGetMigMode(Device *, unsigned *Current, unsigned *Pending) {
  *Current = *Pending = says("mig");
  return Success;
}

STUB_API int nvmlDeviceGetComputeRunningProcesses_v3(Device *D, unsigned *Count, Process *Found) {
  std::vector<Process> All;
  for (const std::string &Word : words())
    if (Word.compare(0, D->Uuid.size() + 1, D->Uuid + "=") == 0)
      All.push_back({unsigned(std::stoul(Word.substr(D->Uuid.size() + 1))), 1, 0, 0});
  bool Fits = All.size() <= *Count;
  *Count = unsigned(All.size());
  if (!Fits)
    return InsufficientSize;
  for (size_t I = 0; I < All.size(); ++I)
    Found[I] = All[I];
  return Success;
}

STUB_API int nvmlDeviceGetProcessUtilization(Device *, Utilization *Found, unsigned *Count,
                                             unsigned long long) {
  if (says("no-utilization"))
    return NotSupported;
  unsigned Filled = 0;
  for (const std::string &Word : words())
    if (size_t Colon = Word.find(':'); Colon != Word.npos && Filled < *Count)
      Found[Filled++] = {
          unsigned(std::stoul(Word)), 1, unsigned(std::stoul(Word.substr(Colon + 1))), 0, 0, 0};
  *Count = Filled;
  return Filled ? Success : NotFound;
}
