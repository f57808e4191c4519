/// \file
/// Finds out who else computes on the GPUs that a workload is timed on, because other users make
/// the times noisier. The driver's management library (NVML) tells it. If the library is absent or
/// does not answer, no users are found. TimedGpus looks before each run.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carve {

class Nvml;

/// The name of process \p Pid, or an empty text if it is not in our pid namespace.
std::string processName(unsigned Pid);

/// A process that does not belong to the workload.
struct GpuUser {
  unsigned Pid = 0;
  std::string Name; ///< Its command name; empty if it runs in another container.
  /// The share of time in which one of its kernels ran, in per cent: the largest that was seen.
  /// Absent if it is not known.
  std::optional<unsigned> BusyPercent;

  /// A sentence for the user, such as `another process uses this GPU: pid 123 python (38 % busy):
  /// times are noisier`.
  std::string text() const;
};

/// Looks for users when asked, and remembers all that it has seen. It must be asked while no
/// process of the workload runs: the driver's pids may belong to another pid namespace than ours,
/// so that a process of the workload could not be recognised.
class GpuUsers {
public:
  /// \p Library is the name of the management library. It is opened at the first look.
  explicit GpuUsers(std::string Library = "libnvidia-ml.so.1");
  ~GpuUsers();

  /// Looks at the GPUs with these UUIDs, or at all GPUs if \p Uuids is empty.
  void look(llvm::ArrayRef<std::string> Uuids);
  /// All users seen so far.
  const std::vector<GpuUser> &found() const { return Found; }

private:
  void note(unsigned Pid, std::optional<unsigned> BusyPercent);

  std::string Library;
  std::unique_ptr<Nvml> Api;
  bool Opened = false;
  std::vector<GpuUser> Found;
};

} // namespace carve
