// Prepares the subjects of the selection, and connects it to the program or to recorded samples.

#include "Tune/TuneSelection.h"

#include "Tune/InRun/TimedShapes.h"
#include "Tune/Selection/PairedTimes.h"
#include "Tune/Selection/SelectionRuns.h"
#include "Tune/WholeRuns/WorkloadSampler.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace carve;

/// Whether \p S has a variant that is not excluded.
static bool hasVariants(const SubjectSpace &S) {
  for (size_t V = FirstPlace; V < S.Variants; ++V)
    if (!S.Excluded.count(V))
      return true;
  return false;
}

/// Excludes variants that no run may have: clones that are not in the modules, variants that the
/// recorded samples lack, and variants that need more proof than the program's output. Whole runs
/// compare only that. \p AfterRounds: timing runs have chosen what is in the modules.
static void excludeAbsent(const TuneState &State, const JobBuild &Built, bool AfterRounds,
                          std::vector<SubjectSpace> &Subjects) {
  std::vector<std::vector<std::string>> Names = variantNames(Built, TuningScope::Kernel);
  for (size_t K = 0; K < Subjects.size(); ++K) {
    SubjectSpace &S = Subjects[K];
    const KernelBuild &Kernel = Built.Kernels[K];
    auto WhyAbsent = [&](size_t V) -> std::optional<std::string> {
      if (!Kernel.Variants[V].InModule)
        return "its clone could not be assembled";
      if (State.recorded() && !State.Samples.has(S.Name, Names[K][V]))
        return "the recorded samples lack it";
      if (V != S.Nominee && needsComparedOutput(Kernel.Variants[V]))
        return NotCompared;
      return std::nullopt;
    };
    if (!Kernel.LeftReason.empty())
      S.Stays = Kernel.LeftReason.text();
    else if (AfterRounds && S.Stays.empty() && hasVariants(S) && Kernel.timedTogether() == 0)
      S.Stays = BudgetReason; // The rounds have left it out of the last modules (isTimedFurther()).
    else if (auto Why = S.Nominee ? WhyAbsent(S.Nominee) : std::nullopt)
      S.Stays = *Why;
    if (!S.Stays.empty())
      S.Nominee = 0;
    for (size_t V = FirstPlace; V < S.Variants && S.Stays.empty() && !S.Nominee; ++V)
      if (auto Why = WhyAbsent(V))
        S.Excluded.try_emplace(V, *Why);
  }
}

/// The runs that the time which is left has room for beside a confirmation of \p Pairs pairs; below
/// 0 if it has none for that, and nothing if time is not limited. A tenth of it is kept for what is
/// not a run.
static std::optional<double> runsBesideConfirmation(const TuneState &State, unsigned Pairs) {
  std::optional<double> Left = State.secondsLeft();
  if (!Left || State.PlainWallS <= 0)
    return std::nullopt;
  return 0.9 * *Left / State.runS() - 2.0 * Pairs;
}

/// The runs that try one variant of each kernel: the default and its copy run as well.
constexpr double RunsToTryOne = FirstPlace + 1;

bool carve::wholeRunsHaveTime(const TuneState &State) {
  std::optional<double> Runs = runsBesideConfirmation(State, ConfirmationLooks[0].Pairs);
  return !Runs || *Runs >= RunsToTryOne;
}

bool carve::isTimedFurther(const TuneState &State, llvm::ArrayRef<InRunOutcome> Outcomes,
                           size_t Kernel) {
  auto IsNominated = [](const InRunOutcome &O) { return O.Verdict == InRunVerdict::Nominated; };
  if (IsNominated(Outcomes[Kernel]))
    return true;
  if (llvm::any_of(Outcomes, IsNominated))
    return wholeRunsHaveTime(State);
  std::optional<double> Left = State.secondsLeft();
  return !Left || *Left > State.runS();
}

/// The variants of kernel \p K that whole runs may try, those which promise most first: what was
/// faster in timing runs, then what was not timed (ratio 1), in the order in which the search chose
/// it for timing.
static std::vector<std::pair<double, size_t>> inOrderOfPromise(size_t K, const InRunTuning *InRun,
                                                               const SubjectSpace &S) {
  std::vector<std::pair<double, size_t>> Order;
  for (size_t V = FirstPlace; V < S.Variants; ++V) {
    double Ratio = 0;
    if (InRun && V < InRun->Outcomes[K].Ratios.size())
      Ratio = InRun->Outcomes[K].Ratios[V];
    if (!S.Excluded.count(V))
      Order.push_back({Ratio > 0 ? Ratio : 1.0, V});
  }
  llvm::sort(Order);
  return Order;
}

