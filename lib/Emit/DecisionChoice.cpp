#include "Emit/DecisionChoice.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>

using namespace carve;

/// Returns the digest of a decision for this kernel if it had been timed with \p Toolkit,
/// \p Options and \p Origin.
static std::string digestOf(const KernelState &Now, llvm::StringRef Toolkit,
                            llvm::ArrayRef<std::string> Options, ImageOrigin Origin) {
  return decisionDigest(Now.KernelDigest, Now.Arch, Toolkit, Options, Origin);
}

std::optional<std::string> carve::whyStale(const Decision &D, const KernelState &Now) {
  if (!D.Digest || *D.Digest == digestOf(Now, Now.NvccVersion, Now.PtxasOptions, Now.Origin))
    return std::nullopt;
  if (!D.Basis || D.Basis->Toolkit.empty() || D.Basis->Options.empty())
    return "stale: the kernel, the toolkit or the options changed since it was timed";
  const Evidence &E = *D.Basis;
  std::vector<std::string> Changes;
  if (E.Toolkit != Now.NvccVersion)
    Changes.push_back("timed with toolkit " + E.Toolkit + ", this is " + Now.NvccVersion);
  if (llvm::ArrayRef<std::string>(E.Options) != Now.PtxasOptions)
    Changes.push_back("timed with ptxas options '" + llvm::join(E.Options, " ") + "', these are '" +
                      llvm::join(Now.PtxasOptions, " ") + "'");
  ImageOrigin Other =
      Now.Origin == ImageOrigin::Compiled ? ImageOrigin::FromPtx : ImageOrigin::Compiled;
  if (*D.Digest == digestOf(Now, E.Toolkit, E.Options, Other))
    Changes.push_back(Other == ImageOrigin::FromPtx
                          ? "timed in an object that had only PTX for the device"
                          : "timed in an object that had an image for the device");
  else if (*D.Digest != digestOf(Now, E.Toolkit, E.Options, Now.Origin))
    Changes.push_back("the kernel's code changed");
  return "stale: " + llvm::join(Changes, "; ");
}

bool carve::isOfSamePtx(const Decision &D, const KernelState &Now) {
  return D.Digest && D.Basis &&
         llvm::any_of(
             std::array{ImageOrigin::Compiled, ImageOrigin::FromPtx}, [&](ImageOrigin Origin) {
               return *D.Digest == digestOf(Now, D.Basis->Toolkit, D.Basis->Options, Origin);
             });
}

DecisionChoice carve::chooseDecision(llvm::ArrayRef<const Profile *> Profiles,
                                     llvm::StringRef KernelName, llvm::StringRef Mangled,
                                     const KernelState &Now) {
  DecisionChoice Choice;
  for (const Profile *P : Profiles)
    for (const Decision *D : P->candidates(KernelName, Mangled, Now.Arch)) {
      std::optional<std::string> Stale = whyStale(*D, Now);
      if (!Stale) {
        Choice.Chosen = D;
        return Choice;
      }
      Choice.Ignored.push_back({D, P, std::move(*Stale)});
    }
  return Choice;
}

std::string carve::nearestText(const Decision &D, llvm::ArrayRef<KernelIdentity> Kernels) {
  std::vector<std::string> Names;
  for (const KernelIdentity &K : Kernels)
    Names.push_back(K.Name);
  std::vector<std::string> Nearest = nearestNames(D.Kernel, Names);
  return Nearest.empty() ? "" : "; did you mean '" + llvm::join(Nearest, "' or '") + "'?";
}

std::vector<IgnoredDecision> carve::foreignDecisions(llvm::ArrayRef<const Profile *> Profiles,
                                                     llvm::ArrayRef<KernelIdentity> Kernels,
                                                     llvm::ArrayRef<std::string> Archs) {
  std::vector<IgnoredDecision> Foreign;
  for (const Profile *P : Profiles)
    for (const Decision &D : P->Kernels)
      if (llvm::none_of(Kernels,
                        [&](const KernelIdentity &K) { return matchOf(D, K) != NameMatch::None; }))
        Foreign.push_back(
            {&D, P,
             "foreign: names no kernel of this unit" + (D.Digest ? "" : nearestText(D, Kernels))});
      else if (!D.Arch.empty() && !llvm::is_contained(Archs, D.Arch))
        Foreign.push_back({&D, P,
                           "foreign: this unit is compiled for " +
                               (Archs.empty() ? "PTX alone" : llvm::join(Archs, ", "))});
  return Foreign;
}

std::string carve::ignoredText(const IgnoredDecision &I) {
  std::string Text = I.From->Name.empty() ? "decision" : I.From->Name + ": decision";
  Text += " for " + I.Entry->Kernel;
  if (!I.Entry->Arch.empty())
    Text += " on " + I.Entry->Arch;
  return Text + " ignored: " + I.Reason;
}
