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

/// The default of \p Kernel as compile() has made it, under the name \p Name.
llvm::Expected<CompiledClone> JoinedModules::compiledDefault(size_t Module, size_t Kernel,
                                                             std::string Name) const {
  JobVariant Default;
  Default.CloneName = std::move(Name);
  llvm::Expected<std::vector<CompiledClone>> Made =
      Compiler.compiledClones(Module, Kernel, Default);
  if (!Made)
    return Made.takeError();
  return std::move(Made->front());
}

/// Adds \p Clones to \p Own.
static llvm::Expected<Assembled> joined(llvm::StringRef Own, llvm::ArrayRef<CompiledClone> Clones) {
  std::vector<JoinedKernel> Added;
  Assembled Made;
  for (const CompiledClone &C : Clones) {
    Added.push_back(C.Code);
    Made.Kernels.push_back(C.Resources);
  }
  llvm::Expected<std::string> Bytes = joinKernels(Own, Added);
  if (!Bytes)
    return Bytes.takeError();
  Made.CubinBytes = std::move(*Bytes);
  // It is new code that writes these images, so they are read once more.
  llvm::Expected<Cubin> Read = parseCubin(Made.CubinBytes);
  if (!Read)
    return Read.takeError();
  llvm::StringMap<std::string> Digests;
  for (const CubinKernel &K : Read->Kernels)
    Digests[K.Resources.Name] = K.CodeDigest;
  for (const CompiledClone &C : Clones)
    if (Digests.lookup(C.Code.Name) != C.CodeDigest)
      return malformed("cubin: " + C.Code.Name + " has other code than by itself");
  return Made;
}

llvm::Expected<Assembled> JoinedModules::join(size_t Module, const JobBuild &Built) const {
  llvm::Expected<std::string> Own = ownImage(Module);
  if (!Own)
    return Own.takeError();
  std::vector<CompiledClone> Clones;
  std::vector<KernelResources> Defaults;
  for (size_t K : Job.Modules[Module].Kernels) {
    for (const JobVariant &V : llvm::drop_begin(Built.Kernels[K].Variants)) {
      if (!V.InModule)
        continue;
      llvm::Expected<std::vector<CompiledClone>> Made = Compiler.compiledClones(Module, K, V);
      if (!Made)
        return Made.takeError();
      llvm::append_range(Clones, std::move(*Made));
    }
    if (Built.Kernels[K].timedTogether() == 0)
      continue;
    llvm::Expected<CompiledClone> Default =
        compiledDefault(Module, K, Job.Kernels[K].Traced.Kernel);
    if (!Default)
      return Default.takeError();
    Defaults.push_back(std::move(Default->Resources));
  }
  llvm::Expected<Assembled> Made = joined(*Own, Clones);
  if (Made) // The image does not tell what ptxas has reported, such as what it spills.
    llvm::append_range(Made->Kernels, std::move(Defaults));
  return Made;
}

/// Whether the defaults of \p Kernels can be added to \p Module, as their control copies.
bool JoinedModules::takes(size_t Module, llvm::ArrayRef<size_t> Kernels) const {
  std::vector<JoinedKernel> Added;
  for (size_t K : Kernels) {
    llvm::Expected<CompiledClone> Control =
        compiledDefault(Module, K, cloneName(Job.Kernels[K].Traced.Kernel, {}));
    if (!Control) {
      llvm::consumeError(Control.takeError());
      return false;
    }
    Added.push_back(Control->Code);
  }
  llvm::Expected<std::string> Own = ownImage(Module);
  llvm::Expected<std::string> Joined = Own ? joinKernels(*Own, Added) : Own.takeError();
  if (!Joined)
    llvm::consumeError(Joined.takeError());
  return bool(Joined);
}

std::set<size_t> JoinedModules::joining(const std::set<size_t> &Kernels) const {
  std::map<size_t, std::vector<size_t>> ByModule;
  for (size_t K : Kernels)
    if (Job.Kernels[K].Modules.size() == 1)
      ByModule[Job.Kernels[K].Modules.front()].push_back(K);
  std::set<size_t> Joining;
  for (const auto &[Module, Its] : ByModule)
    if (takes(Module, Its))
      Joining.insert(Its.begin(), Its.end());
  return Joining;
}
