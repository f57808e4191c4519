#include "Probe/Replay/Replay.h"

#include "Probe/Replay/ReplayHazards.h"

#include <algorithm>
#include <functional>

using namespace carve;
using namespace carve::probe;

using Clock = std::chrono::steady_clock;

/// The time limit for the copies of a save that did not fit after all.
static constexpr uint64_t SaveWaitMs = 10'000;

static uint64_t passedNs(Clock::time_point Since) {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - Since).count());
}

Replay::Replay(const DriverApi &Driver, Watchdog &Dog, ReplayContext &Context,
               const ReplayTarget &Target)
    : Driver(Driver), Dog(Dog), Context(Context), Target(Target), Memory(*Context.Memory),
      Runs(Driver, Dog, Context, Target), Verified(Runs, Memory, Target.Kernel.Planned->Measured,
                                                   /*MayDoubt=*/!Target.Shape.isLong()),
      Host(Dog, Runs, Memory, Target), Begin(Clock::now()) {}

LaunchPlace Replay::place() const {
  return {Target.Kernel.Planned->Name, Target.Shape.Shape, Target.Index};
}

const std::string &Replay::nameOf(size_t Variant) const {
  return Target.Kernel.Planned->Variants[Variant].Name;
}

double Replay::leftNs() const { return Target.BudgetNs - double(passedNs(Begin)); }

namespace {
/// Puts back what was saved, however the replay is left.
class OnLeaving {
public:
  explicit OnLeaving(std::function<void()> Action) : Action(std::move(Action)) {}
  OnLeaving(const OnLeaving &) = delete;
  OnLeaving &operator=(const OnLeaving &) = delete;
  ~OnLeaving() { Action(); }

private:
  std::function<void()> Action;
};
} // namespace

/// Returns how many bytes may be kept on the host. Copying them takes at most half of the time for
/// this launch: they are copied to the host once, and compared for the default and for every
/// variant. On the host of an H200, 0.7 and 0.13 ns per byte were measured.
size_t Replay::hostLimit() const {
  constexpr double CopyNs = 0.7, CompareNs = 0.13;
  double Compares = 8 + double(Target.Variants.size());
  return size_t(std::min(Target.BudgetNs / 2 / (CopyNs + CompareNs * Compares), 1e15));
}

Replay::Result Replay::run(Ranges Of) {
  Result Out;
  Memory.limitHost(hostLimit());
  for (size_t I : Of.ArgumentMemory)
    ArgumentMemory.push_back({I, 0, Of.Saved[I].Bytes});
  auto SaveBegin = Clock::now();
  Out.StoodBack = Memory.save(std::move(Of.Saved), Context.Stream);
  SaveNs = passedNs(SaveBegin);
  if (Out.StoodBack) {
    // No work of the probe may be in progress when the program goes on. If reading the memory has
    // broken the context, the program cannot go on.
    Dog.wait(Context.Stream, SaveWaitMs, Target.Kernel.Planned->Name, DefaultVariant);
    Memory.done();
    return Out;
  }
  {
    OnLeaving PutBack([this] { putBack(); });
    Out.StoodBack = runSaved(Of, Out);
  }
  return Out;
}

/// Changes by a kernel of the probe must not stay. If they cannot be put back, the program must not
/// go on.
void Replay::putBack() {
  std::vector<Span> Left;
  Failure Why = Memory.restoreAll();
  if (!Why)
    Why = Memory.changed(Left);
  if (Why || !Left.empty())
    Dog.fail(Target.Kernel.Planned->Name, DefaultVariant, "memory not put back " + Why.reason());
  Memory.done();
}

