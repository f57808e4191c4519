#include "Profiles/ProfileDiff.h"

#include "unit/Store/StoreTesting.h"

using namespace carve;

static Decision entry(std::string Kernel, std::optional<unsigned> Cap, std::string Digest = "",
                      std::string Toolkit = "13.0.88") {
  Decision D;
  D.Kernel = std::move(Kernel);
  D.Arch = "sm_90";
  D.Variant.Cap = Cap;
  if (Digest.empty())
    return D;
  D.Digest = std::move(Digest);
  D.Basis.emplace();
  D.Basis->Toolkit = std::move(Toolkit);
  return D;
}

static Profile profile(std::vector<Decision> Kernels) {
  Profile P;
  P.Kernels = std::move(Kernels);
  return P;
}

/// Returns `<change> <kernel> <cap before>><cap after>` for each difference; `-` for a side without
/// the entry.
static std::vector<std::string> texts(const ProfileDiff &Diff) {
  static const char *Names[] = {"added", "removed", "changed", "remeasured"};
  auto Side = [](const std::optional<Decision> &D) {
    return D ? std::to_string(D->Variant.Cap.value_or(0)) : std::string("-");
  };
  std::vector<std::string> Texts;
  for (const ProfileDifference &D : Diff.Differences)
    Texts.push_back(std::string(Names[int(D.Kind)]) + " " +
                    (D.After ? *D.After : *D.Before).Kernel + " " + Side(D.Before) + ">" +
                    Side(D.After));
  return Texts;
}

using Texts = std::vector<std::string>;

TEST(ProfileDiff, differences_areListedByKernel) {
  Profile A = profile({entry("same", 40, "d"), entry("gone", 40, "d"), entry("cap", 40, "d"),
                       entry("noise", 40, "d"), entry("code", 40, "d1"), entry("pin", 40)});
  Profile B =
      profile({entry("pin", 40, "d"), entry("code", 40, "d2"), entry("noise", 40, "d"),
               entry("cap", 48, "d"), entry("new", std::nullopt, "d"), entry("same", 40, "d")});
  B.Kernels[2].Basis->Ratio = 0.5;
  ProfileDiff Diff = diffProfiles(A, B);
  EXPECT_EQ(texts(Diff), (Texts{"changed cap 40>48", "changed code 40>40", "removed gone 40>-",
                                "added new ->0", "remeasured noise 40>40", "changed pin 40>40"}));
  EXPECT_EQ(Diff.Same, 1u);
  EXPECT_EQ(Diff.count(ProfileChange::Changed), 3u);
  EXPECT_FALSE(Diff.empty());
  EXPECT_TRUE(diffProfiles(A, A).empty());
  EXPECT_EQ(diffProfiles(A, A).Same, 6u);
}

TEST(ProfileDiff, otherArchitecture_isAnotherEntry) {
  Profile A = profile({entry("k", 40, "d")}), B = A;
  B.Kernels[0].Arch = "sm_80";
  EXPECT_EQ(texts(diffProfiles(A, B)), (Texts{"added k ->40", "removed k 40>-"}));
}

TEST(ProfileDiff, entriesOfOneToolkit_areComparedWithEachOther) {
  Profile A = profile({entry("k", 1, "a", "12.8.93"), entry("k", 2, "b"), entry("k", 3)});
  Profile B = profile({entry("k", 4, "c"), entry("k", 5, "d", "12.8.93"), entry("k", 6)});
  EXPECT_EQ(texts(diffProfiles(A, B)), (Texts{"changed k 3>6", "changed k 1>5", "changed k 2>4"}));
  // The new entries have other toolkits, and there is one more of them.
  Profile C = profile({entry("k", 7, "e", "13.1.0"), entry("k", 8, "f", "13.2.0")});
  EXPECT_EQ(texts(diffProfiles(profile({entry("k", 2, "b")}), C)),
            (Texts{"changed k 2>7", "added k ->8"}));
}

TEST(ProfileDiff, kernelsOfOneName_arePairedBySource) {
  auto Of = [](Decision D, std::string Source) {
    D.Basis->Source = std::move(Source);
    return D;
  };
  Profile A = profile({Of(entry("k", 1, "a"), "one.cu"), Of(entry("k", 2, "b"), "two.cu")});
  Profile B = profile({Of(entry("k", 3, "f"), "one.cu"), Of(entry("k", 4, "c"), "two.cu")});
  EXPECT_EQ(texts(diffProfiles(A, B)), (Texts{"changed k 1>3", "changed k 2>4"}));
}

TEST(ProfileDiff, otherFileCap_isADifference) {
  Profile A = profile({}), B = A;
  EXPECT_TRUE(diffProfiles(A, B).empty());
  B.FileCap = 40;
  EXPECT_FALSE(diffProfiles(A, B).empty());
}
