#include "Explain/LimitFindings.h"
#include "Explain/ResidentBlocks.h"

#include "LimitsTesting.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

/// Returns the finding on \p Topic. Adds a failure if there is none.
Finding find(const KernelEvidence &E, const std::string &Topic,
             const ProgramFacts &P = busyProgram()) {
  std::vector<Finding> All = limitFindings(E, h200(), P, findLimit(E, h200(), P), /*Most=*/20);
  auto It = llvm::find_if(All, [&](const Finding &F) { return F.Topic == Topic; });
  if (It != All.end())
    return *It;
  ADD_FAILURE() << "no finding of " << Topic;
  return {};
}

bool contains(const std::string &Text, const std::string &Part) {
  return Text.find(Part) != std::string::npos;
}

KernelEvidence copyAt(double Share) {
  KernelEvidence E = counted({"copy", "_Z4copyPK4int4PS_", 65536, 256});
  timeAt(E, Share);
  return E;
}

} // namespace

TEST(LimitFindings, headroom_withCounters_isBoundedByThePeak) {
  KernelEvidence E = copyAt(0.8);
  E.Counters.emplace();
  E.Counters->DramShare = 0.8;
  Finding F = find(E, "headroom");
  EXPECT_NEAR(F.AtMost.value_or(0), 1.25, 1e-9);
  EXPECT_EQ(F.Text, "DRAM bandwidth is at 80 % of its peak: as good as full");
  EXPECT_TRUE(contains(F.Author, "fewer bytes"));
  EXPECT_EQ(F.Tried, "not tuned yet: carve tune -- COMMAND");
  E.Counters->DramShare = 0.97;
  EXPECT_FALSE(find(E, "headroom").AtMost) << "3 % are not worth a word";
}

TEST(LimitFindings, headroom_byUncertainShare_hasNoBound) {
  EXPECT_FALSE(find(copyAt(0.8), "headroom").AtMost) << "a cache may have served what is asked for";
  KernelEvidence Fma = counted({"fma", "_Z3fmaPfi", 8192, 256, 22, 0, {{1, 256}}});
  timeAt(Fma, 0.8);
  Fma.TripsKnown = true;
  EXPECT_NEAR(find(Fma, "headroom").AtMost.value_or(0), 1.25, 1e-9);
  Fma.TripsKnown = false;
  EXPECT_FALSE(find(Fma, "headroom").AtMost) << "trips are assumed";
  // Memory limits it only by the upper bound of what its unknown addresses may touch.
  KernelEvidence Gather = counted({"gather", "_Z6gatherPKiS0_Pi", 32768, 256});
  Gather.MeanNs = 32768. * 256 * 40 / 4.2e12 * 1e9;
  EXPECT_FALSE(find(Gather, "headroom").AtMost);
}

TEST(LimitFindings, balance_ofInstructionsAndBytes_isComparedWithTheDevices) {
  Finding F = find(copyAt(0.8), "balance");
  EXPECT_TRUE(contains(F.Text, "32 bytes a thread")) << F.Text;
  EXPECT_TRUE(contains(F.Text, "the device issues 6.80 while memory moves one: memory's side"))
      << F.Text;
  KernelEvidence E = counted({"fma", "_Z3fmaPfi", 8192, 256, 22, 0, {{1, 256}}});
  timeAt(E, 0.9);
  EXPECT_TRUE(contains(find(E, "balance").Text, "the instructions' side"));
}

TEST(LimitFindings, scatteredAccesses_giveSectorsAndBankConflicts) {
  KernelEvidence E = counted({"gather", "_Z6gatherPKiS0_Pi", 32768, 256});
  E.MeanNs = 32768. * 256 * 40 / 4.2e12 * 1e9;
  Finding F = find(E, "coalescing");
  EXPECT_TRUE(contains(F.Text, "12 to 40 bytes are moved for 12")) << F.Text;
  EXPECT_NEAR(*F.AtMost, 40. / 12, 1e-9);
  E = counted({"shared", "_Z6sharedPjii", 2048, 256, 31, 32768, {{3, 64}, {4, 8}}});
  timeAt(E, 0.95);
  F = find(E, "bank conflicts");
  EXPECT_GT(*F.AtMost, 30) << F.Text;
}

