/// \file
/// Guards host memory that kernels can reach, and managed memory, during a replay. The program may
/// write this memory at any time, so it cannot simply be put back. A kernel that writes it cannot
/// be replayed, whether or not its arguments show that it does. Therefore the default runs once
/// while all of this memory is watched, before anything else runs.
///
/// A change that is seen then may come from the program or from the kernel. It comes from the
/// kernel if further runs change the memory again while it is at rest between them; then it is put
/// back. Otherwise it stays, because the program may have written it. A kernel that writes the same
/// values again is thus mistaken for the program. That does no harm, because the launch itself
/// writes these values next.
#pragma once

#include "Probe/Process/Failure.h"
#include "Probe/Replay/ReplayRuns.h"

#include <string>
#include <vector>

namespace carve::probe {

/// The guard of one replay. A failure says why the launch cannot be replayed; it is a failure for
/// now if the host is writing this memory. When a function returns, saved memory has its saved
/// content, and what the host has written always stays. If that is impossible, the process ends.
class HostGuard {
public:
  HostGuard(Watchdog &Dog, ReplayRuns &Runs, Snapshot &Memory, const ReplayTarget &Target)
      : Dog(Dog), Runs(Runs), Memory(Memory), Target(Target) {}

  /// Copies \p Ranges and runs the default on the memory that is saved. Fails if the default writes
  /// to \p Ranges.
  Failure tryDefault(std::vector<MemoryRange> Ranges);

  /// Called after more runs. Fails if \p Ranges have changed. Changes stay, because the default
  /// does not write there.
  Failure check();

private:
  Failure passNs(const std::vector<MemoryRange> &Ranges, double &Ns);
  Failure runDefault(std::vector<Span> &Changed);
  Failure attribute(std::vector<Span> Changed);
  Failure atRest(std::vector<Span> &Changed);
  void pause() const;
  [[noreturn]] void broken(const Failure &Why) const;

  Watchdog &Dog;
  ReplayRuns &Runs;
  Snapshot &Memory;
  const ReplayTarget &Target;
  bool Watching = false;
};

} // namespace carve::probe
