// All variants of a unit that are timed together are in one module.
//
// The module is joined from what was compiled for each variant. Where that is not possible, it is
// assembled in one run of ptxas, and in one more for each setting of the assembler that clones
// have. If that fails, the clones are found that are refused alone, so that one failure costs one
// variant.

#include "Tune/Variants/KernelVariants.h"

#include "Cubin/Assembler.h"
#include "Cubin/Cubin.h"
#include "Search/VariantEdit.h"
#include "Support/Bisection.h"
#include "Support/Error.h"
#include "Support/Log.h"
#include "Support/Parallel.h"

#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace carve;

namespace {

/// The reasons why clones are not in a module, by the names of the clones.
using CloneFailures = llvm::StringMap<std::string>;

/// A module with its clones, or why there is none.
struct AssembledModule {
  Assembled Image;
  Cubin Read;
  CloneFailures Failures;
  std::string Failure; ///< Why there is no image; empty if there is one.
};

std::vector<AssembledClone> clonesOf(size_t Module, const VariantCompiler &Compiler,
                                     const TuningJob &Job, const JobBuild &Built,
                                     CloneFailures &Failures) {
  std::vector<AssembledClone> Clones;
  for (size_t K : Job.Modules[Module].Kernels)
    for (const JobVariant &V : llvm::drop_begin(Built.Kernels[K].Variants)) {
      if (!V.InModule)
        continue;
      llvm::Expected<std::vector<AssembledClone>> Own = Compiler.clones(Module, K, V);
      if (Own)
        llvm::append_range(Clones, std::move(*Own));
      else
        Failures[V.CloneName] = llvm::toString(Own.takeError());
    }
  return Clones;
}

/// Assembles the module with \p Clones. Those that were assembled and do not fit are added to \p
/// Unfit: they are in the image, but are not what their settings say.
llvm::Expected<Assembled> assembleClones(const ParsedModule &M,
                                         llvm::ArrayRef<AssembledClone> Clones,
                                         const JobContext &Context, UnfitKernels &Unfit) {
  std::vector<CloneRequest> Requests;
  std::map<std::string, AssemblerSetting> Settings;
  for (const AssembledClone &C : Clones) {
    Requests.push_back(C.Request);
    Settings[C.Request.CloneName] = C.Assembler;
  }
  llvm::Expected<std::string> Text = M.Ptx.withClones(Requests);
  if (!Text)
    return Text.takeError();
  std::vector<std::string> Options = onAllCores(M.Image.PtxasOptions);
  return assembleMixed(Context.T, Context.Runner, *Text, Options,
                       reassembledKernels(Settings, Options), M.Image.PtxName, &Unfit);
}

/// Those of \p Clones with which the module of \p M cannot be assembled, by their place, and why.
/// \p Message is of the attempt with all of them. The clones that it names are tried first, because
/// each attempt assembles the whole module.
std::map<size_t, std::string> refusedOf(const ParsedModule &M,
                                        llvm::ArrayRef<AssembledClone> Clones,
                                        llvm::StringRef Message, const JobContext &Context) {
  std::vector<std::string> Why(Clones.size());
  auto Fails = [&](llvm::ArrayRef<size_t> Places) {
    UnfitKernels Unfit; // They do not make it fail.
    llvm::Expected<Assembled> A = assembleClones(
        M, llvm::map_to_vector(Places, [&](size_t I) { return Clones[I]; }), Context, Unfit);
    if (A)
      return false;
    Why[Places.front()] = llvm::toString(A.takeError());
    return true;
  };
  std::vector<size_t> Named, Refused;
  for (size_t I = 0; I < Clones.size(); ++I)
    if (Message.contains(Clones[I].Request.CloneName))
      Named.push_back(I);
  for (size_t I : Named)
    if (Fails(I))
      Refused.push_back(I);
  if (Refused.empty())
    Refused = findFailing(Clones.size(), Fails);
  std::map<size_t, std::string> Found;
  for (size_t I : Refused)
    Found[I] = std::move(Why[I]);
  return Found;
}

/// Assembles the module with all \p Clones that ptxas accepts, and adds the others to \p Failures.
/// Fails if ptxas refuses the module with the accepted clones, too.
llvm::Expected<Assembled> assembleAccepted(const ParsedModule &M,
                                           std::vector<AssembledClone> Clones,
                                           const JobContext &Context, CloneFailures &Failures) {
  for (;;) {
    UnfitKernels Unfit;
    llvm::Expected<Assembled> Whole = assembleClones(M, Clones, Context, Unfit);
    if (Whole || Clones.empty()) {
      for (auto &[Clone, Why] : Unfit)
        Failures[Clone] = std::move(Why);
      return Whole;
    }
    llvm::Error Failure = Whole.takeError();
    std::string Message;
    llvm::raw_string_ostream(Message) << Failure;
    logLine(M.Source.Output + ": " + Message);
    std::map<size_t, std::string> Refused = refusedOf(M, Clones, Message, Context);
    if (Refused.empty())
      return Failure;
    llvm::consumeError(std::move(Failure));
    std::vector<AssembledClone> Accepted;
    for (size_t I = 0; I < Clones.size(); ++I)
      if (auto R = Refused.find(I); R == Refused.end())
        Accepted.push_back(std::move(Clones[I]));
      else
        Failures[Clones[I].Request.CloneName] = std::move(R->second);
    Clones = std::move(Accepted);
  }
}

AssembledModule readModule(llvm::Expected<Assembled> Image, CloneFailures Failures) {
  AssembledModule Made;
  Made.Failures = std::move(Failures);
  llvm::Expected<Cubin> Read = Image ? parseCubin(Image->CubinBytes) : Image.takeError();
  if (!Read) {
    Made.Failure = llvm::toString(Read.takeError());
    return Made;
  }
  Made.Image = std::move(*Image);
  Made.Read = std::move(*Read);
  return Made;
}

/// Sets the resources and code digests of the variants of \p Module 's kernels from \p Made.
void takeResources(const AssembledModule &Made, const JobModule &Module, JobBuild &Built) {
  llvm::StringMap<const KernelResources *> Reported;
  for (const KernelResources &R : Made.Image.Kernels)
    Reported[R.Name] = &R;
  llvm::StringMap<const CubinKernel *> Compiled;
  for (const CubinKernel &K : Made.Read.Kernels)
    Compiled[K.Resources.Name] = &K;
  // What is set is of a code or of a variant with one code.
  auto Take = [&](auto &Code) {
    auto C = Compiled.find(Code.CloneName);
    if (C == Compiled.end())
      return;
    if (!Code.CodeDigest.empty() && Code.CodeDigest != C->second->CodeDigest)
      logLine(Code.CloneName + ": other code in the whole module than by itself");
    Code.CodeDigest = C->second->CodeDigest;
    auto R = Reported.find(Code.CloneName);
    Code.Resources = R == Reported.end() ? C->second->Resources : *R->second;
  };
  for (size_t K : Module.Kernels)
    for (JobVariant &V : Built.Kernels[K].Variants) {
      if (!V.InModule)
        continue;
      if (V.Codes.empty()) {
        Take(V);
        continue;
      }
      for (GuardedCode &C : V.Codes)
        Take(C);
      summarizeCodes(V);
    }
}

void unmark(KernelBuild &K, JobVariant &V, const std::string &Why) {
  V.InModule = false;
  if (!V.Setting.isDefault())
    K.Dropped.push_back(nameOf(V) + ": " + Why);
}

/// Removes the marks of variants that are not in the module. If a kernel's control copy is missing,
/// all its variants lose their marks.
void unmarkFailed(const AssembledModule &Made, const JobModule &Module, JobBuild &Built) {
  for (size_t Index : Module.Kernels) {
    KernelBuild &K = Built.Kernels[Index];
    for (JobVariant &V : K.Variants) {
      auto Failure = Made.Failures.find(V.CloneName);
      for (const GuardedCode &C : V.Codes)
        if (Failure == Made.Failures.end())
          Failure = Made.Failures.find(C.CloneName);
      bool Failed = !Made.Failure.empty() || Failure != Made.Failures.end();
      if (V.InModule && Failed)
        unmark(K, V, Made.Failure.empty() ? Failure->second : Made.Failure);
    }
    if (K.Variants.size() > ControlPlace && !K.Variants[ControlPlace].InModule)
      for (JobVariant &V : K.Variants)
        if (V.InModule)
          unmark(K, V, "the control copy was not assembled");
  }
}

} // namespace