Failure Replay::runSaved(Ranges &Of, Result &Out) {
  std::optional<AddressInMemory> Found;
  if (!Of.Pointed.empty())
    if (Failure Why = Memory.pointsInto(Of.Pointed, Found))
      return Why;
  if (Found)
    return pointsToHost(*Found, Of.Pointed);
  if (!Of.Guarded.empty())
    if (Failure Why = Host.tryDefault(std::move(Of.Guarded)))
      return Why;
  if (Failure Why = Verified.learnDefault())
    return Why;
  Failure Why = measureSteps();
  if (!Why)
    Why = Host.check();
  if (!Why && Target.MayWait && isUnlike())
    return Failure::forNow("longer than other launches");
  if (!Why)
    Why = measureCaches();
  if (!Why)
    Why = verifyAll(Out);
  if (!Why)
    Why = Host.check();
  if (!Why && Target.Timed && FindsTheSame)
    Why = timeRounds(Out);
  if (!Why && Target.Timed && Target.Shape.hasWarmTimes())
    Out.ColdL2 = ColdL2;
  uint64_t DirtyBytes = 0;
  for (const Span &S : Verified.dirty())
    DirtyBytes += S.Bytes;
  note(ReplayedLaunch{place(), Verified.deterministic(), Verified.idempotent(), Memory.savedBytes(),
                      DirtyBytes, Verified.dirty().size(), SaveNs, CompareNs, RestoreNs,
                      passedNs(Begin)});
  return Why;
}

/// Measures the time of one comparison of all memory, of putting back once what the kernel writes,
/// and of one run of the default.
Failure Replay::measureSteps() {
  // The host may have had something else to do, so what seems long is measured again.
  constexpr unsigned MostRuns = 3;
  std::vector<Span> Spans;
  auto Step = Clock::now();
  if (Failure Why = Memory.changed(Spans))
    return Why;
  CompareNs = passedNs(Step);
  RestoreNs = RunNs = UINT64_MAX;
  for (unsigned Run = 0; Run == 0 || (Run < MostRuns && isUnlike()); ++Run) {
    Step = Clock::now();
    if (Failure Why = Memory.restore(Verified.dirty()))
      return Why;
    Dog.wait(Context.Stream, Target.HangMs, Target.Kernel.Planned->Name, DefaultVariant);
    RestoreNs = std::min(RestoreNs, passedNs(Step));
    Step = Clock::now();
    if (Runs.run(DefaultPlace, comparisonsChoose()) != CUDA_SUCCESS)
      return Failure("default-refused");
    RunNs = std::min(RunNs, passedNs(Step));
  }
  takeComparedTime(DefaultPlace);
  return measureRepeat();
}

/// Measures the time of preparing one run that finds the arguments' memory written.
Failure Replay::measureWriting() {
  auto Step = Clock::now();
  Failure Why = writeArgumentMemory();
  WriteNs = passedNs(Step);
  return Why;
}

/// Whether the runs that compare outputs are timed, and are the first round.
bool Replay::comparisonsChoose() const {
  return Target.Timed && Target.Shape.isChosenByComparisons();
}

/// Takes the time of the run of \p Variant that was compared with the default's, if it was timed.
void Replay::takeComparedTime(size_t Variant) {
  if (!comparisonsChoose())
    return;
  std::vector<double> Ns = Context.Clock->collect();
  if (!Ns.empty())
    ComparedNs[Variant] = Ns.back();
}

/// Whether this launch takes so much longer than the mean that it says little about the others: the
/// first launch of a program may do the work of many.
bool Replay::isUnlike() const {
  constexpr double MostMeans = 4, OverheadNs = 1e6;
  return double(RunNs) > MostMeans * double(Target.Shape.MeanNs) + OverheadNs;
}

/// Whether memory is put back between the runs of a round: the next variant must not start from
/// what a measured variant leaves, nor from what a kernel leaves that works in place or has then
/// less to do.
bool Replay::restoresBetween() const {
  return !repeats() || !Target.Kernel.Planned->Measured.empty();
}

/// The time in ns of one run in a round, with what is put back before it.
double Replay::coldRunNs() const {
  if (ColdL2 == FoundInL2::ArgumentMemory)
    return double(RunNs) + double(WriteNs);
  return double(RunNs) + (restoresBetween() ? double(RestoreNs) : 0);
}

