#include "Tune/Variants/JoinedModules.h"

#include "Cubin/Cubin.h"
#include "Cubin/JoinKernels.h"
#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

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

bool JoinedModules::takes(size_t Kernel) const {
  const JobKernel &K = Job.Kernels[Kernel];
  JobVariant Control;
  Control.CloneName = cloneName(K.Traced.Kernel, {});
  const size_t Module = K.Modules.front();
  llvm::Expected<std::vector<CompiledClone>> Clones =
      Compiler.compiledClones(Module, Kernel, Control);
  llvm::Expected<std::string> Own = Clones ? ownImage(Module) : Clones.takeError();
  llvm::Expected<Assembled> Made = Own ? joined(*Own, *Clones) : Own.takeError();
  if (!Made)
    llvm::consumeError(Made.takeError());
  return Made && K.Modules.size() == 1;
}
