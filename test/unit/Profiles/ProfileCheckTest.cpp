#include "Profiles/ProfileCheck.h"
#include "Store/ProfileReader.h"

#include "unit/Store/StoreTesting.h"

#include "llvm/Support/FormatVariadic.h"

using namespace carve;

namespace {

/// What a test says about one kernel. The rest is from a tuning of LULESH on an H200.
struct Tuned {
  std::string Kernel = "calcKinematicsForElems(double const*, int)";
  std::string Arch = "sm_90", Digest = "d1", Setting = "{cap: 128}";
  std::string Device = "NVIDIA H200", Toolkit = "13.0.88", Source = "lulesh.cu";
  unsigned Regs = 128, Spill = 8;
  double Occupancy = 0.25, LaunchNs = 100000, Ratio = 0.672, Low = 0.671, High = 0.673;
};

std::vector<CheckedKernel> kernels(std::initializer_list<Tuned> List) {
  std::string Yaml = "carve-profile: 1\nkernels:\n";
  for (const Tuned &T : List)
    Yaml += llvm::formatv(R"(  - kernel: "{0}"
    arch: {1}
    variant: {2}
    digest: "{3}"
    evidence:
      device: "{4}"
      toolkit: "{5}"
      source: "{13}"
      shapes:
        - "grid 3456x1x1 block 256x1x1 dynamic-smem 0"
      ratio: {6:F4}
      ratio-low: {7:F4}
      ratio-high: {8:F4}
      pairs: 9
      default-regs: 144
      tuned-regs: {9}
      default-spill-bytes: 0
      tuned-spill-bytes: {10}
      default-occupancy: 0.125
      tuned-occupancy: {11:F4}
      launch-ns: {12}
)",
                          T.Kernel, T.Arch, T.Setting, T.Digest, T.Device, T.Toolkit, T.Ratio,
                          T.Low, T.High, T.Regs, T.Spill, T.Occupancy, T.LaunchNs, T.Source);
  llvm::Expected<Profile> P = parseProfile(Yaml, "profile");
  EXPECT_TRUE(bool(P)) << llvm::toString(P.takeError());
  return P ? checkedKernels(*P) : std::vector<CheckedKernel>();
}

/// Returns the names of the rules with verdict \p V, for all kernels.
std::vector<std::string> rules(const CheckOutcome &O, CheckVerdict V = CheckVerdict::Regressed) {
  std::vector<std::string> Names;
  for (const KernelCheck &K : O.Kernels)
    for (const PropertyCheck &P : K.Properties)
      if (P.Verdict == V)
        Names.push_back(checkRuleName(P.Rule).str());
  return Names;
}

std::string detail(const CheckOutcome &O, CheckRule Rule) {
  for (const PropertyCheck &P : O.Kernels.front().Properties)
    if (P.Rule == Rule)
      return P.Detail;
  return "";
}

using Names = std::vector<std::string>;

} // namespace

TEST(ProfileCheck, addedSpill_isARegression) {
  Tuned Before, After;
  After.Digest = "d2";
  After.Spill = 120;
  CheckOutcome O = checkKernels(kernels({Before}), kernels({After}), {});
  EXPECT_EQ(rules(O), Names{"spill-increase"});
  EXPECT_EQ(detail(O, CheckRule::SpillIncrease), "112 bytes more per thread, at most 0 allowed");
  EXPECT_EQ(O.Kernels[0].Properties[0].Before, "8");
  EXPECT_EQ(O.Kernels[0].Properties[0].After, "120");
  CheckTolerances Wide;
  Wide.SpillIncrease = 112;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), Wide)), Names{});
  Wide.SpillIncrease = 111;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), Wide)),
            Names{"spill-increase"});
  Wide.SpillIncrease.reset();
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), Wide)), Names{});
}

TEST(ProfileCheck, noiseOfTwoTunings_passes) {
  // The traced time varies by a few percent, the ratio varies within its interval, and of two caps
  // that are equally good the other one is chosen.
  Tuned Before, After;
  After.LaunchNs = 103000;
  After.Ratio = 0.675;
  After.Low = 0.672;
  After.High = 0.679;
  After.Setting = "{cap: 120}";
  After.Regs = 120;
  After.Spill = 72;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), {})), Names{});
  EXPECT_EQ(rules(checkKernels(kernels({After}), kernels({Before}), {})), Names{});
  // With this option, it judges a choice by its spills.
  CheckTolerances Strict;
  Strict.Strict = true;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), Strict)),
            Names{"spill-increase"});
}

