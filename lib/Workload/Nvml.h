/// \file
/// The driver's management library (NVML): which GPUs the machine has, and who computes on them. It
/// is opened when it is needed, because a machine may lack it. GpuUsers and ChosenGpus ask it.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace carve {

using NvmlDevice = struct NvmlDeviceHandle *;

/// What a GPU is.
struct NvmlGpu {
  std::string Uuid, Name;
  int Major = 0, Minor = 0; ///< Of its compute capability.
  uint64_t MemoryBytes = 0;
  bool Mig = false; ///< Whether it is divided into instances (MIG).
};

/// A process on a GPU.
struct NvmlUser {
  unsigned Pid = 0;
  /// The share of the last second in which one of its kernels ran, in per cent; absent if the
  /// driver does not tell it.
  std::optional<unsigned> BusyPercent = {};
};

/// The library's functions. They may be called only if it is usable().
class Nvml {
public:
  /// Opens and initialises the library with the name \p Library.
  explicit Nvml(const std::string &Library);
  Nvml(const Nvml &) = delete;
  ~Nvml();

  /// Whether the library and its functions were found and initialising it succeeded.
  bool usable() const { return Initialised; }
  /// The GPUs with these UUIDs, or all GPUs in the order of the bus if \p Uuids is empty.
  std::vector<NvmlDevice> devices(llvm::ArrayRef<std::string> Uuids) const;
  /// The processes that have \p Device open to compute.
  std::vector<NvmlUser> users(NvmlDevice Device) const;
  /// What \p Device is; nothing if the library does not tell all of it.
  std::optional<NvmlGpu> describe(NvmlDevice Device) const;

private:
  struct Process;
  struct Utilization;
  struct Memory;
  template <typename F> bool find(F *&Function, const char *Name);
  std::vector<unsigned> processes(NvmlDevice Device) const;
  std::optional<std::vector<std::pair<unsigned, unsigned>>> busy(NvmlDevice Device) const;

  void *Handle;
  bool Initialised = false, Describes = false;
  int (*Init)() = nullptr;
  int (*Shutdown)() = nullptr;
  int (*Count)(unsigned *) = nullptr;
  int (*ByIndex)(unsigned, NvmlDevice *) = nullptr;
  int (*ByUuid)(const char *, NvmlDevice *) = nullptr;
  int (*Processes)(NvmlDevice, unsigned *, Process *) = nullptr;
  int (*Used)(NvmlDevice, Utilization *, unsigned *, unsigned long long) = nullptr;
  int (*UuidOf)(NvmlDevice, char *, unsigned) = nullptr;
  int (*NameOf)(NvmlDevice, char *, unsigned) = nullptr;
  int (*CapabilityOf)(NvmlDevice, int *, int *) = nullptr;
  int (*MemoryOf)(NvmlDevice, Memory *) = nullptr;
  int (*MigModeOf)(NvmlDevice, unsigned *, unsigned *) = nullptr;
};

} // namespace carve