/// The time in ns that one variant takes in a round, as long as each step takes what it took when
/// it was measured. A warm time may need two restores and a run of the default before its own run.
double Replay::turnNs() const {
  double Ns = coldRunNs();
  if (Target.Shape.hasWarmTimes())
    Ns += repeats() ? double(RunNs) : 2 * double(RunNs) + 2 * double(RestoreNs);
  return Ns;
}

/// The time in ns of the fewest rounds that tell something about \p Variants, of which the default
/// and the control are two.
double Replay::roundsNs(size_t Variants) const {
  return Target.Timed ? turnNs() * double(Target.Shape.leastRuns(Variants)) : 0;
}

/// A measured variant computes something else, and is timed all the same.
bool Replay::mayBeTimed(size_t Variant, Verdict Output) const {
  return isSound(Output) ||
         (Output == Verdict::Differs && Target.Kernel.Planned->Measured.count(Variant) > 0);
}

/// Whether there is time to verify one more variant, and to time it together with the \p Timed that
/// will be timed anyway. Verifying takes at most half of the time for this launch, unless its times
/// also choose the best. The most promising variants are verified even if that takes longer than
/// was planned, because without them the replay would tell nothing.
bool Replay::mayVerifyOneMore(size_t Timed) const {
  constexpr size_t AtLeast = 3;
  double NeededNs = roundsNs(Timed + 1);
  if (!comparisonsChoose())
    NeededNs = std::max(NeededNs, Target.BudgetNs / 2);
  return leftNs() + (Timed < FirstPlace + AtLeast ? Target.BudgetNs : 0) >= NeededNs;
}

/// Verifies the variants in the order of their numbers, the more promising first. Those for which
/// there is no time are skipped, so that some can be timed.
Failure Replay::verifyAll(Result &Out) {
  size_t Timed = 1; // The default is not in the list.
  for (size_t V : Target.Variants) {
    if (V >= FirstPlace && !mayVerifyOneMore(Timed)) {
      Out.Skipped.insert(V);
      continue;
    }
    if (leftNs() + Target.BudgetNs < 0)
      return Failure("budget");
    Judgement Found;
    if (Failure Why = Verified.verify(V, Driver, comparisonsChoose(), Found))
      return Why;
    takeComparedTime(V);
    note(VerifiedVariant{place(), nameOf(V), Found.Output, Found.Detail});
    if (isSound(Found.Output))
      Out.Sound.insert(V);
    if (mayBeTimed(V, Found.Output))
      ++Timed;
    else
      Out.Rejected.insert(V);
  }
  return Failure::none();
}

Failure Replay::timeRounds(const Result &Out) {
  std::vector<size_t> Allowed;
  bool Control = false;
  for (size_t V : Target.Variants)
    if (!Out.Rejected.count(V) && !Out.Skipped.count(V)) {
      Allowed.push_back(V);
      Control |= V == 1;
    }
  // Without its identical copy, noise cannot be told from a gain.
  if (!Control)
    return Failure("control-rejected");
  // The records of the runs before this point belong to no round.
  (void)Context.Clock->collect();
  ReplaySchedule Schedule(Allowed, Target.Seed, Target.Kernel.Planned->Measured,
                          Target.Shape.leastRounds());
  // Without a variant that may be timed, there is nothing to find out.
  if (Schedule.phase() == ReplaySchedule::Phase::Done)
    return Out.Skipped.empty() ? Failure::none() : Failure("budget");
  if (comparisonsChoose())
    if (Failure Why = chooseByComparisons(Schedule))
      return Why;
  while (Schedule.phase() != ReplaySchedule::Phase::Done) {
    auto RoundBegin = Clock::now();
    std::vector<size_t> Order = Schedule.order();
    std::vector<ReplaySchedule::Times> Times;
    Failure Why = timeRound(Order);
    if (!Why)
      Why = takeTimes(Schedule, Order, Times);
    if (Why)
      return Why;
    Schedule.finish(Times, double(passedNs(RoundBegin)), leftNs(), Target.BudgetNs);
  }
  return Schedule.complete() ? Failure::none() : Failure("budget");
}

