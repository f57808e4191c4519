/// \file
/// Who else computes on the GPUs that a workload is timed on, as the driver's management library
/// tells. Where that is absent or does not answer, nobody.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// A process that is none of the workload's.
struct GpuUser {
  unsigned Pid = 0;
  std::string Name; ///< Empty where it is another container's.
  /// Part of the GPU's time in which a kernel of it ran, the largest seen; absent: not known.
  std::optional<unsigned> BusyPercent;

  /// `another process uses this GPU: pid 123 python (38 % busy): times are noisier`
  std::string text() const;
};

/// Looks from time to time, and remembers all it has seen. To be asked while no process of the
/// workload runs: the driver's numbers may be of another pid namespace than ours.
class GpuUsers {
public:
  /// \p Library: the management library, opened at the first look.
  explicit GpuUsers(std::string Library = "libnvidia-ml.so.1");
  ~GpuUsers();

  /// Looks at the GPUs with these UUIDs; at all where \p Uuids is empty.
  void look(llvm::ArrayRef<std::string> Uuids);
  const std::vector<GpuUser> &found() const { return Found; }

private:
  class Nvml;
  void note(unsigned Pid, std::optional<unsigned> BusyPercent);

  std::string Library;
  std::unique_ptr<Nvml> Api;
  bool Opened = false;
  std::vector<GpuUser> Found;
};

} // namespace carve
