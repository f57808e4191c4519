#include "Probe/Replay/HostGuard.h"

#include <algorithm>
#include <chrono>
#include <thread>

using namespace carve::probe;

/// One pass over the memory, through the bus, and how many a replay makes. A quarter of the time
/// for the launch may go into them.
static constexpr double PassNsPerByte = 0.05, Passes = 6, ShareOfBudget = 0.25;

/// How often memory that the host is writing is looked at until it is at rest.
static constexpr unsigned MostLooks = 10;

/// So many further runs have to change the memory before it is the kernel that does.
static constexpr unsigned ProvingRuns = 2;

/// Longer than the default is watched, and than most threads of a program sleep between two words
/// that they write.
void HostGuard::pause() const {
  double Ms = std::clamp(5 * Target.Shape.MeanNs / 1e6, 20.0, 100.0);
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(Ms));
}

/// Memory of the program's is not what it was, and cannot be made so: nothing of it may go on.
std::string HostGuard::broken(const std::string &Why) const {
  Dog.fail(Target.Kernel.Planned->Name, 0, "host memory not put back " + Why);
}

std::string HostGuard::tryDefault(std::vector<MemoryRange> Ranges) {
  double Bytes = 0;
  for (const MemoryRange &Range : Ranges)
    Bytes += double(Range.Bytes);
  if (Bytes * PassNsPerByte * Passes > Target.BudgetNs * ShareOfBudget)
    return "host-memory-size";
  if (std::string Why = Memory.guard(std::move(Ranges)); !Why.empty())
    return Why;
  std::vector<Span> Changed;
  pause();
  if (std::string Why = Memory.guardChanged(Changed); !Why.empty())
    return Why;
  if (!Changed.empty())
    return Busy;
  if (std::string Why = runDefault(Changed); !Why.empty())
    return Why;
  if (!Changed.empty())
    return attribute(std::move(Changed));
  Watching = true;
  return Memory.restoreAll();
}

std::string HostGuard::runDefault(std::vector<Span> &Changed) {
  if (Runs.run(0, /*Timed=*/false) != CUDA_SUCCESS)
    return "default-refused";
  return Memory.guardChanged(Changed);
}

/// Waits until nothing is written any more. \p Changed is what has changed by then, and is copied.
std::string HostGuard::atRest(std::vector<Span> &Changed) {
  for (unsigned Look = 0; Look < MostLooks; ++Look) {
    std::vector<Span> Now, Since;
    std::string Why = Memory.keepLater(Changed);
    if (!Why.empty())
      return Why;
    pause();
    Why = Memory.guardChanged(Now);
    if (Why.empty())
      Why = Memory.laterChanged(Since);
    if (!Why.empty() || (Since.empty() && Now == Changed))
      return Why;
    Changed = std::move(Now);
  }
  return Busy;
}

/// Nothing is put back before it is proved to be the kernel's: the host may have written it, and
/// may read it at any moment.
std::string HostGuard::attribute(std::vector<Span> Changed) {
  std::vector<Span> Now, Since;
  for (unsigned Run = 0; Run < ProvingRuns; ++Run) {
    std::string Why = atRest(Changed);
    if (Why.empty())
      Why = Memory.restoreAll();
    if (Why.empty())
      Why = runDefault(Now);
    if (Why.empty())
      Why = Memory.laterChanged(Since);
    if (!Why.empty())
      return Why;
    if (Since.empty())
      return Busy;
    Changed = Now;
  }
  std::string Why = Memory.guardPutBack(Changed);
  if (Why.empty())
    Why = Memory.guardChanged(Now);
  return !Why.empty() || !Now.empty() ? broken(Why) : "writes-host-memory";
}

std::string HostGuard::check() {
  std::vector<Span> Changed;
  if (!Watching)
    return "";
  std::string Why = Memory.guardChanged(Changed);
  return !Why.empty() ? Why : Changed.empty() ? "" : Busy;
}
