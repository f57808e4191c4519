/// \file
/// Locks the GPUs that a tuning times on, so that each runs one workload at a time, even if several
/// tunings run on the machine. It also remembers other users that disturb the times. runWorkload()
/// holds the locks during each run.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Support/ProgressDisplay.h"
#include "Workload/GpuUsers.h"
#include "Workload/VisibleGpus.h"

#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The places where GPUs are found and locked.
struct GpuPlaces {
  std::string ProcDir = "/proc/driver/nvidia/gpus", DevDir = "/dev";
  std::string LockDir = "/tmp"; ///< One for all users, because they share the GPUs.
  std::string Nvml = "libnvidia-ml.so.1";
  std::optional<std::string> Visible, Order; ///< CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER.
};

/// The places of this machine, with CUDA's variables from \p Env.
GpuPlaces gpuPlaces(GetEnv Env);

/// The GPUs of one tuning.
class TimedGpus {
public:
  /// Starts with all GPUs that \p Places show, because a program that has not run yet may use any
  /// of them. \p Who is the command that is timed; it tells others who holds a lock. \p Progress
  /// is told for whom a run waits, and must live as long as this object.
  TimedGpus(GpuPlaces Places, std::string Who, ProgressDisplay &Progress);

  /// Uses from now on only the GPUs with these UUIDs, which a trace has seen. If the system does
  /// not list one of them (it is a part of a GPU), nothing changes.
  void use(llvm::ArrayRef<std::string> Uuids);

  /// Holds a lock on each GPU until it is destroyed. The system releases the locks however we end.
  class Turn {
  public:
    Turn() = default;
    Turn(Turn &&Other) noexcept : Fds(std::exchange(Other.Fds, {})) {}
    ~Turn();

  private:
    friend class TimedGpus;
    std::vector<int> Fds;
  };

  /// Waits for the GPUs and locks them, in the same order in every process so that two processes do
  /// not wait for each other. Then looks for other users. A GPU for which no lock file can be made
  /// is not locked.
  Turn take();

  /// The names under which the GPUs are locked, sorted: the UUIDs, or the place on the bus if the
  /// driver does not tell the UUID, or `any` if the driver lists no GPU.
  const std::vector<std::string> &locked() const { return Locked; }
  /// Other users of the GPUs that were seen so far.
  const std::vector<GpuUser> &otherUsers() const { return Users.found(); }

private:
  void lockAll(const std::vector<SystemGpu> &Gpus);
  int lock(const std::string &Name) const;

  GpuPlaces Places;
  std::string Who;
  ProgressDisplay &Progress;
  std::vector<std::string> Locked, Uuids;
  std::mutex Looking; ///< Several threads may take turns.
  GpuUsers Users;
};

} // namespace carve
