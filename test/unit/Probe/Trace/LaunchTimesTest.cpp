#include "Probe/Trace/LaunchTimes.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;

static const LaunchShape SeriesShape{{64, 1, 1}, {256, 1, 1}, 0, {1, 1, 1}};
static const std::string TypicalPlace = "typical\tk\t64,1,1\t256,1,1\t0\t1,1,1\t";

static std::optional<LaunchSeries::Typical> typicalOf(const std::vector<uint64_t> &Times) {
  LaunchSeries Series;
  for (uint64_t Ns : Times)
    Series.add(Ns);
  return Series.typical();
}

TEST(LaunchSeries, likeLaunches_needNoOthers) {
  EXPECT_FALSE(typicalOf({}));
  EXPECT_FALSE(typicalOf({5000}));
  EXPECT_FALSE(typicalOf({5000, 5100, 4900, 5000, 5050}));
  // Those that are unlike the others are neither the first nor the one in the middle.
  EXPECT_FALSE(typicalOf({5000, 90, 5100, 5050, 5050, 12000}));
}

TEST(LaunchSeries, launchesThatDoNothingAtLast_areNotReplayed) {
  // Twelve that do the work, and thirty of an iteration that has converged.
  std::vector<uint64_t> Times(12, 1'300'000);
  Times.resize(42, 1000);
  std::optional<LaunchSeries::Typical> T = typicalOf(Times);
  ASSERT_TRUE(T);
  EXPECT_EQ(T->First, 0u);
  EXPECT_EQ(T->Second, 6u);
  EXPECT_EQ(T->MeanNs, 1'300'000u);
}

TEST(LaunchSeries, launchesThatDoLittleAtFirst_areNotReplayed) {
  // A search that spreads over a graph. More than half of the time is in launch 3.
  std::optional<LaunchSeries::Typical> T =
      typicalOf({2000, 8000, 90'000, 400'000, 120'000, 6000, 2000});
  ASSERT_TRUE(T);
  EXPECT_EQ(T->First, 3u);
  EXPECT_EQ(T->Second, 3u) << "there is no other like it";
  EXPECT_EQ(T->MeanNs, 400'000u);
  // Twice the same search.
  T = typicalOf({2000, 8000, 390'000, 2000, 2000, 8000, 410'000, 2000});
  ASSERT_TRUE(T);
  EXPECT_EQ(T->First, 2u);
  EXPECT_EQ(T->Second, 6u);
  EXPECT_EQ(T->MeanNs, 400'000u);
}

TEST(LaunchSeries, manyLaunches_areKeptInPart) {
  LaunchSeries Series;
  // The second half of them does the work.
  constexpr uint64_t Launches = 5 * LaunchSeries::MostKept;
  for (uint64_t Launch = 0; Launch < Launches; ++Launch)
    Series.add(Launch < Launches / 2 ? 100 : 10'000);
  std::optional<LaunchSeries::Typical> T = Series.typical();
  ASSERT_TRUE(T);
  EXPECT_GE(T->First, Launches / 2);
  EXPECT_LE(T->First, Launches / 2 + 8);
  EXPECT_GE(T->Second, Launches * 3 / 4 - 8);
  EXPECT_LT(T->Second, Launches * 3 / 4 + 16);
  EXPECT_EQ(T->MeanNs, 10'000u);
}

TEST(LaunchTimes, lines_nameTheLaunchesOfEachShape) {
  LaunchTimes All;
  LaunchShape Other = SeriesShape;
  Other.Grid = {1, 1, 1};
  for (uint64_t Ns : {10, 5000, 5000, 5000}) {
    All.ended("k", SeriesShape, Ns, /*InGraph=*/false);
    All.ended("k", Other, 5000, /*InGraph=*/false);
    All.ended("nodes", SeriesShape, Ns, /*InGraph=*/true);
  }
  EXPECT_EQ(All.lines(), TypicalPlace + "1\t2\t5000\n");
}

TEST(LaunchTimes, shapesBeyondTheMost_haveNoLines) {
  LaunchTimes All;
  for (unsigned Grid = 1; Grid <= LaunchTimes::MostShapes + 1; ++Grid)
    for (uint64_t Ns : {10, 5000})
      All.ended("k", {{Grid, 1, 1}, {256, 1, 1}, 0, {1, 1, 1}}, Ns, /*InGraph=*/false);
  const std::string Lines = All.lines();
  EXPECT_EQ(std::count(Lines.begin(), Lines.end(), '\n'), long(LaunchTimes::MostShapes));
}