/// Uses the times of the runs that compared outputs as the first round.
Failure Replay::chooseByComparisons(ReplaySchedule &Schedule) {
  std::vector<size_t> Order = Schedule.order();
  std::vector<double> Ns;
  for (size_t V : Order)
    Ns.push_back(ComparedNs[V]);
  if (std::find(Ns.begin(), Ns.end(), 0) != Ns.end())
    return Failure("clock");
  Schedule.finish(notedTimes(Schedule, Order, Ns), double(Order.size()) * coldRunNs(), leftNs(),
                  Target.BudgetNs);
  return Failure::none();
}

Failure Replay::prepareRun(FoundInL2 InL2) {
  if (InL2 == FoundInL2::ArgumentMemory)
    return writeArgumentMemory();
  if (restoresBetween())
    if (Failure Why = Memory.restore(Verified.dirty()))
      return Why;
  if (InL2 == FoundInL2::Nothing)
    return Memory.flushL2();
  if (InL2 == FoundInL2::Written)
    return Memory.fillL2();
  return Failure::none();
}

Failure Replay::timeRound(const std::vector<size_t> &Order) {
  for (size_t V : Order) {
    if (Failure Why = prepareRun(ColdL2))
      return Why;
    if (Runs.run(V, /*Timed=*/true) != CUDA_SUCCESS)
      return Failure("launch-refused");
    if (Target.Shape.hasWarmTimes())
      if (Failure Why = timeWarm(V))
        return Why;
  }
  return Failure::none();
}

/// Times \p Variant with what its kernel used last in L2. If it can run twice, that is its own cold
/// run. Otherwise the default runs, what it changed is put back, and then comes the variant.
Failure Replay::timeWarm(size_t Variant) {
  if (!repeats()) {
    if (Failure Why = Memory.restore(Verified.dirty()))
      return Why;
    if (Runs.run(DefaultPlace, /*Timed=*/false) != CUDA_SUCCESS)
      return Failure("launch-refused");
    if (Failure Why = Memory.restore(Verified.dirty()))
      return Why;
  }
  return Runs.run(Variant, /*Timed=*/true) == CUDA_SUCCESS ? Failure::none()
                                                           : Failure("launch-refused");
}

Failure Replay::takeTimes(const ReplaySchedule &Schedule, const std::vector<size_t> &Order,
                          std::vector<ReplaySchedule::Times> &Times) {
  std::vector<double> Ns = Context.Clock->collect();
  if (Ns.size() != Order.size() * (Target.Shape.hasWarmTimes() ? 2 : 1))
    return Failure("clock");
  Times = notedTimes(Schedule, Order, Ns);
  return Failure::none();
}

/// Notes the times \p Ns of a round, one for each run of \p Order or two if there are warm times.
std::vector<ReplaySchedule::Times> Replay::notedTimes(const ReplaySchedule &Schedule,
                                                      const std::vector<size_t> &Order,
                                                      const std::vector<double> &Ns) {
  std::vector<ReplaySchedule::Times> Times;
  size_t Each = Target.Shape.hasWarmTimes() ? 2 : 1;
  bool Confirming = Schedule.phase() == ReplaySchedule::Phase::Confirm;
  for (size_t I = 0; I < Order.size(); ++I) {
    ReplaySchedule::Times T{Ns[Each * I], Each == 2 ? Ns[2 * I + 1] : 0};
    note(TimedSample{place(), Confirming, unsigned(Schedule.round()), nameOf(Order[I]),
                     double(uint64_t(T.ColdNs)), double(uint64_t(T.WarmNs))});
    Times.push_back(T);
  }
  return Times;
}
