#include "Tune/WholeRuns/WorkloadSampler.h"

#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/InRun/ProbePlan.h"
#include "Tune/WholeRuns/JobImages.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

std::vector<SubjectSpace> carve::subjectsOf(const TuningJob &Job, const JobBuild &Built,
                                            TuningScope Scope) {
  std::vector<SubjectSpace> Subjects;
  if (Scope == TuningScope::File)
    for (auto [M, Made] : llvm::zip_equal(Job.Modules, Built.Modules))
      Subjects.push_back({M.Source.Source, Made.FileVariants.size()});
  else
    for (auto [K, Made] : llvm::zip_equal(Job.Kernels, Built.Kernels))
      Subjects.push_back({K.Traced.Kernel, Made.Variants.size()});
  return Subjects;
}

std::vector<std::vector<std::string>> carve::variantNames(const JobBuild &Built,
                                                          TuningScope Scope) {
  std::vector<std::vector<std::string>> Names;
  if (Scope == TuningScope::File)
    for (const ModuleBuild &M : Built.Modules)
      Names.push_back(namesOf(M.FileVariants));
  else
    for (const KernelBuild &K : Built.Kernels)
      Names.push_back(namesOf(K.Variants));
  return Names;
}

WorkloadSampler::WorkloadSampler(const TuningJob &Job, const JobBuild &Built, TuningScope Scope,
                                 std::vector<SubjectSpace> Subjects, const WorkloadSpec &Spec,
                                 const ProbeSetup &Probe, CommandRunner &Runner, OutputCheck &Check,
                                 std::string ImagesDir)
    : Job(Job), Built(Built), Scope(Scope), Spec(Spec), Probe(Probe), Runner(Runner), Check(Check),
      ImagesDir(std::move(ImagesDir)), Subjects(std::move(Subjects)),
      Names(variantNames(Built, Scope)) {}

llvm::Expected<std::optional<std::string>> WorkloadSampler::faultOf(const RunRecord &Run,
                                                                    const Assignment &A) {
  using Fault = std::optional<std::string>;
  if (Run.TimedOut)
    return Fault("the program ran longer than " + std::to_string(int(Spec.TimeoutS)) + " s");
  for (const auto &[Digest, Reason] : Run.Probe.Unswapped)
    return Fault("an image could not be replaced: " + Reason);
  if (auto Why = Run.Probe.whyIncomplete(); Why && Run.succeeded())
    return Why;
  // Other runs are compared with the untouched program, so no default is run again for it.
  return A.empty() ? Check.reference().difference(Run.Output)
                   : Check.difference(Run.Output, memoryOf(A));
}

/// How what the variants of \p A write compares with what the default writes.
MemoryOfRun WorkloadSampler::memoryOf(const Assignment &A) const {
  auto Memory = MemoryOfRun::Same;
  for (size_t S = 0; S < A.size(); ++S) {
    if (A[S] < FirstPlace)
      continue;
    if (!Subjects[S].Compared || A[S] != Subjects[S].Nominee)
      return MemoryOfRun::NotCompared;
    if (Subjects[S].Varies)
      Memory = MemoryOfRun::WithinSpread;
  }
  return Memory;
}

void WorkloadSampler::note(const Assignment &A, const RunSample &Sample) {
  if (!Recording)
    return;
  double Known = 0;
  for (size_t S = 0; S < Subjects.size(); ++S) {
    Recording->add(Subjects[S].Name, A.empty() ? "untouched" : Names[S][A[S]], Sample.SubjectNs[S]);
    Known += Sample.SubjectNs[S];
  }
  Recording->addProgram(Sample.ProgramNs - Known, Sample.WallS);
}

llvm::Expected<RunSample> WorkloadSampler::run(const Assignment &A) {
  llvm::Expected<ImageMap> Images = placeImages(Job, Built, Scope, A, ImagesDir);
  if (!Images)
    return Images.takeError();
  ProbeSetup Setup = Probe;
  if (Scope == TuningScope::Kernel)
    Setup.Plan = printDispatchPlan(Job, Built, A);
  llvm::Expected<RunRecord> Run = runWorkload(Spec, Setup, *Images, Runner, /*Stretch=*/{}, Gpus);
  if (!Run)
    return Run.takeError();
  if (Run->Interrupted)
    return interrupted(Run->Interrupted);
  if (A.empty()) {
    if (!Run->succeeded())
      return unsupported("workload-failed", "the program itself failed with exit status " +
                                                llvm::Twine(Run->Output.ExitStatus));
    Check.reference().addDefault(Run->Output);
  }
  RunSample Sample;
  Sample.ProgramNs = Run->Probe.totalNs();
  Sample.WallS = Run->WallS;
  Sample.SpanNs = double(Run->Probe.SpanNs);
  for (size_t S = 0; S < Subjects.size(); ++S) {
    std::set<std::string> Kernels;
    if (Scope == TuningScope::File)
      for (size_t K : Job.Modules[S].Kernels)
        Kernels.insert(Job.Kernels[K].Traced.Kernel);
    else
      Kernels.insert(Subjects[S].Name);
    Sample.SubjectNs.push_back(Run->Probe.totalNs(Kernels));
  }
  auto Fault = faultOf(*Run, A);
  if (!Fault)
    return Fault.takeError();
  Sample.Fault = std::move(*Fault);
  if (!Sample.Fault)
    note(A, Sample);
  return Sample;
}