/// Leaves to the confirmation what there is no time to screen: of each kernel the variant that was
/// fastest in timing runs, although these do not decide. If they have timed nothing, it is the most
/// promising variant of the kernel with most time. Where a timing run has nominated a variant of
/// some kernel, that one is confirmed alone: beside a loser it would have to be confirmed twice.
static void nominateUndecided(const InRunTuning *InRun, const SelectionLimits &Limits,
                              std::vector<SubjectSpace> &Subjects) {
  if (llvm::any_of(Subjects, [](const SubjectSpace &S) { return S.Nominee != 0; }))
    return;
  std::optional<size_t> Hottest;
  size_t Untimed = 0;
  bool Any = false;
  for (size_t K = 0; K < Subjects.size(); ++K) {
    if (!Subjects[K].Stays.empty())
      continue;
    auto Order = inOrderOfPromise(K, InRun, Subjects[K]);
    if (Order.empty())
      continue;
    auto [Ratio, Variant] = Order.front();
    if (Ratio < Limits.ScreeningRatio) {
      Subjects[K].Nominee = Variant;
      Any = true;
    } else if (Ratio == 1 && (!Hottest || Subjects[*Hottest].EarlierNs < Subjects[K].EarlierNs)) {
      Hottest = K;
      Untimed = Variant;
    }
  }
  if (!Any && Hottest)
    Subjects[*Hottest].Nominee = Untimed;
}

/// Excludes the variants for which whole runs have no time, so that those which promise most are
/// tried.
static void excludeUnpromising(const TuneState &State, const InRunTuning *InRun,
                               std::vector<SubjectSpace> &Subjects) {
  std::optional<double> Runs = runsBesideConfirmation(State, leastPairs(Subjects));
  if (!Runs)
    return;
  if (*Runs >= 0 && *Runs < RunsToTryOne)
    nominateUndecided(InRun, State.Request.Limits, Subjects);
  size_t Most = *Runs > FirstPlace ? size_t(*Runs) - FirstPlace : 1;
  for (size_t K = 0; K < Subjects.size(); ++K) {
    SubjectSpace &S = Subjects[K];
    if (S.Nominee || !S.Stays.empty())
      continue;
    auto Order = inOrderOfPromise(K, InRun, S);
    for (size_t I = Most; I < Order.size(); ++I)
      S.Excluded.try_emplace(Order[I].second, "there was no time left for a whole run with it");
  }
}

/// The GPU time of the whole program in the traced run, in ns.
static double tracedNs(const TuningJob &Job) {
  double Ns = 0;
  for (const JobKernel &K : Job.Kernels)
    Ns += tracedNs(K.Traced);
  for (const LeftKernel &L : Job.Left)
    Ns += tracedNs(L.Traced);
  return Ns;
}

/// Adds the times of the traced run to \p Subjects. It is the only earlier run that has the
/// default's whole time: a timing run replays kernels, which changes what is in the caches, or
/// rotates their variants.
static void addTraced(const TuningJob &Job, TuningScope Scope,
                      std::vector<SubjectSpace> &Subjects) {
  for (size_t S = 0; S < Subjects.size(); ++S) {
    double Ns = 0;
    if (Scope == TuningScope::Kernel)
      Ns = tracedNs(Job.Kernels[S].Traced);
    else
      for (size_t K : Job.Modules[S].Kernels)
        Ns += tracedNs(Job.Kernels[K].Traced);
    if (Ns > 0)
      Subjects[S].EarlierNs = {Ns};
  }
}

/// Whether there is time for a run of the default, which may be a stretched one.
static bool mayRunForOutput(const TuneState &State) {
  constexpr double StretchedRuns = 1.6;
  std::optional<double> Left = State.secondsLeft();
  return !Left || *Left - ShareAfterRuns * State.BudgetS > StretchedRuns * State.runS();
}

