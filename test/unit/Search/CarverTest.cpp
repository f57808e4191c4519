#include "Search/Carver.h"

#include <gtest/gtest.h>

using namespace carve;

namespace {

/// A kernel of 1000 instructions and 4 KB of global traffic per thread at half occupancy.
Candidate candidate(std::optional<unsigned> Cap, unsigned Regs) {
  Candidate C;
  C.Setting.Cap = Cap;
  C.Metrics.RegsPerThread = Regs;
  C.Metrics.Occupancy = 0.5;
  C.Metrics.BlocksPerSm = 4;
  C.Metrics.Efficiency = 1e-6;
  C.Metrics.Utilization = 100;
  KernelCounts Counts;
  Counts.Instructions = 1000;
  Counts.Regions = 10;
  Counts.GlobalLoadBytes = 3000;
  Counts.GlobalStoreBytes = 1096;
  C.Metrics.Counts = Counts;
  return C;
}

void spill(Candidate &C, double Bytes, unsigned Depth) {
  C.Metrics.SpillBytes = 64;
  C.Metrics.Counts->LocalLoadBytes = Bytes;
  C.Metrics.Counts->DeepestLocalAccess = Depth;
}

} // namespace

TEST(Carver, moreBytesThanBandwidthAllows_isCut) {
  Candidate Default = candidate({}, 40), C = candidate(32, 32);
  C.Metrics.Counts->GlobalLoadBytes *= 1.4; // 1.29 times the bytes.
  EXPECT_EQ(thresholdReason(C, Default, 0.8),
            "moves 1.29 times the bytes of the default, which takes 80 % of the memory bandwidth");
  // With 70 % of the bandwidth, it could still need only 0.7 * 1.29 of the time.
  EXPECT_EQ(thresholdReason(C, Default, 0.7), std::nullopt);
  EXPECT_EQ(thresholdReason(C, Default, std::nullopt), std::nullopt);
  EXPECT_EQ(thresholdReason(Default, Default, 1.0), std::nullopt);
}

TEST(Carver, spillsInLoopWithoutMoreOccupancy_areCut) {
  Candidate Default = candidate({}, 40), C = candidate(36, 36);
  spill(C, 600, 1);
  EXPECT_EQ(thresholdReason(C, Default, std::nullopt),
            "spills 0.60 bytes per instruction more than the default inside a loop, at most 0.50 "
            "where occupancy does not rise (50 %, default 50 %)");
  C.Metrics.Occupancy = 0.625;
  EXPECT_EQ(thresholdReason(C, Default, std::nullopt), std::nullopt);
}

TEST(Carver, spillsAlone_areNotCut) {
  Candidate Default = candidate({}, 40), C = candidate(36, 36);
  spill(C, 400, 3); // Within the bound.
  EXPECT_EQ(thresholdReason(C, Default, std::nullopt), std::nullopt);
  spill(C, 6000, 0); // Outside of all loops.
  EXPECT_EQ(thresholdReason(C, Default, std::nullopt), std::nullopt);
  Candidate Spilling = Default;
  spill(Spilling, 6000, 1); // The default spills inside a loop, too.
  spill(C, 6000, 1);
  EXPECT_EQ(thresholdReason(C, Spilling, std::nullopt), std::nullopt);
}

TEST(Carver, candidatesWithoutCounts_areNotCutByMetrics) {
  Candidate Default = candidate({}, 40), C = candidate(36, 36);
  spill(C, 6000, 2);
  C.Metrics.Counts.reset();
  EXPECT_EQ(thresholdReason(C, Default, 1.0), std::nullopt);
  Candidate Same = C;
  Same.Setting.Cap = 37;
  EXPECT_TRUE(superfluous({Default, C, Same}, 1).empty());
}

TEST(Carver, equalCode_isOneVariant) {
  Candidate Default = candidate({}, 40), A = candidate(64, 40), B = candidate(48, 48);
  Default.CodeDigest = A.CodeDigest = "a";
  B.CodeDigest = "b";
  B.Metrics.Counts->Instructions = 900;
  auto Cut = superfluous({Default, A, B}, 1);
  ASSERT_EQ(Cut.size(), 1u);
  EXPECT_EQ(Cut[0].Setting, A.Setting);
  EXPECT_EQ(Cut[0].Reason, "same code as default");
}

TEST(Carver, equalCode_ofAVariantForKnownLaunches_leavesTheOneForAll) {
  Candidate Default = candidate({}, 40), Known = candidate(48, 48), All = candidate(64, 48);
  Known.Setting.KnownPtx = true;
  Known.CodeDigest = All.CodeDigest = "a";
  Known.Metrics.Counts->Instructions = All.Metrics.Counts->Instructions = 900;
  EXPECT_TRUE(superfluous({Default, Known, All}, 1).empty());
  auto Cut = superfluous({Default, All, Known}, 1);
  ASSERT_EQ(Cut.size(), 1u);
  EXPECT_EQ(Cut[0].Setting, Known.Setting);
}

TEST(Carver, equalMetrics_leaveOneVariant) {
  Candidate Default = candidate({}, 40), A = candidate(48, 48), B = candidate(46, 48);
  A.Metrics.Efficiency = B.Metrics.Efficiency = 1.2e-6;
  auto Cut = superfluous({Default, A, B}, 1);
  ASSERT_EQ(Cut.size(), 1u);
  EXPECT_EQ(Cut[0].Setting, B.Setting);
  EXPECT_EQ(Cut[0].Reason, "equal in every metric to r48");
}

TEST(Carver, variantBeatenInAMetric_isCutBeyondMargin) {
  Candidate Default = candidate({}, 40), Worse = candidate(38, 38), Near = candidate(39, 39);
  Worse.Metrics.Efficiency = 0.9e-6;
  Near.Metrics.Efficiency = 0.97e-6;
  auto Cut = superfluous({Default, Worse, Near}, 1);
  ASSERT_EQ(Cut.size(), 1u);
  EXPECT_EQ(Cut[0].Setting, Worse.Setting);
  EXPECT_EQ(Cut[0].Reason, "no better in any metric than default, and worse in one");
}

TEST(Carver, fewerBlocksWithMoreRegisters_areNotCut) {
  Candidate Default = candidate({}, 40), C = candidate(48, 48);
  C.Metrics.Occupancy = 0.375;
  C.Metrics.Utilization = 75;
  EXPECT_TRUE(superfluous({Default, C}, 1).empty());
}

TEST(Carver, timedVariant_cutsOthersAndStays) {
  Candidate Default = candidate({}, 40), Timed = candidate(38, 38), New = candidate(37, 37);
  Timed.Metrics.Efficiency = 0.5e-6;
  New.Metrics.Efficiency = 0.4e-6;
  auto Cut = superfluous({Default, Timed, New}, 2);
  ASSERT_EQ(Cut.size(), 1u);
  EXPECT_EQ(Cut[0].Setting, New.Setting);
}