TEST(ProfileCheck, time_beyondBothIntervals_isARegression) {
  Tuned Before, After;
  After.Digest = "d2";
  // 100 us * 0.673 * 1.05 = 70.67 us is allowed.
  After.LaunchNs = 105500; // Its lower end is 70.79 us.
  CheckOutcome O = checkKernels(kernels({Before}), kernels({After}), {});
  EXPECT_EQ(rules(O), Names{"time-increase"});
  After.Low = 0.66; // 69.6 us
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), {})), Names{});
  CheckTolerances Tight;
  Tight.TimeIncrease = 0.01;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), Tight)),
            Names{"time-increase"});
}

TEST(ProfileCheck, moreSpills_withLessTime_areExcused) {
  Tuned Before, After;
  After.Digest = "d2";
  After.Spill = 64;
  After.Occupancy = 0.125;
  After.LaunchNs = 90000;
  CheckOutcome O = checkKernels(kernels({Before}), kernels({After}), {});
  EXPECT_EQ(rules(O), Names{});
  EXPECT_EQ(detail(O, CheckRule::SpillIncrease),
            "56 bytes more per thread, at most 0 allowed, but the "
            "launch is faster: 67.2 us > 60.48 us");
  CheckTolerances Strict;
  Strict.Strict = true;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), Strict)),
            (Names{"spill-increase", "occupancy-loss"}));
}

TEST(ProfileCheck, scatterOfLaunchTimes_excusesNothing) {
  // The intervals of defaults have no width, so that one of them is always lower.
  Tuned Before, After;
  Before.Setting = After.Setting = "default";
  After.Digest = "d2";
  Before.Ratio = Before.Low = Before.High = After.Ratio = After.Low = After.High = 1;
  std::vector<CheckedKernel> Old = kernels({Before});
  Old[0].SpillBytes = 0;
  auto Judged = [&](double Ns) {
    After.LaunchNs = Ns;
    std::vector<CheckedKernel> New = kernels({After});
    New[0].SpillBytes = 400;
    return rules(checkKernels(Old, New, {}));
  };
  EXPECT_EQ(Judged(99999.9), Names{"spill-increase"});
  EXPECT_EQ(Judged(99100), Names{"spill-increase"}); // Two tunings differed by this.
  EXPECT_EQ(Judged(98100), Names{"spill-increase"});
  EXPECT_EQ(Judged(98000), Names{});
}

TEST(ProfileCheck, fasterChoice_maySpill) {
  // These are the times of LULESH's `fb` in two tunings on an H200, with a cap of 168 and with one
  // of 120.
  Tuned Before, After;
  Before.LaunchNs = 287848;
  Before.Ratio = 0.9635;
  Before.Low = 0.9631;
  Before.High = 0.9638;
  Before.Spill = 0;
  After = Before;
  After.Digest = "d2";
  After.LaunchNs = 287992;
  After.Ratio = 0.9156;
  After.Low = 0.9150;
  After.High = 0.9161;
  After.Spill = 200;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), {})), Names{});
}

TEST(ProfileCheck, kernelsOfOneName_arePairedBySource) {
  Tuned One, Two;
  One.Source = "one.cu";
  Two.Source = "two.cu";
  Two.Spill = 500;
  Two.LaunchNs = 900000;
  Two.Digest = "d2";
  Tuned NewOne = One, NewTwo = Two;
  NewOne.Digest = "d9"; // The digests sort in the other order.
  NewTwo.Digest = "d8";
  CheckOutcome O = checkKernels(kernels({One, Two}), kernels({NewOne, NewTwo}), {});
  ASSERT_EQ(O.Kernels.size(), 2u);
  EXPECT_EQ(rules(O), Names{});
  for (const KernelCheck &K : O.Kernels)
    EXPECT_EQ(K.Before.Source, K.After.Source);
  // A file that moved still has the same kernel.
  NewOne.Source = "src/one.cu";
  O = checkKernels(kernels({One}), kernels({NewOne}), {});
  EXPECT_EQ(O.Kernels.size(), 1u);
}

