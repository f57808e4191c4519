// Each round is a timing run with the variants that the searches propose next, the best variant so
// far, and perhaps one that is composed of those that were fastest for single launch shapes.

#include "Tune/TuneRounds.h"

#include "Support/Clock.h"
#include "Support/Log.h"
#include "Tune/InRun/ComposedVariants.h"
#include "Tune/InRun/LeftOverVariants.h"
#include "Tune/Job/JobParts.h"
#include "Tune/TuneSelection.h"
#include "Tune/TuneTiming.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

using namespace carve;

namespace {

/// The rounds of one tuning.
class RoundsStage {
public:
  RoundsStage(TuneState &State, const TuningJob &Job, const JobBuild &Built, VariantRounds &Rounds,
              const ProbeRecord &Trace)
      : State(State), Job(Job), Built(Built), Rounds(Rounds), Trace(Trace), All(untimed(Job)),
        Barred(Job.Kernels.size()), Composed(Job.Kernels.size()), Left(Job.Kernels.size()) {}

  llvm::Expected<std::optional<InRunTuning>> make();

private:
  llvm::Error timeRound();
  VariantSets contenders() const;
  std::vector<size_t> leftOver(size_t Kernel) const {
    return Barred[Kernel].empty() ? Left.of(Kernel, All.Outcomes[Kernel]) : std::vector<size_t>();
  }
  bool anyLeftOver() const;
  void noteRuns(const VariantSets &Sets);
  bool leaveFixed(VariantSets &Sets, std::vector<ModeChoice> &Choices);
  void leaveUntimed(const VariantSets &Sets, const std::string &Why);
  void leave(size_t Kernel, const std::string &Why);
  void learn(InRunTuning Timed);
  void compose();
  GainProspect prospect() const;