void carve::assembleVariants(const TuningJob &Job, VariantCompiler &Compiler,
                             const JoinedModules &Joined, const JobSources &Sources,
                             const JobContext &Context, JobBuild &Built) {
  Compiler.prepareMarked();
  std::vector<size_t> Wanted;
  for (size_t M = 0; M < Job.Modules.size(); ++M) {
    Built.Modules[M].Cubin.clear();
    if (Built.times(Job.Modules[M]))
      Wanted.push_back(M);
  }
  std::vector<AssembledModule> Made(Wanted.size());
  runInParallel(Wanted.size(), [&](size_t I) {
    const ParsedModule &M = Sources.of(Wanted[I]);
    CloneFailures Failures;
    UnfitKernels Unfit;
    llvm::Expected<Assembled> Image = Joined.join(Wanted[I], Built, Unfit);
    for (auto &[Clone, Why] : Unfit)
      Failures[Clone] = "not joined: " + Why;
    if (!Image) {
      Failures.clear();
      logLine(M.Source.Output + ": is assembled: " + llvm::toString(Image.takeError()));
      std::vector<AssembledClone> Clones = clonesOf(Wanted[I], Compiler, Job, Built, Failures);
      Image = assembleAccepted(M, std::move(Clones), Context, Failures);
    }
    Made[I] = readModule(std::move(Image), std::move(Failures));
  });
  for (size_t I = 0; I < Wanted.size(); ++I) {
    const JobModule &M = Job.Modules[Wanted[I]];
    if (!Made[I].Failure.empty())
      logLine(M.Source.Output + ": " + Made[I].Failure);
    unmarkFailed(Made[I], M, Built);
    takeResources(Made[I], M, Built);
    Built.Modules[Wanted[I]].Cubin = std::move(Made[I].Image.CubinBytes);
  }
}
