// Clones at the critical points, all of a unit in one module.
//
// The module is assembled in one go. Only where ptxas refuses it is every clone tried alone, so
// that one failure costs one variant. Clones whose code equals the default's or an earlier
// clone's are the same variant and are dropped after the fact: their code stays in the module,
// unused.

#include "Ptx/Assembler.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Tune/JobParts.h"

#include "llvm/ADT/StringMap.h"

using namespace carve;

namespace {

std::string cloneName(const std::string &Kernel, const JobVariant &V) {
  return Kernel + (V.Setting.Cap ? "__carve_r" + std::to_string(*V.Setting.Cap)
                                 : std::string("__carve_control"));
}

/// Lists the variants of every kernel, not yet assembled.
void planVariants(const std::vector<ParsedModule> &Parsed, TuningJob &Job,
                  const JobContext &Context) {
  for (JobKernel &K : Job.Kernels) {
    const PtxEntry *Entry = nullptr;
    for (const ParsedModule &M : Parsed)
      if (M.InJob == K.Modules.front())
        Entry = M.Ptx.find(K.Traced.Kernel);
    K.Variants.push_back({{}, K.Traced.Kernel, {}, {}, {}});
    K.Variants.push_back({{}, "", {}, {}, {}});
    K.Variants.back().CloneName = cloneName(K.Traced.Kernel, K.Variants.back());
    for (unsigned Cap : capsToTry(K, Entry->Directives, Job, Context.Options)) {
      JobVariant V;
      V.Setting.Cap = Cap;
      V.CloneName = cloneName(K.Traced.Kernel, V);
      K.Variants.push_back(std::move(V));
    }
  }
}

using CloneFailures = llvm::StringMap<std::string>;

llvm::Expected<Assembled> assembleClones(const ParsedModule &M, llvm::ArrayRef<CloneRequest> Clones,
                                         const JobContext &Context) {
  llvm::Expected<std::string> Text = M.Ptx.withClones(Clones);
  if (!Text)
    return Text.takeError();
  return assemble(Context.T, Context.Runner, *Text, M.Image.PtxasOptions, M.Image.PtxName);
}

/// The module with all \p Clones that ptxas accepts; the others are put into \p Failures.
llvm::Expected<Assembled> assembleModule(const ParsedModule &M, std::vector<CloneRequest> Clones,
                                         const JobContext &Context, CloneFailures &Failures) {
  llvm::Expected<Assembled> Whole = assembleClones(M, Clones, Context);
  if (Whole || Clones.empty())
    return Whole;
  logLine(M.Source.Output + ": " + llvm::toString(Whole.takeError()));
  llvm::erase_if(Clones, [&](const CloneRequest &C) {
    llvm::Expected<Assembled> Alone = assembleClones(M, C, Context);
    if (Alone)
      return false;
    Failures[C.CloneName] = llvm::toString(Alone.takeError());
    return true;
  });
  return assembleClones(M, Clones, Context);
}

std::vector<CloneRequest> clonesOf(const JobModule &Module, const TuningJob &Job) {
  std::vector<CloneRequest> Clones;
  for (size_t K : Module.Kernels)
    for (const JobVariant &V : llvm::drop_begin(Job.Kernels[K].Variants))
      Clones.push_back({Job.Kernels[K].Traced.Kernel, V.CloneName, {V.Setting.Cap}});
  return Clones;
}

/// Fills in what the assembled \p Cubin says of the variants of its kernels.
void takeResources(const Cubin &Image, const Assembled &A, const JobModule &Module,
                   TuningJob &Job) {
  llvm::StringMap<const KernelResources *> Reported;
  for (const KernelResources &R : A.Kernels)
    Reported[R.Name] = &R;
  llvm::StringMap<const CubinKernel *> Compiled;
  for (const CubinKernel &K : Image.Kernels)
    Compiled[K.Resources.Name] = &K;
  for (size_t K : Module.Kernels)
    for (JobVariant &V : Job.Kernels[K].Variants) {
      auto C = Compiled.find(V.CloneName);
      if (C == Compiled.end())
        continue;
      V.CodeDigest = C->second->CodeDigest;
      auto R = Reported.find(V.CloneName);
      V.Resources = R == Reported.end() ? C->second->Resources : *R->second;
    }
}

/// Drops what cannot or need not be timed.
void dropVariants(JobKernel &K, const CloneFailures &Failures, const TuningJob &Job) {
  std::vector<JobVariant> Kept;
  for (JobVariant &V : K.Variants) {
    if (V.Setting.isDefault()) {
      Kept.push_back(std::move(V));
      continue;
    }
    std::string Name = "r" + std::to_string(*V.Setting.Cap) + ": ";
    auto Failure = Failures.find(V.CloneName);
    if (Failure != Failures.end() || V.CodeDigest.empty()) {
      K.Dropped.push_back(Name + (Failure == Failures.end() ? "not assembled" : Failure->second));
      continue;
    }
    auto Same =
        llvm::find_if(Kept, [&](const JobVariant &Old) { return Old.CodeDigest == V.CodeDigest; });
    if (Same != Kept.end()) {
      K.Dropped.push_back(Name + "same code as " +
                          (Same->Setting.Cap ? "r" + std::to_string(*Same->Setting.Cap)
                                             : std::string("the default")));
      continue;
    }
    if (auto Reason = forbidden(K, V, Job)) {
      K.Dropped.push_back(Name + *Reason);
      continue;
    }
    Kept.push_back(std::move(V));
  }
  K.Variants = std::move(Kept);
}

} // namespace

void carve::makeKernelVariants(const std::vector<ParsedModule> &Parsed, TuningJob &Job,
                               const JobContext &Context) {
  planVariants(Parsed, Job, Context);
  std::vector<const ParsedModule *> Wanted(Job.Modules.size(), nullptr);
  for (const ParsedModule &M : Parsed)
    if (M.InJob)
      Wanted[*M.InJob] = &M;
  std::vector<llvm::Expected<Assembled>> Modules;
  std::vector<CloneFailures> Failures(Wanted.size());
  for (size_t M = 0; M < Wanted.size(); ++M)
    Modules.emplace_back(Assembled());
  runInParallel(Wanted.size(), [&](size_t M) {
    Modules[M] = assembleModule(*Wanted[M], clonesOf(Job.Modules[M], Job), Context, Failures[M]);
  });

  CloneFailures All;
  for (size_t M = 0; M < Wanted.size(); ++M) {
    for (const auto &F : Failures[M])
      All[F.first()] = F.second;
    llvm::Expected<Cubin> Image =
        Modules[M] ? parseCubin(Modules[M]->CubinBytes) : Modules[M].takeError();
    if (!Image) {
      logLine(Wanted[M]->Source.Output + ": " + llvm::toString(Image.takeError()));
      continue;
    }
    Job.VariantsAssembled += clonesOf(Job.Modules[M], Job).size();
    takeResources(*Image, *Modules[M], Job.Modules[M], Job);
    Job.Modules[M].Cubin = std::move(Modules[M]->CubinBytes);
  }
  for (JobKernel &K : Job.Kernels)
    dropVariants(K, All, Job);
}