TEST(ProfileCheck, timeAcrossToolkits_isShownButNotJudged) {
  Tuned Before, After;
  After.Digest = "d2";
  After.Toolkit = "13.3.1";
  After.LaunchNs = 200000;
  After.Occupancy = 0.2;
  CheckOutcome O = checkKernels(kernels({Before}), kernels({After}), {});
  EXPECT_EQ(rules(O), Names{"occupancy-loss"});
  EXPECT_EQ(detail(O, CheckRule::TimeIncrease), "different toolkits, 13.0.88 and 13.3.1");
  EXPECT_EQ(O.Kernels[0].Properties[3].After, "134.4 us");
  CheckTolerances Across;
  Across.Across = true;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), Across)),
            (Names{"occupancy-loss", "time-increase"}));
}

TEST(ProfileCheck, otherArchitecture_isShownButNotJudged) {
  Tuned Before, After;
  After.Digest = "d2";
  After.Arch = "sm_80";
  After.Device = "NVIDIA A100";
  After.Spill = 1000;
  After.LaunchNs = 900000;
  CheckOutcome O = checkKernels(kernels({Before}), kernels({After}), {});
  EXPECT_EQ(O.Kernels.size(), 1u);
  EXPECT_EQ(O.count(CheckVerdict::NotJudged), 5u);
  EXPECT_EQ(detail(O, CheckRule::SpillIncrease), "different architectures, sm_90 and sm_80");
  // If both sides have both architectures, each is compared with its own.
  Tuned Other = After;
  O = checkKernels(kernels({Before, Other}), kernels({After, Before}), {});
  EXPECT_EQ(O.Kernels.size(), 2u);
  EXPECT_EQ(rules(O), Names{});
  EXPECT_EQ(O.Kernels[0].Before.Arch, O.Kernels[0].After.Arch);
}

TEST(ProfileCheck, lostTuning_isARegressionUnlessTheLaunchIsFaster) {
  Tuned Before, After;
  After.Digest = "d2";
  After.Setting = "default";
  After.LaunchNs = 65000; // It is faster without the tuning, so nothing is lost.
  CheckOutcome O = checkKernels(kernels({Before}), kernels({After}), {});
  EXPECT_EQ(rules(O), Names{});
  EXPECT_NE(detail(O, CheckRule::LostTuning).find("but the launch is faster"), std::string::npos);
  After.LaunchNs = 100000;
  O = checkKernels(kernels({Before}), kernels({After}), {});
  EXPECT_EQ(rules(O), (Names{"occupancy-loss", "time-increase", "lost-tuning"}));
  EXPECT_EQ(detail(O, CheckRule::LostTuning), "its launches took 67.2% of the default's time");
  // A gain of one percent comes and goes.
  Before.Ratio = 0.985;
  Before.Low = 0.98;
  Before.High = 0.99;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), {})), Names{"occupancy-loss"});
}

TEST(ProfileCheck, kernelOfOneSide_isANote) {
  Tuned Gone, Stays, New;
  Gone.Kernel = "gone()";
  New.Kernel = "new()";
  CheckOutcome O = checkKernels(kernels({Gone, Stays}), kernels({Stays, New}), {});
  ASSERT_EQ(O.Vanished.size(), 1u);
  EXPECT_EQ(O.Vanished[0].Kernel, "gone()");
  ASSERT_EQ(O.Appeared.size(), 1u);
  EXPECT_EQ(O.Appeared[0].Kernel, "new()");
  EXPECT_EQ(rules(O), Names{});
}

TEST(ProfileCheck, sameCodeWithoutTimes_isJudgedByItsRatios) {
  Tuned Before, After;
  After.Ratio = 0.8;
  After.Low = 0.79;
  After.High = 0.81;
  std::vector<CheckedKernel> A = kernels({Before}), B = kernels({After});
  A[0].Time.reset();
  B[0].Time.reset();
  EXPECT_EQ(rules(checkKernels(A, B, {})), Names{"time-increase"});
  B[0].Digest = "d2"; // The ratio is now to the time of other code.
  CheckOutcome O = checkKernels(A, B, {});
  EXPECT_EQ(rules(O), Names{});
  EXPECT_EQ(detail(O, CheckRule::TimeIncrease), "a value is not known");
}

TEST(ProfileCheck, registers_areJudgedOnlyWithALimit) {
  Tuned Before, After;
  After.Digest = "d2";
  After.Regs = 136;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), {})), Names{});
  CheckTolerances T;
  T.RegsIncrease = 7;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), T)),
            Names{"register-increase"});
  T.RegsIncrease = 8;
  EXPECT_EQ(rules(checkKernels(kernels({Before}), kernels({After}), T)), Names{});
}
