/// \file
/// The GPUs that a tuning times on: each takes one run at a time, whoever else tunes on this
/// machine, and who disturbs the times is remembered.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Workload/GpuUsers.h"
#include "Workload/VisibleGpus.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Where GPUs are found and locked.
struct GpuPlaces {
  std::string ProcDir = "/proc/driver/nvidia/gpus", DevDir = "/dev";
  std::string LockDir = "/tmp"; ///< For all users, who share the GPUs.
  std::string Nvml = "libnvidia-ml.so.1";
  std::optional<std::string> Visible, Order; ///< CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER.
};

/// The places of this machine, with CUDA's variables from \p Env.
GpuPlaces gpuPlaces(GetEnv Env);

class TimedGpus {
public:
  /// Told, in words for a person, for whom a run waits; with nothing when the wait is over.
  using WaitingFunction = std::function<void(llvm::StringRef)>;

  /// At first all GPUs that \p Places show: a program that has not run may use any of them.
  /// \p Who tells others who holds a lock: the command that is timed.
  TimedGpus(GpuPlaces Places, std::string Who, WaitingFunction Waiting);

  /// From now on those with these UUIDs, which a trace has seen. One that the system does not
  /// list (a part of a GPU) leaves all.
  void use(llvm::ArrayRef<std::string> Uuids);

  /// A lock on each GPU, until it goes. The system lets go of them however we end.
  class Turn {
  public:
    Turn() = default;
    Turn(Turn &&Other) noexcept : Fds(std::exchange(Other.Fds, {})) {}
    ~Turn();

  private:
    friend class TimedGpus;
    std::vector<int> Fds;
  };

  /// Waits for the GPUs, in the same order in every process, and looks who else is there. A GPU
  /// for which no lock file can be made is not locked.
  Turn take();

  /// The names under which they are locked, sorted: UUIDs; the place on the bus where the driver
  /// does not tell the UUID; `any` where it lists no GPU.
  const std::vector<std::string> &locked() const { return Locked; }
  const std::vector<GpuUser> &otherUsers() const { return Users.found(); }

private:
  void lockAll(const std::vector<SystemGpu> &Gpus);
  int lock(const std::string &Name) const;

  GpuPlaces Places;
  std::string Who;
  WaitingFunction Waiting;
  std::vector<std::string> Locked, Uuids;
  GpuUsers Users;
};

} // namespace carve
