// Prepares the subjects of the selection, and connects it to the program or to recorded samples.

#include "Tune/TuneSelection.h"

#include "Tune/WholeRuns/WorkloadSampler.h"

using namespace carve;

/// Excludes variants that no run can have: clones that are not in the modules, and variants that
/// the recorded samples lack.
static void excludeAbsent(const TuneState &State, const TuningJob &Job,
                          std::vector<SubjectSpace> &Subjects) {
  std::vector<std::vector<std::string>> Names = variantNames(Job, TuningScope::Kernel);
  for (size_t K = 0; K < Subjects.size(); ++K) {
    SubjectSpace &S = Subjects[K];
    const JobKernel &Kernel = Job.Kernels[K];
    auto WhyAbsent = [&](size_t V) -> std::optional<std::string> {
      if (!Kernel.Variants[V].InModule)
        return "its clone could not be assembled";
      if (State.recorded() && !State.Samples.has(S.Name, Names[K][V]))
        return "the recorded samples lack it";
      return std::nullopt;
    };
    if (!Kernel.LeftReason.empty())
      S.Stays = Kernel.LeftReason;
    else if (auto Why = S.Nominee ? WhyAbsent(S.Nominee) : std::nullopt)
      S.Stays = *Why;
    if (!S.Stays.empty())
      S.Nominee = 0;
    for (size_t V = FirstPlace; V < S.Variants && S.Stays.empty() && !S.Nominee; ++V)
      if (auto Why = WhyAbsent(V))
        S.Excluded.try_emplace(V, *Why);
  }
}

llvm::Expected<SelectionOutcome> carve::selectAmong(TuneState &State, const TuningJob &Job,
                                                    TuningScope Scope,
                                                    const std::vector<SubjectSpace> &Subjects,
                                                    unsigned RunsBefore, bool DefaultInPlace) {
  const TuneRequest &Request = State.Request;
  SelectionLimits Limits = Request.Limits;
  Limits.BudgetS = State.BudgetS;
  Limits.RunS = State.PlainWallS;
  Limits.RunsBefore = State.Runs + RunsBefore;
  Limits.ElapsedS = [&State] { return State.seconds(); };
  auto Progress = [&](unsigned Done, unsigned Expected) {
    Request.Progress(Limits.RunsBefore + Done, Limits.RunsBefore + Expected, State.seconds());
  };
  auto Placed = [&](const Assignment &A) {
    return A.empty() && DefaultInPlace ? Assignment(Subjects.size(), 0) : A;
  };
  if (State.recorded()) {
    std::vector<std::vector<std::string>> Names = variantNames(Job, Scope);
    return selectVariants(
        Subjects, Limits,
        [&](const Assignment &A) { return State.Samples.run(Subjects, Names, Placed(A)); },
        Progress);
  }
  llvm::Expected<TempDir> Images = TempDir::create("carve-images");
  if (!Images)
    return Images.takeError();
  WorkloadSampler Sampler(Job, Scope, Request.Workload, Request.Probe, State.Runner, State.Check,
                          Images->path());
  Sampler.timeOn(State.gpus());
  if (!Request.RecordPath.empty())
    Sampler.recordInto(&State.Samples);
  auto Outcome = selectVariants(
      Subjects, Limits, [&](const Assignment &A) { return Sampler.run(Placed(A)); }, Progress);
  if (Outcome && !Request.RecordPath.empty())
    if (llvm::Error E = writeFileAtomically(Request.RecordPath, State.Samples.print()))
      return E;
  return Outcome;
}

llvm::Expected<SelectionOutcome> carve::selectByRuns(TuneState &State, const TuningJob &Job,
                                                     const InRunTuning *InRun) {
  TuningScope Scope = State.Request.Options.Scope;
  std::vector<SubjectSpace> Subjects = subjectsOf(Job, Scope);
  if (InRun)
    applyInRun(*InRun, Subjects);
  if (Scope == TuningScope::Kernel)
    excludeAbsent(State, Job, Subjects);
  return selectAmong(State, Job, Scope, Subjects, /*RunsBefore=*/0, /*DefaultInPlace=*/false);
}
