#include "Probe/Replay/Replays.h"

#include <gtest/gtest.h>

using namespace carve::probe;

/// Returns a plan with one replayed kernel of 10 variants in shapes of these mean times.
static Plan planOf(uint64_t ReplayMs, std::vector<uint64_t> MeansNs, uint64_t Launches = 1) {
  Plan P;
  P.ReplayMs = ReplayMs;
  PlannedKernel &K = P.Kernels["k"];
  K.Name = "k";
  K.Variants.resize(10);
  for (uint64_t Mean : MeansNs)
    K.Shapes.push_back({"k", {}, Launches, Mean});
  return P;
}

TEST(ReplayBudget, shapes_shareTheTimeByWhatEachTakes) {
  Plan P = planOf(1000, {100000, 900000});
  const PlannedKernel &K = P.Kernels["k"];
  ReplayBudget B(P);
  double Short = B.grant(K, K.Shapes[0], true), Long = B.grant(K, K.Shapes[1], true);
  EXPECT_NEAR(Short + Long, 1e9, 1);
  EXPECT_GT(Long, 5 * Short);
  EXPECT_GT(Short, ReplayBudget::leastNs(K, K.Shapes[0], true));
  // The second shape gets what the first one leaves.
  B.spent(K, K.Shapes[0], true, 1e7);
  EXPECT_NEAR(B.grant(K, K.Shapes[1], true), 1e9 - 1e7, 1);
}

TEST(ReplayBudget, shapeThatIsReplayedTwice_getsHalfFirst) {
  Plan P = planOf(1000, {100000}, 100);
  const PlannedKernel &K = P.Kernels["k"];
  ReplayBudget B(P);
  EXPECT_NEAR(B.grant(K, K.Shapes[0], true), 5e8, 1);
}

TEST(ReplayBudget, tooLittleTime_grantsNothing) {
  Plan P = planOf(20, {1000000});
  const PlannedKernel &K = P.Kernels["k"];
  ReplayBudget B(P);
  EXPECT_EQ(B.grant(K, K.Shapes[0], true), 0);
  EXPECT_GT(B.grant(K, K.Shapes[0], false), 0) << "comparing alone takes less";
}

/// Where the first kernels take longer than expected, the last one is still timed.
TEST(ReplayBudget, timeIsUsedUp_halfAsMuchMayBeOverdrawn) {
  Plan P = planOf(1000, {500000, 500000});
  const PlannedKernel &K = P.Kernels["k"];
  double Least = ReplayBudget::leastNs(K, K.Shapes[1], true);
  for (bool Within : {true, false}) {
    ReplayBudget B(P);
    B.spent(K, K.Shapes[0], true, 1.5e9 - Least + (Within ? -1 : 1));
    EXPECT_EQ(B.grant(K, K.Shapes[1], true), Within ? Least : 0);
  }
}

TEST(ReplayBudget, longLaunch_isTimedOnce) {
  Plan P = planOf(1000, {30'000'000}, 100);
  const PlannedKernel &K = P.Kernels["k"];
  EXPECT_NEAR(ReplayBudget(P).grant(K, K.Shapes[0], true), 1e9, 1);
}

TEST(ReplayBudget, noLimit_alwaysGrantsEnough) {
  Plan P = planOf(0, {1000000000, 1000000000}, 10);
  const PlannedKernel &K = P.Kernels["k"];
  ReplayBudget B(P);
  EXPECT_GT(B.grant(K, K.Shapes[0], true), 1e15);
}
