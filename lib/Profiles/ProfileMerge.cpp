#include "Profiles/ProfileMerge.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <tuple>

using namespace carve;

namespace {

/// An entry with the profile that it comes from.
struct Origin {
  const Decision *Entry;
  const Profile *From;
};

using Key = std::tuple<std::string, std::string, std::optional<std::string>>;

/// Returns an error that names what both profiles say, so that a person can resolve it.
llvm::Error contradiction(const llvm::Twine &What, const Profile &A, const llvm::Twine &InA,
                          const Profile &B, const llvm::Twine &InB) {
  return malformed(What + ": " + InA + " in " + A.Name + ", " + InB + " in " + B.Name);
}

/// True if the evidence of \p A is better. Equal evidence is compared as text, so that the order of
/// profiles never matters.
bool better(const Decision &A, const Decision &B) {
  auto Rank = [](const Decision &D) {
    return std::tuple(D.Basis.has_value(), D.Basis ? D.Basis->Pairs : 0u,
                      D.Basis ? D.Basis->Date : std::string(), printDecision(D));
  };
  return Rank(A) > Rank(B);
}

bool decidesKernels(const Profile &P) {
  return !P.FileCap && llvm::any_of(P.Kernels, [](const Decision &D) { return !D.isDefault(); });
}

llvm::Error checkFileCaps(llvm::ArrayRef<Profile> Profiles) {
  const Profile *Capped = nullptr;
  for (const Profile &P : Profiles) {
    if (!P.FileCap)
      continue;
    if (Capped && *Capped->FileCap != *P.FileCap)
      return contradiction("file-cap", *Capped, llvm::Twine(*Capped->FileCap), P,
                           llvm::Twine(*P.FileCap));
    Capped = &P;
  }
  if (!Capped)
    return llvm::Error::success();
  // A file cap overrides the settings of kernels.
  for (const Profile &P : Profiles)
    if (decidesKernels(P))
      return contradiction("file-cap", *Capped, llvm::Twine(*Capped->FileCap), P,
                           "decisions for kernels");
  return llvm::Error::success();
}

} // namespace

llvm::Expected<Profile> carve::mergeProfiles(llvm::ArrayRef<Profile> Profiles) {
  if (llvm::Error E = checkFileCaps(Profiles))
    return E;
  Profile Merged;
  std::map<Key, Origin> ByKey;
  for (const Profile &P : Profiles) {
    if (P.FileCap)
      Merged.FileCap = P.FileCap;
    for (const Decision &D : P.Kernels) {
      auto [At, New] = ByKey.try_emplace(Key(D.Kernel, D.Arch, D.Digest), Origin{&D, &P});
      if (New)
        continue;
      const auto &[Known, From] = At->second;
      if (!D.Digest && (Known->Variant != D.Variant || Known->Entries != D.Entries))
        return contradiction("kernel '" + D.Kernel + "' for " +
                                 (D.Arch.empty() ? "any architecture" : llvm::StringRef(D.Arch)) +
                                 " is pinned by hand",
                             *From, decisionText(*Known), P, decisionText(D));
      if (better(D, *Known))
        At->second = {&D, &P};
    }
  }
  for (const auto &[Key, From] : ByKey)
    Merged.Kernels.push_back(*From.Entry);
  return Merged;
}
