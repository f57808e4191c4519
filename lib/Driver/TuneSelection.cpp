// Whole runs: screening of what is undecided, and the confirmation.

#include "Driver/TuneStages.h"

using namespace carve;

llvm::Expected<SelectionOutcome> carve::selectByRuns(TuneState &State, const TuningJob &Job,
                                                     const InRunTuning *InRun) {
  const TuneRequest &Request = State.Request;
  TuningScope Scope = Request.Options.Scope;
  std::vector<SubjectSpace> Subjects = subjectsOf(Job, Scope);
  if (InRun)
    applyInRun(*InRun, Subjects);
  SelectionLimits Limits = Request.Limits;
  Limits.RunS = State.PlainWallS;
  Limits.RunsBefore = State.Runs;
  Limits.ElapsedS = [&State] { return State.seconds(); };
  auto Progress = [&](unsigned Done, unsigned Expected) {
    Request.Progress(State.Runs + Done, State.Runs + Expected, State.seconds());
  };
  if (State.recorded()) {
    std::vector<std::vector<std::string>> Names = variantNames(Job, Scope);
    return selectVariants(
        Subjects, Limits,
        [&](const Assignment &A) { return State.Samples.run(Subjects, Names, A); }, Progress);
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
      Subjects, Limits, [&](const Assignment &A) { return Sampler.run(A); }, Progress);
  if (Outcome && !Request.RecordPath.empty())
    if (llvm::Error E = writeFileAtomically(Request.RecordPath, State.Samples.print()))
      return E;
  return Outcome;
}
