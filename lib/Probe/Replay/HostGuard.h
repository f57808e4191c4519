/// \file
/// Memory of the host that kernels can reach, and managed memory, during a replay. The program may
/// write it at any time, so it cannot simply be put back; and a kernel that writes it cannot be
/// replayed, whether or not its arguments say that it does. So the default runs once while all of
/// it is watched, before anything else is run.
///
/// What has changed then may be the program's work or the kernel's. It is the kernel's where
/// further runs change it again, while it rests between them: then it is put back. Else it stays,
/// as the program may have written it. A kernel that writes the same once more is taken for the
/// program so, and does no harm: the launch itself writes that next.
#pragma once

#include "Probe/Process/Failure.h"
#include "Probe/Replay/ReplayRuns.h"

#include <string>
#include <vector>

namespace carve::probe {

/// A failure is why the launch cannot be replayed; it is for now, where the host writes this
/// memory. Memory that is saved is as it was saved when a function returns, and what the host has
/// written stays, always: where that is impossible the process ends.
class HostGuard {
public:
  HostGuard(Watchdog &Dog, ReplayRuns &Runs, Snapshot &Memory, const ReplayTarget &Target)
      : Dog(Dog), Runs(Runs), Memory(Memory), Target(Target) {}

  /// Copies \p Ranges and runs the default on the memory that is saved; it must not write there.
  Failure tryDefault(std::vector<MemoryRange> Ranges);

  /// After more runs: whether \p Ranges are still what they were. What has changed stays, as the
  /// default does not write there.
  Failure check();

private:
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
