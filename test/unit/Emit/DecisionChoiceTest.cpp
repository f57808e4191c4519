#include "Emit/DecisionChoice.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

const std::vector<std::string> Options = {"-arch=sm_90", "-m64"};
const KernelState Now{"kernel", "sm_90", "13.0.88", Options, ImageOrigin::Compiled};

/// A decision that was timed on the kernel as it was in \p Then.
Decision timed(const KernelState &Then, unsigned Cap) {
  Decision D;
  D.Kernel = "k(int)";
  D.Arch = Then.Arch;
  D.Variant.Cap = Cap;
  D.Digest = decisionDigest(Then.KernelDigest, Then.Arch, Then.NvccVersion, Then.PtxasOptions,
                            Then.Origin);
  D.Basis.emplace();
  D.Basis->Toolkit = Then.NvccVersion;
  D.Basis->Options = Then.PtxasOptions.vec();
  return D;
}

Decision pinned(unsigned Cap) {
  Decision D;
  D.Kernel = "k(int)";
  D.Variant.Cap = Cap;
  return D;
}

Profile profile(std::string Name, std::vector<Decision> Kernels) {
  Profile P;
  P.Name = std::move(Name);
  P.Kernels = std::move(Kernels);
  return P;
}

/// Returns the cap of the chosen decision, or 0 if none applies.
unsigned chosen(llvm::ArrayRef<const Profile *> Profiles) {
  DecisionChoice C = chooseDecision(Profiles, "k(int)", "_Z1ki", Now);
  return C.Chosen ? *C.Chosen->Variant.Cap : 0;
}

KernelState changed(void (*Change)(KernelState &)) {
  KernelState Then = Now;
  Change(Then);
  return Then;
}

const std::vector<std::string> Debug = {"-arch=sm_90", "-m64", "-g"};
const KernelState OtherToolkit = changed([](KernelState &S) { S.NvccVersion = "12.8.93"; });
const KernelState OtherCode = changed([](KernelState &S) { S.KernelDigest = "other"; });
const KernelState OtherOptions = changed([](KernelState &S) { S.PtxasOptions = Debug; });
const KernelState OtherOrigin = changed([](KernelState &S) { S.Origin = ImageOrigin::FromPtx; });

} // namespace

TEST(WhyStale, decisionThatApplies_hasNoReason) {
  EXPECT_EQ(whyStale(timed(Now, 40), Now), std::nullopt);
  EXPECT_EQ(whyStale(timed(OtherOrigin, 40), OtherOrigin), std::nullopt);
  EXPECT_EQ(whyStale(pinned(40), Now), std::nullopt);
}

TEST(WhyStale, staleDecision_namesWhatDiffers) {
  EXPECT_EQ(whyStale(timed(OtherToolkit, 40), Now),
            "stale: timed with toolkit 12.8.93, this is 13.0.88");
  EXPECT_EQ(whyStale(timed(OtherOptions, 40), Now),
            "stale: timed with ptxas options '-arch=sm_90 -m64 -g', these are '-arch=sm_90 -m64'");
  EXPECT_EQ(whyStale(timed(OtherCode, 40), Now), "stale: the kernel's code changed");
  EXPECT_EQ(whyStale(timed(OtherOrigin, 40), Now),
            "stale: timed in an object that had only PTX for the device");
  EXPECT_EQ(whyStale(timed(Now, 40), OtherOrigin),
            "stale: timed in an object that had an image for the device");
  KernelState All = OtherCode;
  All.NvccVersion = "12.8.93";
  All.PtxasOptions = Debug;
  EXPECT_EQ(whyStale(timed(All, 40), Now),
            "stale: timed with toolkit 12.8.93, this is 13.0.88; timed with ptxas options "
            "'-arch=sm_90 -m64 -g', these are '-arch=sm_90 -m64'; the kernel's code changed");
}

TEST(WhyStale, decisionWithLittleEvidence_getsGeneralReason) {
  Decision D = timed(OtherCode, 40);
  D.Basis->Toolkit.clear();
  const char *General = "stale: the kernel, the toolkit or the options changed since it was timed";
  EXPECT_EQ(whyStale(D, Now), General);
  D.Basis.reset();
  EXPECT_EQ(whyStale(D, Now), General);
}

TEST(ChooseDecision, profile_givesMatchingEntryElseThePin) {
  Profile Both = profile("p", {pinned(32), timed(OtherToolkit, 40), timed(Now, 48)});
  EXPECT_EQ(chosen({&Both}), 48u);
  Profile Pin = profile("p", {timed(OtherToolkit, 40), pinned(32), timed(OtherCode, 56)});
  EXPECT_EQ(chosen({&Pin}), 32u);
  Profile Stale = profile("p", {timed(OtherToolkit, 40)});
  EXPECT_EQ(chosen({&Stale}), 0u);
  EXPECT_EQ(chosen({}), 0u);
}

TEST(ChooseDecision, staleEntry_doesNotHideTheNextProfile) {
  Profile Stale = profile("p", {timed(OtherCode, 40)}), Pin = profile("q", {pinned(32)}),
          Holds = profile("r", {timed(Now, 48)});
  EXPECT_EQ(chosen({&Stale, &Holds}), 48u);
  EXPECT_EQ(chosen({&Pin, &Holds}), 32u) << "the first profile has precedence over the second";
  DecisionChoice C = chooseDecision({&Stale, &Holds}, "k(int)", "_Z1ki", Now);
  ASSERT_EQ(C.Ignored.size(), 1u);
  EXPECT_EQ(ignoredText(C.Ignored[0]),
            "p: decision for k(int) on sm_90 ignored: stale: the kernel's code changed");
}

TEST(ChooseDecision, matchingDefault_isChosen) {
  Decision Default = timed(Now, 40);
  Default.Variant.Cap.reset();
  Profile P = profile("p", {Default, pinned(32)});
  DecisionChoice C = chooseDecision({&P}, "k(int)", "_Z1ki", Now);
  ASSERT_TRUE(C.Chosen);
  EXPECT_TRUE(C.Chosen->Variant.isDefault());
}

TEST(ForeignDecisions, otherKernelsAndArchitectures_areForeign) {
  Decision OtherKernel = pinned(40), OtherArch = timed(Now, 48), Mangled = pinned(56);
  OtherKernel.Kernel = "l(int)";
  OtherArch.Arch = "sm_120";
  Mangled.Kernel = "_Z1ki";
  Profile P = profile("p.yaml", {OtherKernel, OtherArch, timed(Now, 40), pinned(32), Mangled});
  const std::vector<KernelIdentity> Kernels = {{"k(int)", "_Z1ki"}};
  std::vector<IgnoredDecision> Foreign = foreignDecisions({&P}, Kernels, {"sm_80", "sm_90"});
  ASSERT_EQ(Foreign.size(), 2u);
  EXPECT_EQ(ignoredText(Foreign[0]),
            "p.yaml: decision for l(int) ignored: foreign: names no kernel of this unit");
  EXPECT_EQ(ignoredText(Foreign[1]), "p.yaml: decision for k(int) on sm_120 ignored: foreign: this "
                                     "unit is compiled for sm_80, sm_90");
}
