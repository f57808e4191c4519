#include "Tune/WholeRuns/JobImages.h"

#include "Cubin/Cubin.h"
#include "Cubin/ExchangeNames.h"
#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace carve;

/// Returns \p Cubin with the variants of \p A under their kernels' own names, for the kernels of
/// \p Modules.
static llvm::Expected<std::string> withVariants(const TuningJob &Job, const JobBuild &Built,
                                                llvm::StringRef Cubin,
                                                llvm::ArrayRef<size_t> Modules,
                                                const Assignment &A) {
  std::map<std::string, std::string> Pairs; // Several modules of a link may have the same template.
  for (size_t M : Modules)
    for (size_t K : Job.Modules[M].Kernels)
      if (A[K] != 0 && !Built.Modules[M].Cubin.empty()) {
        const JobVariant &V = Built.Kernels[K].Variants[A[K]];
        if (V.OnlyTimed)
          return malformed(V.CloneName + " computes something else than its kernel");
        // The probe launches such a clone itself, where its guard holds.
        if (!isDispatched(V))
          Pairs[Job.Kernels[K].Traced.Kernel] = V.CloneName;
      }
  std::vector<std::pair<std::string, std::string>> List(Pairs.begin(), Pairs.end());
  return exchangeKernelNames(Cubin, List);
}

/// The image of module number \p Module with the variants of \p A.
static llvm::Expected<std::string> imageOf(const TuningJob &Job, const JobBuild &Built,
                                           TuningScope Scope, size_t Module, const Assignment &A) {
  const ModuleBuild &M = Built.Modules[Module];
  if (Scope == TuningScope::File)
    return M.FileVariants[A[Module]].Cubin;
  return withVariants(Job, Built, M.Cubin, Module, A);
}

llvm::Expected<ImageMap> carve::placeImages(const TuningJob &Job, const JobBuild &Built,
                                            TuningScope Scope, const Assignment &A,
                                            const std::string &Dir) {
  ImageMap Images;
  if (A.empty())
    return Images;
  auto Place = [&](llvm::Expected<std::string> Bytes, const std::string &Name,
                   llvm::ArrayRef<std::string> Containers) -> llvm::Error {
    if (!Bytes)
      return Bytes.takeError();
    std::string Path = Dir + "/" + Name + ".cubin";
    for (const std::string &Container : Containers)
      Images[Container] = Path;
    return writeFileAtomically(Path, *Bytes);
  };
  for (size_t M = 0; M < Job.Modules.size(); ++M) {
    const JobModule &Module = Job.Modules[M];
    if (Built.Modules[M].Cubin.empty() || Module.Source.Relocatable)
      continue;
    std::vector<std::string> Containers = Module.Source.Containers;
    for (const Unit &Twin : Module.Twins)
      llvm::append_range(Containers, Twin.Containers);
    if (llvm::Error E = Place(imageOf(Job, Built, Scope, M, A), std::to_string(M), Containers))
      return E;
  }
  for (size_t L = 0; L < Built.Links.size(); ++L) {
    const JobLink &Link = Built.Links[L];
    if (llvm::Error E = Place(withVariants(Job, Built, Link.Cubin, Link.Modules, A),
                              "link-" + std::to_string(L), Link.Source.Containers))
      return E;
  }
  return Images;
}
