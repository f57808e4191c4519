#include "Tune/Variants/JoinedModules.h"

#include "Cubin/Cubin.h"
#include "Cubin/JoinKernels.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <map>

using namespace carve;

llvm::Expected<std::string> JoinedModules::ownImage(size_t Module) const {
  const std::string &Digest = Sources.of(Module).Image.CubinDigest;
  if (Digest.empty())
    return unsupported("ptx-alone", "the driver compiles the program's PTX");
  return Context.Store.blob(Digest);
}

static std::vector<JoinedKernel> kernelsOf(llvm::ArrayRef<CompiledClone> Clones) {
  std::vector<JoinedKernel> Kernels;
  for (const CompiledClone &C : Clones)
    Kernels.push_back(C.Code);
  return Kernels;
}

/// Why the clones of some images cannot be added to \p Own, by the clones' names.
static UnfitKernels unfitOf(llvm::StringRef Own, llvm::ArrayRef<CompiledClone> Clones) {
  std::map<const char *, std::vector<CompiledClone>> ByImage; // By where its bytes are.
  for (const CompiledClone &C : Clones)
    ByImage[C.Code.Image.data()].push_back(C);
  UnfitKernels Unfit;
  for (const auto &[Image, Its] : ByImage)
    if (llvm::Expected<std::string> Alone = joinKernels(Own, kernelsOf(Its)); !Alone) {
      std::string Why = llvm::toString(Alone.takeError());
      for (const CompiledClone &C : Its)
        Unfit[C.Code.Name] = Why;
    }
  return Unfit;
}

/// Returns \p Own with those of \p Clones that fit, and moves the others to \p Unfit. Fails as
/// joinKernels() does if more than a quarter of them do not fit, or one of \p Needed.
static llvm::Expected<std::string> joinFitting(llvm::StringRef Own,
                                               std::vector<CompiledClone> &Clones,
                                               const std::set<std::string> &Needed,
                                               UnfitKernels &Unfit) {
  llvm::Expected<std::string> All = joinKernels(Own, kernelsOf(Clones));
  if (All)
    return All;
  UnfitKernels Some = unfitOf(Own, Clones);
  if (Some.empty() || 4 * Some.size() > Clones.size() ||
      llvm::any_of(Some, [&](const auto &Entry) { return Needed.count(Entry.first); }))
    return All;
  llvm::consumeError(All.takeError());
  llvm::erase_if(Clones, [&](const CompiledClone &C) { return Some.count(C.Code.Name); });
  Unfit.merge(Some);
  return joinKernels(Own, kernelsOf(Clones));
}

/// Fails if a kernel of \p Image has other code or registers than \p Clones say.
static llvm::Error checkCodes(llvm::StringRef Image, llvm::ArrayRef<CompiledClone> Clones) {
  llvm::Expected<Cubin> Read = parseCubin(Image);
  if (!Read)
    return Read.takeError();
  llvm::StringMap<const CubinKernel *> Kernels;
  for (const CubinKernel &K : Read->Kernels)
    Kernels[K.Resources.Name] = &K;
  for (const CompiledClone &C : Clones)
    if (const CubinKernel *K = Kernels.lookup(C.Code.Name);
        !K || K->CodeDigest != C.CodeDigest ||
        K->Resources.RegsPerThread != C.Resources.RegsPerThread)
      return unsupported("other-code", C.Code.Name + " is not what it is by itself");
  return llvm::Error::success();
}

llvm::Expected<Assembled> JoinedModules::join(size_t Module, const JobBuild &Built,
                                              UnfitKernels &Unfit) const {
  llvm::Expected<std::string> Own = ownImage(Module);
  if (!Own)
    return Own.takeError();
  std::vector<CompiledClone> Clones, Defaults;
  std::set<std::string> Controls;
  auto Add = [&](llvm::Expected<std::vector<CompiledClone>> Made,
                 std::vector<CompiledClone> &To) -> llvm::Error {
    if (!Made)
      return Made.takeError();
    llvm::append_range(To, std::move(*Made));
    return llvm::Error::success();
  };
  for (size_t K : Job.Modules[Module].Kernels) {
    const KernelBuild &Kernel = Built.Kernels[K];
    if (Kernel.timedTogether() == 0)
      continue;
    Controls.insert(Kernel.Variants[ControlPlace].CloneName);
    if (llvm::Error E =
            Add(Compiler.compiledClones(Module, K, Kernel.Variants[DefaultPlace]), Defaults))
      return E;
    for (const JobVariant &V : llvm::drop_begin(Kernel.Variants))
      if (V.InModule)
        if (llvm::Error E = Add(Compiler.compiledClones(Module, K, V), Clones))
          return E;
  }
  llvm::Expected<std::string> Bytes = joinFitting(*Own, Clones, Controls, Unfit);
  if (!Bytes)
    return Bytes.takeError();
  llvm::append_range(Clones, std::move(Defaults));
  if (llvm::Error E = checkCodes(*Bytes, Clones))
    return E;
  Assembled Made{std::move(*Bytes), {}};
  // The image does not tell all that ptxas has reported, such as what a kernel spills.
  for (CompiledClone &C : Clones)
    Made.Kernels.push_back(std::move(C.Resources));
  return Made;
}

/// Whether the settings \p Compiled of kernels of \p Module can be added to it, with the kernels'
/// control copies.
bool JoinedModules::takes(size_t Module, llvm::ArrayRef<SettingRequest> Compiled) const {
  std::vector<SettingRequest> Wanted;
  std::set<std::string> Controls;
  for (const SettingRequest &R : Compiled) {
    const JobKernel &K = Job.Kernels[R.Kernel];
    if (K.Modules.front() != Module)
      return false;
    if (Controls.insert(cloneName(K.Traced.Kernel, {})).second)
      Wanted.push_back({R.Kernel, {}});
    if (!R.Setting.isDefault())
      Wanted.push_back(R);
  }
  std::vector<CompiledClone> Clones;
  for (const SettingRequest &R : Wanted) {
    llvm::Expected<std::vector<CompiledClone>> Its = Compiler.compiledClones(Module, R);
    if (Its) {
      llvm::append_range(Clones, std::move(*Its));
      continue;
    }
    llvm::consumeError(Its.takeError());
    if (R.Setting.isDefault())
      return false;
    // It failed to compile, and will not be added.
  }
  llvm::Expected<std::string> Own = ownImage(Module);
  UnfitKernels Unfit;
  llvm::Expected<std::string> Joined =
      Own ? joinFitting(*Own, Clones, Controls, Unfit) : Own.takeError();
  if (!Joined)
    llvm::consumeError(Joined.takeError());
  return bool(Joined);
}

std::set<size_t> JoinedModules::joining(llvm::ArrayRef<SettingRequest> Compiled) const {
  std::map<size_t, std::vector<SettingRequest>> ByModule;
  for (const SettingRequest &R : Compiled)
    for (size_t M : Job.Kernels[R.Kernel].Modules)
      ByModule[M].push_back(R);
  std::set<size_t> Joined, Kernels;
  for (const auto &[Module, Its] : ByModule)
    if (takes(Module, Its))
      Joined.insert(Module);
  for (const SettingRequest &R : Compiled)
    if (llvm::all_of(Job.Kernels[R.Kernel].Modules, [&](size_t M) { return Joined.count(M); }))
      Kernels.insert(R.Kernel);
  return Kernels;
}
