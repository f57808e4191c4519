#include "Probe/Replay/HostGuard.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace carve;
using namespace carve::probe;

/// A replay passes over the memory five times: it copies it, and compares it once before and three
/// times after runs. These may take this share of the launch's time.
static constexpr double Passes = 5, ShareOfBudget = 0.5;

/// The time for a byte that is assumed for short passes, and for managed memory, whose pages may
/// come from the host first. A pass over other memory that would take longer than ShortPassNs is
/// timed on a part of it.
static constexpr double AssumedNsPerByte = 0.05, ShortPassNs = 1e6, TimedPartBytes = 8 << 20;

/// How often memory that the host is writing is examined until it is at rest.
static constexpr unsigned MostLooks = 10;

/// The number of further runs that must change the memory before the change is attributed to the
/// kernel.
static constexpr unsigned ProvingRuns = 2;

/// Pauses for longer than the default is watched, and for longer than most threads of a program
/// sleep between two writes.
void HostGuard::pause() const {
  double Ms = std::clamp(5 * double(Target.Shape.MeanNs) / 1e6, 20.0, 100.0);
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(Ms));
}

/// Memory of the program has changed and cannot be put back, so nothing of the program may go on.
void HostGuard::broken(const Failure &Why) const {
  Dog.fail(Target.Kernel.Planned->Name, DefaultVariant, "host memory not put back " + Why.reason());
}

/// Returns the failure for memory that the host is writing now.
static Failure busy() { return Failure::forNow("host-busy"); }

/// Sets \p Ns to the time that one pass over \p Ranges takes. A bus takes 0.02 to 0.08 ns for a
/// byte.
Failure HostGuard::passNs(const std::vector<MemoryRange> &Ranges, double &Ns) {
  double Bytes = 0, ManagedBytes = 0;
  std::vector<MemoryRange> Part;
  for (const MemoryRange &Range : Ranges) {
    if (Range.Kind == MemoryKind::Managed) {
      ManagedBytes += double(Range.Bytes);
      continue;
    }
    Bytes += double(Range.Bytes);
    Part.push_back(Range);
  }
  const double ManagedNs = ManagedBytes * AssumedNsPerByte;
  Ns = ManagedNs + Bytes * AssumedNsPerByte;
  if (Bytes * AssumedNsPerByte <= ShortPassNs)
    return Failure::none();
  const double Share = std::min(1.0, TimedPartBytes / Bytes);
  for (MemoryRange &Range : Part)
    Range.Bytes = std::max<size_t>(size_t(double(Range.Bytes) * Share), 1);
  // To copy the part also takes memory for the copy; to compare it takes a pass and nothing else.
  if (Failure Why = Memory.guard(std::move(Part)))
    return Why;
  std::vector<Span> Changed;
  const auto Begin = std::chrono::steady_clock::now();
  if (Failure Why = Memory.guardChanged(Changed))
    return Why;
  const std::chrono::duration<double, std::nano> Passed = std::chrono::steady_clock::now() - Begin;
  Ns = ManagedNs + Passed.count() / Share;
  return Failure::none();
}

Failure HostGuard::tryDefault(std::vector<MemoryRange> Ranges) {
  double PassNs = 0;
  if (Failure Why = passNs(Ranges, PassNs))
    return Why;
  if (PassNs * Passes > Target.BudgetNs * ShareOfBudget)
    return Failure("host-memory-size");
  if (Failure Why = Memory.guard(std::move(Ranges)))
    return Why;
  std::vector<Span> Changed;
  pause();
  if (Failure Why = Memory.guardChanged(Changed))
    return Why;
  if (!Changed.empty())
    return busy();
  if (Failure Why = runDefault(Changed))
    return Why;
  if (!Changed.empty())
    return attribute(std::move(Changed));
  Watching = true;
  return Memory.restoreAll();
}

Failure HostGuard::runDefault(std::vector<Span> &Changed) {
  if (Runs.run(0, /*Timed=*/false) != CUDA_SUCCESS)
    return Failure("default-refused");
  return Memory.guardChanged(Changed);
}

/// Waits until nothing is written any more. \p Changed gets what has changed by then, which is
/// copied.
Failure HostGuard::atRest(std::vector<Span> &Changed) {
  for (unsigned Look = 0; Look < MostLooks; ++Look) {
    std::vector<Span> Now, Since;
    Failure Why = Memory.keepLater(Changed);
    if (Why)
      return Why;
    pause();
    Why = Memory.guardChanged(Now);
    if (!Why)
      Why = Memory.laterChanged(Since);
    if (Why || (Since.empty() && Now == Changed))
      return Why;
    Changed = std::move(Now);
  }
  return busy();
}

/// Nothing is put back before it is proved that the kernel wrote it: the host may have written it,
/// and may read it at any moment.
Failure HostGuard::attribute(std::vector<Span> Changed) {
  std::vector<Span> Now, Since;
  for (unsigned Run = 0; Run < ProvingRuns; ++Run) {
    Failure Why = atRest(Changed);
    if (!Why)
      Why = Memory.restoreAll();
    if (!Why)
      Why = runDefault(Now);
    if (!Why)
      Why = Memory.laterChanged(Since);
    if (Why)
      return Why;
    if (Since.empty())
      return busy();
    Changed = Now;
  }
  Failure Why = Memory.guardPutBack(Changed);
  if (!Why)
    Why = Memory.guardChanged(Now);
  if (Why || !Now.empty())
    broken(Why);
  return Failure("writes-host-memory");
}

Failure HostGuard::check() {
  std::vector<Span> Changed;
  if (!Watching)
    return Failure::none();
  if (Failure Why = Memory.guardChanged(Changed))
    return Why;
  return Changed.empty() ? Failure::none() : busy();
}
