/// \file
/// Replays one launch before the program makes it. It saves the memory, learns the output of the
/// default, compares every variant's output with it, times the variants in interleaved rounds, and
/// puts the memory back.
#pragma once

#include "Probe/Process/Failure.h"
#include "Probe/Replay/HostGuard.h"
#include "Probe/Replay/ReplayCaches.h"
#include "Probe/Replay/ReplaySchedule.h"
#include "Probe/Replay/Verification.h"
#include "Protocol/RecordWriter.h"

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

class Replay {
public:
  struct Result {
    /// Why this launch was not replayed, or not to the end. It is a failure for now if a later
    /// launch may be replayed.
    Failure StoodBack = Failure::none();
    /// The variants that were refused or whose output is not the default's.
    std::set<size_t> Rejected = {};
    /// The variants whose output was compared, and is the default's.
    std::set<size_t> Sound = {};
    /// The variants that this launch left no time to verify. They are not timed either.
    std::set<size_t> Skipped = {};
    /// What runs that were timed cold have found in L2, if a later replay of the shape has to do
    /// the same. If the launch was put off or could not be timed, it may choose itself.
    std::optional<FoundInL2> ColdL2 = {};
  };

  Replay(const DriverApi &Driver, Watchdog &Dog, ReplayContext &Context,
         const ReplayTarget &Target);

  /// The program's memory by what a replay does with it.
  struct Ranges {
    std::vector<MemoryRange> Saved;
    /// Those of Saved, by index, that the program has allocated and to which an argument of the
    /// launch leads, or may lead. It is empty if the launch is not timed cold and warm.
    std::vector<size_t> ArgumentMemory;
    std::vector<MemoryRange> Pointed; ///< Memory to which no address may lead.
    std::vector<MemoryRange> Guarded; ///< Memory that the host may write; see HostGuard.
  };

  /// Replays the launch. The gate must be closed and the context idle. When it returns, the memory
  /// has its former content; if that is impossible, the process ends. The records of the protocol
  /// are noted in the watchdog.
  Result run(Ranges Of);

private:
  Failure runSaved(Ranges &Of, Result &Out);
  Failure verifyAll(Result &Out);
  bool isUnlike() const;
  double coldRunNs() const;
  double turnNs() const;
  double roundsNs(size_t Variants) const;
  bool mayBeTimed(size_t Variant, Verdict Output) const;
  bool comparisonsChoose() const;
  void takeComparedTime(size_t Variant);
  bool mayVerifyOneMore(size_t Timed) const;
  Failure chooseByComparisons(ReplaySchedule &Schedule);
  Failure timeRounds(const Result &Out);
  Failure prepareRun(FoundInL2 InL2);
  Failure timeRound(const std::vector<size_t> &Order);
  Failure timeWarm(size_t Variant);
  Failure takeTimes(const ReplaySchedule &Schedule, const std::vector<size_t> &Order,
                    std::vector<ReplaySchedule::Times> &Times);
  std::vector<ReplaySchedule::Times> notedTimes(const ReplaySchedule &Schedule,
                                                const std::vector<size_t> &Order,
                                                const std::vector<double> &Ns);
  Failure measureSteps();
  Failure measureRepeat();
  Failure measureCaches();
  Failure measureLongCaches();
  Failure measureShortCaches();
  Failure timeDefault(DefaultTimes &Times);
  Failure timeDefaultWith(FoundInL2 InL2, DefaultTimes &Times);
  Failure chooseFill(const DefaultTimes &Flushed);
  Failure chooseArgumentMemory(const DefaultTimes &Flushed);
  bool mayWriteArgumentMemory() const;
  Failure writeArgumentMemory();
  Failure measureWriting();
  /// Whether the kernel does the same work again when it runs on what it has left.
  bool repeats() const { return Repeats && Verified.idempotent(); }
  bool restoresBetween() const;
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
  /// Whether the kernel took as long again when it ran on what it had left.
  bool Repeats = false;
  FoundInL2 ColdL2 = FoundInL2::Nothing; ///< What all runs that are timed cold find in L2.
  std::vector<Span> ArgumentMemory;      ///< What the launch's arguments lead to.
  /// Whether its runs can find what the runs of an earlier replay found.
  bool FindsTheSame = true;
  uint64_t SaveNs = 0, CompareNs = 0, RestoreNs = 0, RunNs = 0;
  uint64_t WriteNs = 0; ///< The time of writeArgumentMemory(), if that comes before cold runs.
  std::map<size_t, double> ComparedNs; ///< By variant: the time of the run that was compared.
};

} // namespace carve::probe