  TuneState &State;
  const TuningJob &Job;
  const JobBuild &Built;
  VariantRounds &Rounds;
  const ProbeRecord &Trace;
  InRunTuning All;
  std::vector<std::string> Barred;   ///< By kernel: why no further run times it; empty if one may.
  std::vector<Composition> Composed; ///< By kernel: what the next round is to compose.
  LeftOverVariants Left;
  double AssemblyS = 0;      ///< Seconds that the last round took to assemble its modules.
  size_t Assembled = 0;      ///< How many variants it put into them.
  bool ToldWhy = false;      ///< Whether the log has why no further timing run is made.
  bool KeepsModules = false; ///< Whether whole runs may use the modules of the last round.
};

bool RoundsStage::anyLeftOver() const {
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    if (!leftOver(K).empty())
      return true;
  return false;
}

/// Counts the run that is made with \p Sets. A variant that is not in a module now could not be
/// assembled.
void RoundsStage::noteRuns(const VariantSets &Sets) {
  for (size_t K = 0; K < Sets.size(); ++K)
    for (size_t V : Sets[K])
      Left.noteRun(K, V, Built.Kernels[K].Variants[V].InModule);
}

/// The variants in the next run: the best so far of each kernel, what earlier runs have left over,
/// and the new variants.
VariantSets RoundsStage::contenders() const {
  VariantSets Sets = Rounds.added();
  for (size_t K = 0; K < Sets.size(); ++K) {
    std::vector<size_t> Again = leftOver(K);
    if (!Again.empty())
      logLine(llvm::formatv("{0}: {1} of its variants had no time in the last run and come again",
                            Job.Kernels[K].Traced.Kernel, Again.size()));
    Sets[K].insert(Sets[K].begin(), Again.begin(), Again.end());
    if (size_t Best = Sets[K].empty() ? 0 : bestSoFar(All, K))
      Sets[K].insert(Sets[K].begin(), Best);
  }
  return Sets;
}

/// Handles a kernel that no timing run times because of \p Why. If an earlier run has timed it, it
/// keeps its outcome, and the variants of this round are withdrawn. Otherwise whole runs decide.
void RoundsStage::leave(size_t Kernel, const std::string &Why) {
  InRunOutcome &O = All.Outcomes[Kernel];
  if (!O.Ratios.empty()) {
    Rounds.withdraw(Kernel, Why);
    return;
  }
  O.Verdict = InRunVerdict::Undecided;
  O.Reason = Why;
}

/// Removes kernels from \p Sets that are not timed inside the program. What earlier runs have left
/// over of them does not come again: later there is less time. Returns false if no kernel is left.
bool RoundsStage::leaveFixed(VariantSets &Sets, std::vector<ModeChoice> &Choices) {
  bool Any = false;
  for (size_t K = 0; K < Sets.size(); ++K) {
    if (Sets[K].empty())
      continue;
    if (!Barred[K].empty()) {
      Choices[K].Mode = TimingMode::Fixed;
      Choices[K].Reason = Barred[K];
    }
    Any |= Choices[K].Mode != TimingMode::Fixed;
    if (Choices[K].Mode != TimingMode::Fixed)
      continue;
    leave(K, Choices[K].Reason);
    Left.giveUp(K);
    Sets[K].clear();
  }
  return Any;
}

/// Handles \p Sets if no timing run can be made, because of \p Why.
void RoundsStage::leaveUntimed(const VariantSets &Sets, const std::string &Why) {
  logLine("no timing run: " + Why);
  ToldWhy = true;
  for (size_t K = 0; K < Sets.size(); ++K) {
    if (Sets[K].empty())
      continue;
    Barred[K] = Why;
    leave(K, Why);
  }
}

/// What the replay of \p Launch took beside its timed runs. \p Doubted: a variant's output
/// differed, so that the default ran again.
ReplayCosts costsOf(const ReplayedLaunch &Launch, bool Doubted) {
  ReplayCosts Costs;
  Costs.SaveNs = double(Launch.SaveNs);
  Costs.RestoreNs = std::max(Costs.RestoreNs, double(Launch.RestoreNs));
  // After each run, outputs are compared with those of the default, and all memory with what was
  // saved. If outputs vary, the default runs some more times, and each variant up to three times.
  Costs.CompareNs = 2 * double(Launch.CompareNs) + Costs.RestoreNs;
  if (!Launch.Deterministic || Doubted)
    Costs.DefaultRuns = 9;
  if (!Launch.Deterministic)
    Costs.ComparedRuns = 3;
  return Costs;
}

/// Tells the searches what a run has found, and adds it to All.
void RoundsStage::learn(InRunTuning Timed) {
  for (size_t K = 0; K < Job.Kernels.size(); ++K) {
    const InRunOutcome &O = Timed.Outcomes[K];
    std::map<size_t, double> Ratios;
    for (size_t V = FirstPlace; V < O.Ratios.size(); ++V)
      if (O.Ratios[V] > 0 && !O.isRejected(V))
        Ratios[V] = O.Ratios[V];
    if (!Ratios.empty())
      Rounds.learn(K, Ratios);
    if (O.ReplayDistance > MostReplayDistance && !std::exchange(State.Replays[K].Unlike, true))
      logLine(llvm::formatv("{0}: its default is {1:f0} % off its traced time in replays",
                            Job.Kernels[K].Traced.Kernel, 100 * O.ReplayDistance));
    if (O.Timing == InRunTiming::Replay)
      State.Replays[K].Timed = true;
    if (!O.NotReplayed.empty())
      State.Replays[K].StoodBack = true;
    const std::string &Name = Job.Kernels[K].Traced.Kernel;
    bool Doubted = llvm::any_of(Timed.Run.Record.Verified, [&](const VerifiedVariant &V) {
      return V.Place.Kernel == Name && V.Result == Verdict::Differs;
    });
    for (const ReplayedLaunch &L : Timed.Run.Record.Replays)
      if (L.Place.Kernel == Name)
        State.Replays[K].Costs = costsOf(L, Doubted);
    auto Excluded = Timed.Run.Excluded.Kernels.find(Job.Kernels[K].Traced.Kernel);
    if (Timed.Run.Failure)
      Barred[K] = *Timed.Run.Failure;
    else if (Excluded != Timed.Run.Excluded.Kernels.end())
      Barred[K] = Excluded->second;
  }
  addTimingRun(All, std::move(Timed), Built);
}

/// Sets what the next round is to compose: of kernels whose variants the rounds so far could judge.
/// With the least effort there is one round only, and other sets of variants are for a comparison
/// with the search.
void RoundsStage::compose() {
  const TuningOptions &Options = State.Request.Options;
  for (size_t K = 0; K < Job.Kernels.size(); ++K) {
    Composed[K] = {};
    if (Options.Effort == 0 || Options.Points != PointSet::Critical || !Barred[K].empty() ||
        All.Outcomes[K].Verdict == InRunVerdict::Undecided ||
        !mayHaveFurtherEntry(Job.Kernels[K], Job, Options))
      continue;
    Composition Found =
        composeOfShapes(Job.Kernels[K].Traced, Built.Kernels[K].Variants, All.Outcomes[K]);
    if (!Rounds.mayCompose(K, Found))
      continue;
    logLine(llvm::formatv("{0}: {1}, composed for its launch shapes, promises {2:f2} % of its time",
                          Job.Kernels[K].Traced.Kernel, Found.Name, 100 * Found.Promise));
    Composed[K] = std::move(Found);
  }
}

/// What the rounds so far have in hand, and what a further one promises. Kernels that no further
/// run times promise something for the whole runs, which are made in the confirmation's time.
GainProspect RoundsStage::prospect() const {
  double Nominated = 0, ByOnePair = 0, Promised = 0, ByRuns = 0;
  for (size_t K = 0; K < Job.Kernels.size(); ++K) {
    const InRunOutcome &O = All.Outcomes[K];
    double Share = Job.Kernels[K].Traced.Share;
    Nominated += Share * sureGain(O);
    ByOnePair += Share * gainOfOnePair(O);
    std::vector<size_t> Again = leftOver(K);
    bool Fixed = !Barred[K].empty() || (O.Verdict == InRunVerdict::Undecided && Again.empty());
    (Fixed ? ByRuns : Promised) += Share * std::max(Rounds.promise(K, Again), Composed[K].Promise);
  }
  GainProspect Next = State.Prospect.next(Nominated, Promised, ByRuns, wholeRunsHaveTime(State));
  Next.ByOnePair = ByOnePair;
  return Next;
}

/// How many variants are in \p Sets; at least 1.
size_t countOf(const VariantSets &Sets) {
  size_t Count = 0;
  for (const std::vector<size_t> &Set : Sets)
    Count += Set.size();
  return std::max<size_t>(1, Count);
}

/// Modules that take longer to assemble than this part of a run are not assembled once more for the
/// whole runs alone. Others are, without the clones that these runs do not use.
constexpr double LongAssembly = 0.5;

/// Whether nothing in \p Run speaks against the modules that it had.
bool ranWell(const TimingRunResult &Run) {
  return !Run.Failure && Run.Excluded.Faults.empty() && Run.Excluded.Kernels.empty();
}

llvm::Error RoundsStage::timeRound() {
  VariantSets Sets = contenders();
  Rounds.select(Sets);
  std::vector<ModeChoice> Choices = chooseTiming(State, Job, Built, Trace);
  if (!leaveFixed(Sets, Choices))
    return llvm::Error::success();
  if (auto Why = whyNoTimingRun(State)) {
    leaveUntimed(Sets, *Why);
    return llvm::Error::success();
  }
  Rounds.select(Sets);
  auto Begin = std::chrono::steady_clock::now();
  Rounds.assemble();
  AssemblyS = secondsSince(Begin);
  Assembled = countOf(Sets);
  noteRuns(Sets);
  llvm::Expected<InRunTuning> Timed =
      timeInside(State, Job, Built, std::move(Choices), All.Run.Record.Verified);
  if (!Timed)
    return Timed.takeError();
  KeepsModules =
      AssemblyS > LongAssembly * State.runS() && ranWell(Timed->Run) && State.gpuCount() == 1;
  learn(std::move(*Timed));
  compose();
  State.Prospect = prospect();
  logLine(llvm::formatv("untried settings promise {0:f2} % of the program's GPU time, {1:f2} % can "
                        "be confirmed: {2}",
                        100 * State.Prospect.Promised, 100 * State.Prospect.InHand,
                        State.Prospect.favoursSearch()
                            ? "another timing run comes first, if there is time for one"
                            : "the time for a confirmation is kept"));
  return llvm::Error::success();
}

llvm::Expected<std::optional<InRunTuning>> RoundsStage::make() {
  // Recorded samples of a tuning by whole runs have no timing run.
  if (!State.timesInside() || (State.recorded() && State.Samples.timingRuns() == 0)) {
    Rounds.makeAll(MostByRuns);
    return std::optional<InRunTuning>();
  }
  auto Limits = [&] {
    RoundLimits Round = limitsOfRound(State, Job, Built, Trace);
    Round.Composed = Composed;
    // Recorded runs take no time, and variants that are not recorded need not be timed.
    for (size_t K = 0; K < Round.Timable.size() && !State.recorded(); ++K) {
      // If all came, there would be no time for any.
      Left.giveUpBeyond(Round.Timable[K], K, All.Outcomes[K]);
      Round.Timable[K] -= std::min(Round.Timable[K], leftOver(K).size());
    }
    if (Round.CompileS && Assembled > 0) {
      Round.Most = settingsFor(*Round.CompileS, AssemblyS / double(Assembled));
      Round.PatienceS = patienceS(*Round.CompileS, AssemblyS);
    }
    // With the least effort there is no further round.
    if (Assembled == 0 && State.Request.Options.Effort > 0)
      Round.FirstAssemblyS = Round.CompileS;
    return Round;
  };
  for (bool First = true;; First = false) {
    // If no other run is allowed, its variants need not be compiled.
    std::optional<std::string> Why;
    if (!First && !State.recorded())
      Why = whyNoTimingRun(State);
    if (!Why && !Rounds.next(Limits()) && !anyLeftOver())
      Why = "no further variant was made for it";
    if (Why) {
      if (!First && !ToldWhy)
        logLine("no further timing run: " + *Why);
      break;
    }
    if (llvm::Error E = timeRound())
      return E;
  }
  Rounds.finish();
  VariantSets Last;
  for (size_t K = 0; K < Job.Kernels.size(); ++K)
    Last.push_back(isTimedFurther(State, All.Outcomes, K) ? variantsLeft(All, K, Built)
                                                          : std::vector<size_t>());
  Rounds.settleOn(Last, KeepsModules);
  if (Job.Kernels.empty())
    return std::optional<InRunTuning>();
  return std::optional<InRunTuning>(std::move(All));
}

} // namespace

llvm::Expected<std::optional<InRunTuning>> carve::timeRounds(TuneState &State, const TuningJob &Job,
                                                             const JobBuild &Built,
                                                             VariantRounds &Rounds,
                                                             const ProbeRecord &Trace) {
  return RoundsStage(State, Job, Built, Rounds, Trace).make();
}
