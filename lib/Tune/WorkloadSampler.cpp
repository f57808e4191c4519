#include "Ptx/Cubin.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/Sampler.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;

std::vector<SubjectSpace> carve::subjectsOf(const TuningJob &Job, TuningScope Scope) {
  std::vector<SubjectSpace> Subjects;
  if (Scope == TuningScope::File)
    for (const JobModule &M : Job.Modules)
      Subjects.push_back({M.Source.Source, M.FileVariants.size(), 0, "", {}});
  else
    for (const JobKernel &K : Job.Kernels)
      Subjects.push_back({K.Traced.Kernel, K.Variants.size(), 0, "", {}});
  return Subjects;
}

std::vector<std::vector<std::string>> carve::variantNames(const TuningJob &Job, TuningScope Scope) {
  std::vector<std::vector<std::string>> Names;
  auto NamesOf = [](const std::vector<JobVariant> &Variants) {
    std::vector<std::string> List;
    for (const JobVariant &V : Variants)
      List.push_back(V.Setting.Cap ? "r" + std::to_string(*V.Setting.Cap)
                                   : (List.empty() ? "default" : "control"));
    return List;
  };
  if (Scope == TuningScope::File)
    for (const JobModule &M : Job.Modules)
      Names.push_back(NamesOf(M.FileVariants));
  else
    for (const JobKernel &K : Job.Kernels)
      Names.push_back(NamesOf(K.Variants));
  return Names;
}

WorkloadSampler::WorkloadSampler(const TuningJob &Job, TuningScope Scope, const WorkloadSpec &Spec,
                                 const ProbeSetup &Probe, CommandRunner &Runner,
                                 OutputReference &Reference, std::string ImagesDir)
    : Job(Job), Scope(Scope), Spec(Spec), Probe(Probe), Runner(Runner), Reference(Reference),
      ImagesDir(std::move(ImagesDir)), Subjects(subjectsOf(Job, Scope)),
      Names(variantNames(Job, Scope)) {}

/// \p Cubin with the variants of \p A under their kernels' own names, for kernels of \p Modules.
llvm::Expected<std::string> WorkloadSampler::withVariants(llvm::StringRef Cubin,
                                                          llvm::ArrayRef<size_t> Modules,
                                                          const Assignment &A) const {
  std::map<std::string, std::string> Pairs; // A template may stand in several modules of a link.
  for (size_t M : Modules)
    for (size_t K : Job.Modules[M].Kernels)
      if (A[K] != 0 && !Job.Modules[M].Cubin.empty())
        Pairs[Job.Kernels[K].Traced.Kernel] = Job.Kernels[K].Variants[A[K]].CloneName;
  std::vector<std::pair<std::string, std::string>> List(Pairs.begin(), Pairs.end());
  return exchangeKernelNames(Cubin, List);
}

/// The image of one module.
llvm::Expected<std::string> WorkloadSampler::imageOf(size_t Module, const Assignment &A) const {
  const JobModule &M = Job.Modules[Module];
  if (Scope == TuningScope::File)
    return M.FileVariants[A[Module]].Cubin;
  return withVariants(M.Cubin, Module, A);
}

llvm::Expected<ImageMap> WorkloadSampler::placeImages(const Assignment &A) {
  ImageMap Images;
  if (A.empty())
    return Images;
  auto Place = [&](llvm::Expected<std::string> Bytes, const std::string &Name,
                   llvm::ArrayRef<std::string> Containers) -> llvm::Error {
    if (!Bytes)
      return Bytes.takeError();
    std::string Path = ImagesDir + "/" + Name + ".cubin";
    for (const std::string &Container : Containers)
      Images[Container] = Path;
    return writeFileAtomically(Path, *Bytes);
  };
  for (size_t M = 0; M < Job.Modules.size(); ++M) {
    const JobModule &Module = Job.Modules[M];
    if (Module.Cubin.empty() || Module.Source.Relocatable)
      continue;
    std::vector<std::string> Containers = Module.Source.Containers;
    for (const Unit &Twin : Module.Twins)
      llvm::append_range(Containers, Twin.Containers);
    if (llvm::Error E = Place(imageOf(M, A), std::to_string(M), Containers))
      return E;
  }
  for (size_t L = 0; L < Job.Links.size(); ++L) {
    const JobLink &Link = Job.Links[L];
    if (llvm::Error E = Place(withVariants(Link.Cubin, Link.Modules, A),
                              "link-" + std::to_string(L), Link.Source.Containers))
      return E;
  }
  return Images;
}

/// Why a run does not count, or nothing.
std::optional<std::string> WorkloadSampler::faultOf(const RunRecord &Run, const Assignment &A) {
  if (Run.TimedOut)
    return "the program ran longer than " + std::to_string(int(Spec.TimeoutS)) + " s";
  for (const auto &[Digest, Reason] : Run.Probe.Unswapped)
    return "an image could not be replaced: " + Reason;
  if (auto Why = Run.Probe.whyIncomplete(); Why && Run.succeeded())
    return Why;
  std::optional<std::string> Difference = Reference.difference(Run.Output);
  // Before a variant is blamed, the default shows once more what changes by itself.
  while (Difference && !A.empty() && ExtraDefaults < 4) {
    ++ExtraDefaults;
    auto Again = runWorkload(Spec, Probe, {}, Runner, /*LaunchDelayNs=*/0, Gpus);
    if (!Again) {
      llvm::consumeError(Again.takeError());
      break;
    }
    Reference.addDefault(Again->Output);
    Difference = Reference.difference(Run.Output);
  }
  return Difference;
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
  llvm::Expected<ImageMap> Images = placeImages(A);
  if (!Images)
    return Images.takeError();
  llvm::Expected<RunRecord> Run =
      runWorkload(Spec, Probe, *Images, Runner, /*LaunchDelayNs=*/0, Gpus);
  if (!Run)
    return Run.takeError();
  if (Run->Interrupted)
    return unsupported("interrupted", llvm::Twine(Run->Interrupted));
  if (A.empty()) {
    if (!Run->succeeded())
      return unsupported("workload-failed", "the program itself failed with exit status " +
                                                llvm::Twine(Run->Output.ExitStatus));
    Reference.addDefault(Run->Output);
  }
  RunSample Sample;
  Sample.ProgramNs = Run->Probe.totalNs();
  Sample.WallS = Run->WallS;
  for (size_t S = 0; S < Subjects.size(); ++S) {
    std::set<std::string> Kernels;
    if (Scope == TuningScope::File)
      for (size_t K : Job.Modules[S].Kernels)
        Kernels.insert(Job.Kernels[K].Traced.Kernel);
    else
      Kernels.insert(Subjects[S].Name);
    Sample.SubjectNs.push_back(Run->Probe.totalNs(Kernels));
  }
  Sample.Fault = faultOf(*Run, A);
  if (!Sample.Fault)
    note(A, Sample);
  return Sample;
}
