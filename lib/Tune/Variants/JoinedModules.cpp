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
  for (size_t K : Job.Modules[Module].Kernels)
    for (const JobVariant &V : llvm::drop_begin(Built.Kernels[K].Variants)) {
      if (!V.InModule)
        continue;
      llvm::Expected<std::vector<CompiledClone>> Made = Compiler.compiledClones(Module, K, V);
      if (!Made)
        return Made.takeError();
      llvm::append_range(Clones, std::move(*Made));
    }
  return joined(*Own, Clones);
}

/// Whether the defaults of \p Kernels can be added to \p Module, as their control copies.
bool JoinedModules::join(size_t Module, llvm::ArrayRef<size_t> Kernels) const {
  std::vector<JoinedKernel> Added;
  for (size_t K : Kernels) {
    JobVariant Control;
    Control.CloneName = cloneName(Job.Kernels[K].Traced.Kernel, {});
    llvm::Expected<std::vector<CompiledClone>> Clones = Compiler.compiledClones(Module, K, Control);
    if (!Clones) {
      llvm::consumeError(Clones.takeError());
      return false;
    }
    Added.push_back(Clones->front().Code);
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
    if (join(Module, Its))
      Joining.insert(Its.begin(), Its.end());
  return Joining;
}
