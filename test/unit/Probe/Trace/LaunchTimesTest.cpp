#include "Probe/Trace/LaunchTimes.h"

#include <algorithm>
#include <cmath>
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

static std::vector<LaunchSeries::Segment> segmentsOf(const std::vector<uint64_t> &Times) {
  LaunchSeries Series;
  for (uint64_t Ns : Times)
    Series.add(Ns);
  return Series.segments();
}

TEST(LaunchSeries, launchesThatHaveLessAndLessToDo_haveSegmentsOfTheSameTime) {
  std::vector<uint64_t> Times;
  for (uint64_t Launch = 0; Launch < 200; ++Launch)
    Times.push_back(1000 * (200 - Launch));
  const std::vector<LaunchSeries::Segment> All = segmentsOf(Times);
  ASSERT_EQ(All.size(), 4u);
  uint64_t Launches = 0, TotalNs = 0;
  for (const LaunchSeries::Segment &S : All) {
    EXPECT_EQ(S.First, Launches);
    EXPECT_NEAR(double(S.TotalNs), 20'100'000 / 4.0, 200'000) << "one launch more or less";
    EXPECT_EQ(S.ReplayedNs, Times[S.Replayed]);
    uint64_t BeforeNs = 0, OwnNs = 0;
    for (uint64_t L = S.First; L < S.First + S.Launches; ++L) {
      OwnNs += Times[L];
      BeforeNs += L < S.Replayed ? Times[L] : 0;
    }
    EXPECT_EQ(OwnNs, S.TotalNs);
    EXPECT_NEAR(double(BeforeNs), double(S.TotalNs) / 2, 200'000);
    Launches += S.Launches;
    TotalNs += S.TotalNs;
  }
  EXPECT_EQ(Launches, 200u);
  EXPECT_EQ(TotalNs, 20'100'000u);
  EXPECT_NEAR(double(All[0].Launches), 200 * (1 - std::sqrt(0.75)), 1) << "long ones";
  EXPECT_NEAR(double(All[3].Launches), 200 * std::sqrt(0.25), 1) << "short ones";
}

TEST(LaunchSeries, likeLaunches_haveNoSegments) {
  EXPECT_TRUE(segmentsOf({}).empty());
  EXPECT_TRUE(segmentsOf(std::vector<uint64_t>(40, 5000)).empty());
  std::vector<uint64_t> Few = {1000, 2000, 3000, 4000, 5000, 6000, 7000};
  EXPECT_TRUE(segmentsOf(Few).empty());
  // Nearly all of the time is in launches that are alike.
  std::vector<uint64_t> Converging(20, 100'000);
  Converging.resize(200, 1000);
  EXPECT_TRUE(segmentsOf(Converging).empty());
  // One launch has more time than a segment.
  std::vector<uint64_t> OneLong(40, 1000);
  OneLong[20] = 60'000;
  EXPECT_TRUE(segmentsOf(OneLong).empty());
}

TEST(LaunchSeries, manyLaunches_segmentsHaveAllOfThem) {
  LaunchSeries Series;
  constexpr uint64_t Launches = 5 * LaunchSeries::MostKept + 3;
  for (uint64_t Launch = 0; Launch < Launches; ++Launch)
    Series.add(Launches - Launch);
  const std::vector<LaunchSeries::Segment> All = Series.segments();
  ASSERT_EQ(All.size(), 4u);
  uint64_t Next = 0;
  for (const LaunchSeries::Segment &S : All) {
    EXPECT_EQ(S.First, Next);
    EXPECT_GE(S.Replayed, S.First);
    Next += S.Launches;
    EXPECT_LT(S.Replayed, Next);
  }
  EXPECT_EQ(Next, Launches);
  EXPECT_NEAR(double(All[3].Launches), double(Launches) / 2, 32);
}

TEST(LaunchTimes, lines_nameTheSegments) {
  LaunchTimes All;
  for (uint64_t Launch = 0; Launch < 16; ++Launch)
    for (const char *Kernel : {"k", "nodes"})
      All.ended(Kernel, SeriesShape, 100 * (1 + Launch / 4), Kernel == std::string("nodes"));
  const std::string Place = "segment\tk\t64,1,1\t256,1,1\t0\t1,1,1\t";
  EXPECT_EQ(All.lines(), TypicalPlace + "8\t10\t300\n" + Place + "0\t7\t1000\t4\t200\n" + Place +
                             "7\t4\t1100\t8\t300\n" + Place + "11\t3\t1100\t12\t400\n" + Place +
                             "14\t2\t800\t14\t400\n");
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