/// Takes winners out of \p Outcome if the program printed something else in a timing run:
/// - All of them, if no variant's results were used in it: replaying has changed what the program
///   computes, so what it compared in memory is not trusted.
/// - Those whose output was not compared in memory, if kernels were rotated in it.
/// Fails if the tuning was interrupted.
static llvm::Error checkKeptOutputs(TuneState &State, const std::vector<SubjectSpace> &Subjects,
                                    SelectionOutcome &Outcome) {
  for (MemoryOfRun Memory : {MemoryOfRun::Same, MemoryOfRun::NotCompared}) {
    const bool OfRotated = Memory == MemoryOfRun::NotCompared;
    std::vector<SubjectOutcome *> Suspects;
    for (auto [S, O] : llvm::zip_equal(Subjects, Outcome.Subjects))
      if (O.Chosen && !(OfRotated && S.Compared))
        Suspects.push_back(&O);
    if (Suspects.empty())
      continue;
    auto Difference =
        State.Check.differenceOfKept(Memory, /*MayRun=*/!OfRotated || mayRunForOutput(State));
    if (!Difference)
      return Difference.takeError();
    if (!*Difference)
      continue;
    for (SubjectOutcome *O : Suspects) {
      O->Chosen = 0;
      O->Reason = "the output of a timing run differs: " + **Difference;
    }
  }
  return llvm::Error::success();
}

/// Screens and confirms the variants of \p Subjects by whole runs. Fails as selectByRuns().
static llvm::Expected<SelectionOutcome> selectAmong(TuneState &State, const TuningJob &Job,
                                                    const JobBuild &Built, TuningScope Scope,
                                                    const std::vector<SubjectSpace> &Subjects) {
  const TuneRequest &Request = State.Request;
  SelectionLimits Limits = Request.Limits;
  Limits.BudgetS = (1 - ShareAfterRuns) * State.BudgetS;
  Limits.RunS = State.runS();
  Limits.RunsBefore = State.Runs;
  if (double Ns = tracedNs(Job); Ns > 0)
    Limits.EarlierProgramNs = {Ns};
  Limits.PlainWallS = State.PlainWallS;
  Limits.EarlierSpanNs = State.PlainSpanNs;
  Limits.ElapsedS = [&State] { return State.seconds(); };
  State.SelectsByRuns = true;
  if (State.recorded()) {
    std::vector<std::vector<std::string>> Names = variantNames(Built, Scope);
    return selectVariants(
        Subjects, Limits,
        [&](const Assignment &A) { return State.Samples.run(Subjects, Names, A); },
        *Request.Progress);
  }
  llvm::Expected<TempDir> Images = TempDir::create("carve-images");
  if (!Images)
    return Images.takeError();
  const WorkloadSpec Workload = State.workload();
  WorkloadSampler Sampler(Job, Built, Scope, Subjects, Workload, Request.Probe, State.Runner,
                          State.Check, Images->path());
  Sampler.timeOn(State.gpus());
  if (!Request.RecordPath.empty())
    Sampler.recordInto(&State.Samples);
  State.LeavesVarying = mayLeaveVarying(Subjects);
  auto Outcome = selectVariants(
      Subjects, Limits, [&](const Assignment &A) { return Sampler.run(A); }, *Request.Progress);
  State.LeavesVarying = false; // No fault is looked for any more.
  if (Outcome)
    if (llvm::Error E = checkKeptOutputs(State, Subjects, *Outcome))
      return E;
  if (Outcome && !Request.RecordPath.empty())
    if (llvm::Error E = writeFileAtomically(Request.RecordPath, State.Samples.print()))
      return E;
  return Outcome;
}

llvm::Expected<SelectionOutcome> carve::selectByRuns(TuneState &State, const TuningJob &Job,
                                                     const JobBuild &Built,
                                                     const InRunTuning *InRun) {
  TuningScope Scope = State.Request.Options.Scope;
  std::vector<SubjectSpace> Subjects = subjectsOf(Job, Built, Scope);
  if (InRun)
    applyInRun(*InRun, Built, Subjects);
  if (Scope == TuningScope::Kernel)
    excludeAbsent(State, Built, /*AfterRounds=*/InRun != nullptr, Subjects);
  addTraced(Job, Scope, Subjects);
  if (Scope == TuningScope::Kernel)
    excludeUnpromising(State, InRun, Subjects);
  return selectAmong(State, Job, Built, Scope, Subjects);
}
