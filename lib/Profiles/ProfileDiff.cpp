#include "Profiles/ProfileDiff.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <tuple>

using namespace carve;

namespace {

using Entries = std::vector<const Decision *>;

llvm::StringRef toolkitOf(const Decision &D) {
  return D.Basis ? llvm::StringRef(D.Basis->Toolkit) : "";
}

bool sameSource(const Decision &A, const Decision &B) {
  return A.Basis && B.Basis && !A.Basis->Source.empty() && A.Basis->Source == B.Basis->Source;
}

/// Groups the entries of both sides by kernel and architecture, in the order of printProfile().
std::map<std::pair<std::string, std::string>, std::pair<Entries, Entries>>
byKernel(const Profile &Before, const Profile &After) {
  std::map<std::pair<std::string, std::string>, std::pair<Entries, Entries>> Groups;
  for (const Decision &D : Before.Kernels)
    Groups[{D.Kernel, D.Arch}].first.push_back(&D);
  for (const Decision &D : After.Kernels)
    Groups[{D.Kernel, D.Arch}].second.push_back(&D);
  for (auto &[Name, Both] : Groups)
    for (Entries *Side : {&Both.first, &Both.second})
      llvm::sort(*Side, [](const Decision *A, const Decision *B) {
        return std::tuple(A->Digest.has_value(), toolkitOf(*A), A->Digest) <
               std::tuple(B->Digest.has_value(), toolkitOf(*B), B->Digest);
      });
  return Groups;
}

void compare(const Decision &Before, const Decision &After, ProfileDiff &Diff) {
  if (printDecision(Before) == printDecision(After)) {
    ++Diff.Same;
    return;
  }
  bool Decides = Before.Variant == After.Variant && Before.Entries == After.Entries &&
                 Before.Digest == After.Digest;
  Diff.Differences.push_back(
      {Decides ? ProfileChange::Remeasured : ProfileChange::Changed, Before, After});
}

/// Compares the entries of both sides for which \p Match is true, and removes them from both.
void comparePairs(Entries &Before, Entries &After, ProfileDiff &Diff,
                  llvm::function_ref<bool(const Decision &, const Decision &)> Match) {
  for (const Decision *&Old : Before) {
    auto New = llvm::find_if(After, [&](const Decision *D) { return D && Match(*Old, *D); });
    if (New == After.end())
      continue;
    compare(*Old, **New, Diff);
    After.erase(New);
    Old = nullptr;
  }
  llvm::erase(Before, nullptr);
}

} // namespace

unsigned ProfileDiff::count(ProfileChange Kind) const {
  return llvm::count_if(Differences, [&](const ProfileDifference &D) { return D.Kind == Kind; });
}

ProfileDiff carve::diffProfiles(const Profile &Before, const Profile &After) {
  ProfileDiff Diff;
  Diff.FileCapBefore = Before.FileCap;
  Diff.FileCapAfter = After.FileCap;
  for (auto &[Name, Both] : byKernel(Before, After)) {
    auto &[Old, New] = Both;
    // Several sources may have a kernel of the same name. If the code changed, digests do not tell
    // which is which.
    comparePairs(Old, New, Diff, [](const Decision &A, const Decision &B) {
      return A.Digest == B.Digest && sameSource(A, B);
    });
    comparePairs(Old, New, Diff, [](const Decision &A, const Decision &B) {
      return sameSource(A, B) && toolkitOf(A) == toolkitOf(B);
    });
    comparePairs(Old, New, Diff, sameSource);
    comparePairs(Old, New, Diff,
                 [](const Decision &A, const Decision &B) { return A.Digest == B.Digest; });
    comparePairs(Old, New, Diff,
                 [](const Decision &A, const Decision &B) { return toolkitOf(A) == toolkitOf(B); });
    comparePairs(Old, New, Diff, [](const Decision &, const Decision &) { return true; });
    for (const Decision *D : Old)
      Diff.Differences.push_back({ProfileChange::Removed, *D, std::nullopt});
    for (const Decision *D : New)
      Diff.Differences.push_back({ProfileChange::Added, std::nullopt, *D});
  }
  return Diff;
}
