#include "Tune/Job/EarlierDecision.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

const std::vector<std::string> Options = {"-arch=sm_90", "-m64"};
const KernelState Now{"kernel", "sm_90", "13.0.88", Options, ImageOrigin::Compiled};

/// A decision for the cap \p Cap that was timed by \p Toolkit on the kernel with \p KernelDigest.
Decision timed(const std::string &Toolkit, unsigned Cap, const std::string &Date,
               const std::string &KernelDigest = "kernel") {
  Decision D;
  D.Kernel = "k(int)";
  D.Arch = "sm_90";
  D.Variant.Cap = Cap;
  D.Digest = decisionDigest(KernelDigest, D.Arch, Toolkit, Options);
  D.Basis.emplace();
  D.Basis->Toolkit = Toolkit;
  D.Basis->Options = Options;
  D.Basis->Date = Date;
  return D;
}

std::optional<EarlierDecision> among(std::vector<Decision> Kernels) {
  Profile P;
  P.Kernels = std::move(Kernels);
  return earlierDecision(&P, "k(int)", "_Z1ki", Now);
}

} // namespace

TEST(EarlierDecision, ofThisToolkit_isInForce) {
  auto Found = among(
      {timed("12.9.41", 40, "2026-02-01T00:00:00Z"), timed("13.0.88", 64, "2026-01-01T00:00:00Z")});
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Decided.Variant.Cap, 64u);
  EXPECT_EQ(Found->Stale, "");
}

TEST(EarlierDecision, ofOlderToolkits_theNewestWithTheSamePtxCounts) {
  auto Found = among({timed("12.8.90", 40, "2026-01-01T00:00:00Z"),
                      timed("12.9.41", 48, "2026-02-01T00:00:00Z"),
                      timed("12.9.86", 56, "2026-03-01T00:00:00Z", "another kernel")});
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Decided.Variant.Cap, 48u);
  EXPECT_NE(Found->Stale.find("toolkit 12.9.41"), std::string::npos) << Found->Stale;
  EXPECT_FALSE(among({timed("12.9.86", 56, "2026-03-01T00:00:00Z", "another kernel")}));
}

TEST(EarlierDecision, forNvccsOwnCode_isNone) {
  Decision Kept = timed("13.0.88", 64, "2026-01-01T00:00:00Z");
  Kept.Variant = {};
  EXPECT_FALSE(among({Kept, timed("12.9.41", 40, "2026-02-01T00:00:00Z")}))
      << "the newer tuning found nothing";
}

TEST(EarlierDecision, withEntries_suggestsEachVariantOnce) {
  EarlierDecision Earlier;
  VariantSetting Known;
  Known.FrontEnd = FrontEndKnob::KnownLaunch;
  Earlier.Decided.Entries = {{EntryGuard{.MaxThreads = 256}, Known, "a"}};
  EXPECT_EQ(Earlier.settings(), std::vector{Known});
  // Two codes for two grids are one variant of a search.
  Earlier.Decided.Entries.push_back({EntryGuard{.MaxThreads = 128}, Known, "b"});
  ASSERT_EQ(Earlier.settings().size(), 1u);
  EXPECT_EQ(Earlier.settings().front().FrontEnd, FrontEndKnob::KnownShapes);
}