TEST(LimitFindings, spills_sayWhetherTheyMatter) {
  KernelEvidence E = counted({"spill", "_Z5spillPKiPii", 1024, 256, 32, 0, {{1, 256}}});
  timeAt(E, 0.85);
  E.TripsKnown = true; // The test gives the trip counts.
  Finding F = find(E, "spills");
  EXPECT_TRUE(contains(F.Text, "they are what limits it")) << F.Text;
  EXPECT_GT(*F.AtMost, 3);
  EXPECT_FALSE(F.Measured);
  TriedVariants T;
  T.Compiled = 9;
  T.Timed = 6;
  T.Chosen = "r72";
  T.Best = TriedVariant{"r72", 0.5, 0.49, 0.51, 72, 0};
  T.LeastSpilled = T.Best;
  E.Tried = T;
  F = find(E, "spills");
  EXPECT_TRUE(F.Measured);
  EXPECT_NEAR(*F.AtMost, 2, 1e-9);
  EXPECT_EQ(F.Tried, "r72 is 2.00 times as fast [1.96, 2.04], chosen, with 0 bytes of spills in "
                     "the code and 72 registers");
  E.Tried.reset();
  E.TripsKnown = false;
  F = find(E, "spills");
  EXPECT_FALSE(F.AtMost) << "trips are assumed";
  EXPECT_TRUE(contains(F.Text, "they are what limits it")) << F.Text;
  // With hardly any global traffic, the rest of the kernel is the bound, not the traffic.
  E.TripsKnown = true;
  E.Counts->LeastMovedBytes = E.Counts->MostMovedBytes = 4;
  E.Counts->LocalLoadBytes = 1e6;
  F = find(E, "spills");
  KernelLimit L = findLimit(E, h200(), busyProgram());
  double Busy = 0;
  for (const ResourceShare &R : L.Shares)
    if (R.Resource == "instruction issue")
      Busy = R.Share * (1 - E.Counts->LocalAccesses / E.Counts->Instructions);
  ASSERT_GT(Busy, 0);
  EXPECT_LE(F.AtMost.value_or(1e9), 1 / Busy + 1e-9);
  // Counters that tell only about memory allow no conclusion.
  E.Counters.emplace();
  E.Counters->L1Share = 0.9;
  EXPECT_FALSE(find(E, "spills").AtMost);
  // A few spills outside of the loop, in a kernel that memory limits.
  KernelEvidence Few = copyAt(0.9);
  Few.Counts->LocalLoadBytes = 4;
  Few.Counts->LocalAccesses = 1;
  F = find(Few, "spills");
  EXPECT_TRUE(contains(F.Text, "it hardly matters")) << F.Text;
}

TEST(LimitFindings, occupancy_namesItsBoundAndTheNextLevel) {
  KernelEvidence E = copyAt(0.5);
  E.RegsPerThread = 72;
  Finding F = find(E, "occupancy");
  EXPECT_EQ(F.Text, "3 blocks of 8 warps an SM, 38 % of what it holds, bound by registers");
  F = find(E, "next level");
  EXPECT_EQ(F.Text,
            "one block more on each SM with at most 64 registers a thread, 8 fewer than now");
  E.Tried = TriedVariants{};
  E.Tried->LeastRegs = 66;
  EXPECT_TRUE(contains(find(E, "next level").Text, "(the compiler needs 66)"));
  E.RegsPerThread = 32;
  E.StaticSmemBytes = 48 << 10;
  EXPECT_TRUE(contains(find(E, "occupancy").Text, "bound by shared memory"));
  EXPECT_TRUE(contains(find(E, "next level").Text, "bytes of shared memory a block"));
}

TEST(LimitFindings, fewLoadsInFlight_areComparedWithLittlesLaw) {
  KernelEvidence E = counted({"chase", "_Z5chasePKjPji", 128, 32, 22, 0, {{1, 250}}});
  E.MeanNs = 700e3;
  Finding F = find(E, "in flight");
  EXPECT_TRUE(contains(F.Text, "full bandwidth takes at least 8.8 KB under way")) << F.Text;
  EXPECT_GT(*F.AtMost, 5);
  EXPECT_TRUE(contains(F.Author, "more loads before the first use"));
}

