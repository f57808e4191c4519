/// \file
/// Replays one launch before the program makes it: memory saved, the default's output learnt, every
/// variant compared with it and timed in interleaved rounds, memory put back.
#pragma once

#include "Probe/Process/Failure.h"
#include "Probe/Replay/HostGuard.h"
#include "Probe/Replay/ReplaySchedule.h"
#include "Probe/Replay/Verification.h"
#include "Protocol/RecordWriter.h"

#include <chrono>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

class Replay {
public:
  struct Result {
    /// Why this launch was not replayed, or not to its end; for now, where a later one may be.
    Failure StoodBack = Failure::none();
    std::set<size_t> Rejected; ///< Variants whose output is not the default's, or refused.
  };

  Replay(const DriverApi &Driver, Watchdog &Dog, ReplayContext &Context,
         const ReplayTarget &Target);

  /// The memory of the program, as a replay sees it.
  struct Ranges {
    std::vector<MemoryRange> Saved;
    std::vector<MemoryRange> Pointed; ///< No address may lead there.
    std::vector<MemoryRange> Guarded; ///< That the host may write: see HostGuard.
  };

  /// The gate is closed and the context idle. Memory is as it was when this returns; where that
  /// fails the process ends. The records of the protocol are noted in Dog.
  Result run(Ranges Of);

private:
  Failure runSaved(Ranges &Of, Result &Out);
  Failure verifyAll(Result &Out);
  bool mayBeTimed(size_t Variant, Verdict Output) const;
  Failure timeRounds(const Result &Out);
  Failure timeRound(const std::vector<size_t> &Order);
  Failure takeTimes(const ReplaySchedule &Schedule, const std::vector<size_t> &Order,
                    std::vector<ReplaySchedule::Times> &Times);
  void measureRestore();
  void putBack();
  double leftNs() const;
  size_t hostLimit() const;
  template <class T> void note(const T &Record) { Dog.note(recordLine(Record)); }
  LaunchPlace place() const;
  const std::string &nameOf(size_t Variant) const;

  const DriverApi &Driver;
  Watchdog &Dog;
  ReplayContext &Context;
  const ReplayTarget &Target;
  Snapshot &Memory;
  ReplayRuns Runs;
  Verification Verified;
  HostGuard Host;
  std::chrono::steady_clock::time_point Begin;
  uint64_t SaveNs = 0, CompareNs = 0, RestoreNs = 0;
};

} // namespace carve::probe
