// Prepares the subjects of the selection, and connects it to the program or to recorded samples.

#include "Tune/TuneSelection.h"

#include "Tune/Selection/SelectionRuns.h"
#include "Tune/WholeRuns/WorkloadSampler.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

/// Excludes variants that no run may have: clones that are not in the modules, variants that the
/// recorded samples lack, and variants that need more proof than the program's output. Whole runs
/// compare only that.
static void excludeAbsent(const TuneState &State, const JobBuild &Built,
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
    else if (auto Why = S.Nominee ? WhyAbsent(S.Nominee) : std::nullopt)
      S.Stays = *Why;
    if (!S.Stays.empty())
      S.Nominee = 0;
    for (size_t V = FirstPlace; V < S.Variants && S.Stays.empty() && !S.Nominee; ++V)
      if (auto Why = WhyAbsent(V))
        S.Excluded.try_emplace(V, *Why);
  }
}

/// The runs of the screening that the time which is left has room for, beside the shortest
/// confirmation. A tenth of it is kept for what is not a run.
static size_t screeningRuns(double LeftS, double RunS, const std::vector<SubjectSpace> &Subjects) {
  double Runs = 0.9 * LeftS / RunS - 2.0 * leastPairs(Subjects);
  return Runs > 0 ? size_t(Runs) : 0;
}

/// Excludes the variants for which whole runs have no time, so that those which promise most are
/// tried: what was faster in timing runs, then what was not timed, in the order in which the search
/// proposed it.
static void excludeUnpromising(const TuneState &State, const InRunTuning *InRun,
                               std::vector<SubjectSpace> &Subjects) {
  std::optional<double> Left = State.secondsLeft();
  if (!Left || State.PlainWallS <= 0)
    return;
  size_t Runs = screeningRuns(*Left, State.PlainWallS, Subjects);
  size_t Most = Runs > FirstPlace ? Runs - FirstPlace : 1; // The default and its copy run as well.
  for (size_t K = 0; K < Subjects.size(); ++K) {
    SubjectSpace &S = Subjects[K];
    if (S.Nominee || !S.Stays.empty())
      continue;
    std::vector<std::pair<double, size_t>> Order;
    for (size_t V = FirstPlace; V < S.Variants; ++V) {
      double Ratio = 0;
      if (InRun && V < InRun->Outcomes[K].Ratios.size())
        Ratio = InRun->Outcomes[K].Ratios[V];
      if (!S.Excluded.count(V))
        Order.push_back({Ratio > 0 ? Ratio : 1.0, V});
    }
    llvm::sort(Order);
    for (size_t I = Most; I < Order.size(); ++I)
      S.Excluded.try_emplace(Order[I].second, "there was no time left for a whole run with it");
  }
}

/// The GPU time of \p T in the traced run, in ns.
static double tracedNs(const TracedKernel &T) {
  double Ns = 0;
  for (const KernelLaunches &L : T.Shapes)
    Ns += double(L.TotalNs);
  return Ns;
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

/// Screens and confirms the variants of \p Subjects by whole runs. Fails as selectByRuns().
static llvm::Expected<SelectionOutcome> selectAmong(TuneState &State, const TuningJob &Job,
                                                    const JobBuild &Built, TuningScope Scope,
                                                    const std::vector<SubjectSpace> &Subjects) {
  const TuneRequest &Request = State.Request;
  SelectionLimits Limits = Request.Limits;
  Limits.BudgetS = State.BudgetS;
  Limits.RunS = State.PlainWallS;
  Limits.RunsBefore = State.Runs;
  if (double Ns = tracedNs(Job); Ns > 0)
    Limits.EarlierProgramNs = {Ns};
  Limits.ElapsedS = [&State] { return State.seconds(); };
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
  WorkloadSampler Sampler(Job, Built, Scope, Workload, Request.Probe, State.Runner, State.Check,
                          Images->path());
  Sampler.timeOn(State.gpus());
  if (!Request.RecordPath.empty())
    Sampler.recordInto(&State.Samples);
  auto Outcome = selectVariants(
      Subjects, Limits, [&](const Assignment &A) { return Sampler.run(A); }, *Request.Progress);
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
    applyInRun(*InRun, Subjects);
  if (Scope == TuningScope::Kernel)
    excludeAbsent(State, Built, Subjects);
  addTraced(Job, Scope, Subjects);
  if (Scope == TuningScope::Kernel)
    excludeUnpromising(State, InRun, Subjects);
  return selectAmong(State, Job, Built, Scope, Subjects);
}
