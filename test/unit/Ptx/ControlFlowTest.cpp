#include "Ptx/ControlFlow.h"

#include "PtxTesting.h"

using namespace carve;

/// Returns the flow of blocks that have one instruction each.
static ControlFlow flow(std::vector<std::vector<unsigned>> Successors,
                        std::vector<unsigned> Ends = {}) {
  std::vector<FlowBlock> Blocks;
  for (std::vector<unsigned> &S : Successors) {
    size_t At = Blocks.size();
    Blocks.push_back({At, At + 1, S, llvm::is_contained(Ends, unsigned(At))});
  }
  return analyseFlow(std::move(Blocks));
}

TEST(ControlFlow, nestedLoops_areFoundWithDepthsAndFrequencies) {
  // 0 -> 1 { 2 { 3 } 4 } 5, and 6 is not reached.
  ControlFlow F = flow({{1}, {2}, {3}, {2, 4}, {1, 5}, {}, {5}});
  ASSERT_EQ(F.Loops.size(), 2u);
  EXPECT_EQ(F.Loops[0].Header, 1u);
  EXPECT_EQ(F.Loops[0].Blocks, (std::vector<unsigned>{1, 2, 3, 4}));
  EXPECT_EQ(F.Loops[1].Blocks, (std::vector<unsigned>{2, 3}));
  EXPECT_EQ(F.Loops[1].Parent, 0u);
  EXPECT_EQ(F.depth(3), 2u);
  EXPECT_EQ(F.depth(4), 1u);
  EXPECT_EQ(F.depth(5), 0u);
  EXPECT_FALSE(F.Reachable[6]);
  EXPECT_TRUE(F.dominates(1, 5));
  EXPECT_FALSE(F.dominates(5, 1));
  EXPECT_EQ(blockFrequencies(F, {10, 4}), (std::vector<double>{1, 10, 40, 40, 10, 1, 0}));
}

TEST(ControlFlow, branch_withoutLoops_dividesEqually) {
  ControlFlow F = flow({{1, 2}, {3}, {3, 4}, {4}, {}});
  EXPECT_EQ(blockFrequencies(F, {}), (std::vector<double>{1, 0.5, 0.5, 0.75, 1}));
}

TEST(ControlFlow, guard_thatOnlyEndsTheFunction_isNotTaken) {
  ControlFlow F = flow({{1, 3}, {2, 3}, {3}, {}}, {3});
  EXPECT_EQ(blockFrequencies(F, {}), (std::vector<double>{1, 1, 1, 1}));
}

TEST(ControlFlow, branch_aroundALoop_entersTheLoop) {
  // 0 -> 1 -> 2 { } -> 3, and 0 -> 3: `if (N > 0) for ...`
  ControlFlow F = flow({{1, 3}, {2}, {2, 3}, {}});
  EXPECT_EQ(blockFrequencies(F, {5}), (std::vector<double>{1, 1, 5, 1}));
}

TEST(ControlFlow, loop_withEarlyExit_runsToItsLastTrip) {
  // The loop can be left from its middle (1 -> 4) and from its end, and there is a branch inside of
  // it.
  ControlFlow F = flow({{1}, {2, 4}, {3, 5}, {5}, {6}, {1, 6}, {}});
  ASSERT_EQ(F.Loops.size(), 1u);
  std::vector<double> Times = blockFrequencies(F, {8});
  EXPECT_EQ(Times[1], 8);
  EXPECT_EQ(Times[2], 8);
  EXPECT_EQ(Times[3], 4);
  EXPECT_EQ(Times[5], 8);
  EXPECT_EQ(Times[6], 1);
}

TEST(ControlFlow, cycle_withTwoEntries_isNotALoop) {
  ControlFlow F = flow({{1, 2}, {2}, {1, 3}, {}});
  EXPECT_TRUE(F.Loops.empty());
  EXPECT_EQ(blockFrequencies(F, {})[3], 1);
}

TEST(ControlFlow, loop_withSeveralLatches_isOneLoop) {
  ControlFlow F = flow({{1}, {2, 3}, {1}, {1, 4}, {}});
  ASSERT_EQ(F.Loops.size(), 1u);
  EXPECT_EQ(F.Loops[0].Latches.size(), 2u);
  EXPECT_EQ(blockFrequencies(F, {6}), (std::vector<double>{1, 6, 3, 3, 1}));
}

TEST(ControlFlow, knownRuns_severalWaysToTheLoop_areKept) {
  // The code is `if (N <= 4) goto 5; if (...) 2: main loop; 3: if (...) 4: again; 5: loop over the
  // rest; 6`. By the rules for branches alone, every run enters the second loop at once.
  ControlFlow F = flow({{5, 1}, {2, 3}, {2, 3}, {4, 5}, {5}, {5, 6}, {}});
  ASSERT_EQ(F.Loops.size(), 2u);
  EXPECT_EQ(blockFrequencies(F, {100, 3})[2], 0);
  EXPECT_EQ(blockFrequencies(F, {100, 3}, {100, 3}),
            (std::vector<double>{1, 1, 100, 1, 0.5, 3, 1}));
  // There are too few trips for the main loop.
  EXPECT_EQ(blockFrequencies(F, {0, 3}, {0, 3}), (std::vector<double>{1, 0, 0, 0, 0, 3, 1}));
  // Without known runs the result is the same as without the argument.
  EXPECT_EQ(blockFrequencies(F, {100, 3}, {std::nullopt, std::nullopt}),
            blockFrequencies(F, {100, 3}));
}

TEST(ControlFlow, branch_onlyOneWayReachesALoop_takesItAtLeastAsOften) {
  // The flow is 0 -> 1 -> 2 { } or 3 -> 4, and 0 -> 4: the loop is only a part of what the first
  // way does.
  ControlFlow F = flow({{1, 4}, {2, 3}, {2, 4}, {4}, {5}, {}});
  ASSERT_EQ(F.Loops.size(), 1u);
  std::vector<double> Rare = blockFrequencies(F, {8}, {1}), Often = blockFrequencies(F, {8}, {6});
  EXPECT_EQ(Rare, (std::vector<double>{1, 0.5, 1, 0.375, 1, 1}));
  EXPECT_EQ(Often, (std::vector<double>{1, 0.75, 6, 0, 1, 1}));
}

TEST(ControlFlow, knownRuns_innerLoop_arePerTripOfTheOuterLoop) {
  // 1 { if (...) 2 -> 3 { } 4 }
  ControlFlow F = flow({{1}, {2, 4}, {3}, {3, 4}, {1, 5}, {}});
  ASSERT_EQ(F.Loops.size(), 2u);
  EXPECT_EQ(blockFrequencies(F, {10, 8}, {10, 2}), (std::vector<double>{1, 10, 2.5, 20, 10, 1}));
}