TEST(LimitFindings, gridThatDoesNotFillTheGpu_isBoundedByFullWaves) {
  KernelEvidence E = counted({"narrow", "_Z6narrowPji", 4, 128, 10, 0, {{1, 32768}}});
  E.MeanNs = 530e3;
  Finding F = find(E, "grid");
  EXPECT_EQ(F.Text, "4 blocks for 132 SMs: 128 of these have nothing to do");
  EXPECT_NEAR(*F.AtMost, 33, 1e-9);
  E.Shape.Grid[0] = 132 * 16 * 5 / 4;
  F = find(E, "grid");
  EXPECT_EQ(F.Text, "1.25 waves of blocks: the last fills 25 % of the GPU");
  EXPECT_NEAR(*F.AtMost, 1.6, 1e-9);
}

TEST(LimitFindings, gapsBetweenLaunches_boundTheGain) {
  KernelEvidence E = counted({"tiny", "_Z4tinyPj", 16, 256, 8});
  E.MeanNs = 1800;
  Finding F = find(E, "launch gaps", {100e6, 40e6, 20000});
  EXPECT_EQ(F.Text, "the GPU runs kernels in 40 % of 100.0 ms: 20000 launches, one in 5.0 us");
  EXPECT_NEAR(*F.AtMost, 2.5, 1e-9);
  EXPECT_TRUE(contains(F.Author, "CUDA graph"));
}

TEST(LimitFindings, modifiedTimes_giveTheOverlap) {
  KernelEvidence E = copyAt(0.5);
  E.Modified = ModifiedTimes{100, 60, 60, ""};
  Finding F = find(E, "overlap");
  EXPECT_EQ(F.Text, "memory traffic alone takes 60 % of the time, arithmetic alone takes 60 % of "
                    "the time; 33 % of the smaller is hidden");
  EXPECT_NEAR(*F.AtMost, 100. / 60, 1e-9);
  // These times are from LULESH's calcMonotonicQGradientsForElems: loads without the work between
  // them.
  E.Modified = ModifiedTimes{100, 143, 49, ""};
  F = find(E, "overlap");
  EXPECT_EQ(F.Text, "memory traffic alone takes 143 % of the time (its loads have another order, "
                    "so this proves nothing), arithmetic alone takes 49 % of the time");
  EXPECT_FALSE(F.AtMost);
}

TEST(LimitFindings, triedVariants_areSummarized) {
  TriedVariants T;
  T.Chosen = "default";
  T.Reason = "setmaxnreg";
  EXPECT_EQ(triedText(T), "no variant was timed: setmaxnreg");
  T.Compiled = 12;
  T.Timed = 9;
  T.Best = TriedVariant{"r40", 1.02, 0, 0, 40, 0};
  EXPECT_EQ(triedText(T), "9 variants timed of 12 compiled: none is faster than the default");
  T.Best->Ratio = 0.8;
  T.Chosen = "r40-cg";
  EXPECT_EQ(triedText(T),
            "9 variants timed of 12 compiled: r40 is 1.25 times as fast, r40-cg was chosen");
}

TEST(LimitFindings, manyFindings_areCutToTheSixMostImportant) {
  KernelEvidence E = copyAt(0.8);
  std::vector<Finding> All = limitFindings(E, h200(), busyProgram(), findLimit(E, h200(), {}));
  ASSERT_FALSE(All.empty());
  EXPECT_LE(All.size(), 6u);
  EXPECT_EQ(All.front().Topic, "headroom");
}

TEST(ResidentBlocks, everyResource_canBoundTheBlocks) {
  DeviceModel D = h200().Model;
  ResidentBlocks R = residentBlocks(D, {32, 256, 0, 0, 0});
  EXPECT_EQ(R.Blocks, 8u);
  EXPECT_EQ(R.BoundBy, std::vector<std::string>{"threads"});
  EXPECT_FALSE(R.RegsForNext || R.SmemForNext);
  R = residentBlocks(D, {16, 32, 0, 0, 1});
  EXPECT_EQ(R.Blocks, 32u);
  EXPECT_EQ(R.BoundBy, std::vector<std::string>{"blocks"});
  R = residentBlocks(D, {16, 128, 100 << 10, 0, 1});
  EXPECT_EQ(R.Blocks, 2u);
  EXPECT_EQ(R.BoundBy, std::vector<std::string>{"shared memory"});
  ASSERT_TRUE(R.SmemForNext);
  EXPECT_EQ(blocksPerSm(D, {16, 128, *R.SmemForNext, 0, 1}), 3u);
  EXPECT_EQ(blocksPerSm(D, {16, 128, *R.SmemForNext + 128, 0, 1}), 2u);
  EXPECT_EQ(residentBlocks(D, {255, 1024, 0, 0, 0}).Blocks, 0u);
}
