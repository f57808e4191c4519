#include "Profiles/ProfileMerge.h"

#include "unit/Store/StoreTesting.h"

#include <algorithm>

using namespace carve;

static Profile named(const char *Name, std::vector<Decision> Kernels) {
  Profile P;
  P.Name = Name;
  P.Kernels = std::move(Kernels);
  return P;
}

static Decision pinned(std::string Kernel, std::string Arch, std::optional<unsigned> Cap) {
  Decision D;
  D.Kernel = std::move(Kernel);
  D.Arch = std::move(Arch);
  D.Variant.Cap = Cap;
  return D;
}

static Decision timed(std::string Digest, std::optional<unsigned> Cap, unsigned Pairs,
                      std::string Date = "2026-11-03T12:00:00Z") {
  Decision D = pinned("k", "sm_90", Cap);
  D.Digest = std::move(Digest);
  D.Basis.emplace();
  D.Basis->Pairs = Pairs;
  D.Basis->Date = std::move(Date);
  return D;
}

/// Merges in every order, and expects the same result.
static Profile merged(std::vector<Profile> Profiles) {
  std::vector<size_t> Order(Profiles.size());
  for (size_t I = 0; I < Order.size(); ++I)
    Order[I] = I;
  std::optional<Profile> First;
  do {
    std::vector<Profile> Turned;
    for (size_t I : Order)
      Turned.push_back(Profiles[I]);
    Profile P = valueOf(mergeProfiles(Turned));
    if (!First)
      First = P;
    EXPECT_EQ(printProfile(P), printProfile(*First));
  } while (std::next_permutation(Order.begin(), Order.end()));
  return *First;
}

static std::string profile(std::vector<Decision> Kernels) {
  return printProfile(named("", std::move(Kernels)));
}

TEST(ProfileMerge, merge_isTheUnion) {
  Decision A = pinned("a", "", 40), B = pinned("b", "sm_90", 48), C = pinned("b", "sm_80", 56);
  EXPECT_EQ(printProfile(merged({named("x", {A, B}), named("y", {C}), named("z", {B})})),
            profile({A, C, B}));
  EXPECT_EQ(printProfile(merged({named("x", {})})), profile({}));
}

TEST(ProfileMerge, sameDigest_keepsMorePairsThenTheNewerDate) {
  Decision Many = timed("d", 40, 27, "2026-11-01T00:00:00Z");
  Decision Old = timed("d", 48, 9, "2026-11-02T00:00:00Z");
  Decision New = timed("d", 56, 9, "2026-11-03T00:00:00Z");
  Decision Bare = timed("d", 64, 0);
  Bare.Basis.reset();
  EXPECT_EQ(printProfile(merged({named("x", {Old}), named("y", {Many}), named("z", {New})})),
            profile({Many}));
  EXPECT_EQ(printProfile(merged({named("x", {Old}), named("y", {New}), named("z", {Bare})})),
            profile({New}));
  // Only their texts tell these apart. There is still one result, the same in every order.
  Decision Other = timed("d", 64, 9, "2026-11-03T00:00:00Z");
  EXPECT_EQ(merged({named("x", {Other}), named("y", {New})}).Kernels.size(), 1u);
}

TEST(ProfileMerge, otherDigestsAndPins_areAllKept) {
  Decision A = timed("d1", 40, 9), B = timed("d2", 48, 9), Pin = pinned("k", "sm_90", 32);
  EXPECT_EQ(printProfile(merged({named("x", {A}), named("y", {B}), named("z", {Pin})})),
            profile({Pin, A, B}));
}

TEST(ProfileMerge, contradiction_namesBothProfiles) {
  auto Message = [](Profile A, Profile B) { return messageOf(mergeProfiles({A, B})); };
  EXPECT_EQ(
      Message(named("x.yaml", {pinned("k", "", 40)}), named("y.yaml", {pinned("k", "", {})})),
      "kernel 'k' for any architecture is pinned by hand: cap 40 in x.yaml, default in y.yaml");
  Profile A = named("x.yaml", {}), B = named("y.yaml", {});
  A.FileCap = 40;
  B.FileCap = 48;
  EXPECT_EQ(Message(A, B), "file-cap: 40 in x.yaml, 48 in y.yaml");
  EXPECT_EQ(Message(A, named("y.yaml", {pinned("k", "", 40)})),
            "file-cap: 40 in x.yaml, decisions for kernels in y.yaml");
  EXPECT_EQ(Message(named("y.yaml", {pinned("k", "", 40)}), A),
            "file-cap: 40 in x.yaml, decisions for kernels in y.yaml");
  B.FileCap = 40;
  EXPECT_EQ(merged({A, B, named("z.yaml", {pinned("k", "", {})})}).FileCap, 40u);
}
