#include "Tune/InRun/TimedShapes.h"

#include "unit/Tune/TuneTesting.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace carve;

namespace {

/// A kernel `k`, and the launch shapes that are chosen for it.
class TimedShapesTest : public testing::Test {
protected:
  TimedShapesTest() { Kernel.Kernel = "k"; }

  /// Adds a shape with \p Blocks blocks of \p Threads threads.
  KernelLaunches &launched(uint64_t Launches, double MeanNs, unsigned Blocks,
                           unsigned Threads = 256) {
    KernelLaunches L = launches("k", Threads, uint64_t(double(Launches) * MeanNs));
    L.Shape.Grid = {Blocks, 1, 1};
    L.Launches = Launches;
    Kernel.Shapes.push_back(L);
    return Kernel.Shapes.back();
  }
  /// Adds \p Count shapes whose launches take as long as their grids are large, each launched once:
  /// the last is the shortest.
  void shrinking(unsigned Count, double NsOfBlock = 1000) {
    for (unsigned Blocks = Count; Blocks > 0; --Blocks)
      launched(1, NsOfBlock * Blocks, Blocks);
  }
  std::vector<TimedShape> chosen(size_t Most = MostTimedShapes) const {
    return representativeShapes(Kernel, Most);
  }

  TracedKernel Kernel;
};

/// The grids for which \p T stands, its own included.
std::vector<unsigned> gridsOf(const TimedShape &T) {
  std::vector<unsigned> Grids = {T.Shape.Grid[0]};
  for (const LaunchShape &S : T.StandsFor)
    Grids.push_back(S.Grid[0]);
  llvm::sort(Grids);
  return Grids;
}

} // namespace

TEST_F(TimedShapesTest, timed_manyShapes_areThoseThatMakeUpTheTime) {
  for (unsigned I = 1; I <= 20; ++I)
    launched(10, 1e6 / I, I);
  std::vector<TimedShape> Shapes = timedShapes(Kernel);
  ASSERT_EQ(Shapes.size(), 8u);
  for (unsigned I = 0; I < 8; ++I) {
    EXPECT_EQ(Shapes[I].Shape.Grid[0], I + 1);
    EXPECT_FALSE(Shapes[I].isRepresentative());
    EXPECT_EQ(Shapes[I].groupNs(), Shapes[I].totalNs());
  }
  EXPECT_EQ(Shapes[1].Launches, 10u);
  EXPECT_NEAR(Shapes[1].MeanNs, 0.5e6, 1);
}

TEST_F(TimedShapesTest, timed_launchesThatAreReplayed_areThoseOfTheTrace) {
  LaunchShape Unlike = launched(42, 378e3, 8).Shape;
  launched(10, 1e5, 4);
  Kernel.Typical = {{"k", Unlike, 0, 6, 1'300'000}, {"k", LaunchShape(), 1, 1, 5}};
  std::vector<TimedShape> Shapes = timedShapes(Kernel);
  ASSERT_EQ(Shapes.size(), 2u);
  EXPECT_EQ(Shapes[0].replayedNs(), 1.3e6);
  EXPECT_EQ(Shapes[0].totalNs(), 42 * 378e3) << "what counts is the time of all launches";
  ASSERT_TRUE(Shapes[0].Typical);
  EXPECT_EQ(Shapes[0].Typical->Second, 6u);
  EXPECT_FALSE(Shapes[1].Typical);
  EXPECT_EQ(Shapes[1].replayedNs(), 1e5);
}

TEST_F(TimedShapesTest, timed_classes_haveNoTypicalLaunches) {
  LaunchShape Shape = launched(2000, 22'500, 8).Shape;
  Kernel.Classes = {{"k", Shape, 7, 1000, 35'000'000}, {"k", Shape, 8, 1000, 10'000'000}};
  Kernel.Typical = {{"k", Shape, 1, 3, 35'000}};
  std::vector<TimedShape> Shapes = timedShapes(Kernel);
  ASSERT_EQ(Shapes.size(), 2u);
  for (const TimedShape &S : Shapes)
    EXPECT_FALSE(S.Typical) << "their launches are counted over the whole shape";
}

TEST_F(TimedShapesTest, timed_upTo95PercentOfTheTime) {
  launched(1, 96e3, 1);
  launched(1, 4e3, 2);
  EXPECT_EQ(timedShapes(Kernel).size(), 1u);
  Kernel.Shapes[0].TotalNs = 94000;
  Kernel.Shapes[1].TotalNs = 6000;
  EXPECT_EQ(timedShapes(Kernel).size(), 2u);
}

TEST_F(TimedShapesTest, timed_samePlannedShape_areOne) {
  launched(10, 1e6, 100);
  KernelLaunches &Cooperative = launched(30, 2e6, 100);
  Cooperative.Cooperative = true;
  Cooperative.Processes = 3;
  std::vector<TimedShape> Shapes = timedShapes(Kernel);
  ASSERT_EQ(Shapes.size(), 1u);
  EXPECT_EQ(Shapes[0].Launches, 40u);
  EXPECT_EQ(Shapes[0].Processes, 3u);
  EXPECT_NEAR(Shapes[0].MeanNs, 1.75e6, 1);
}

TEST_F(TimedShapesTest, representatives_ofASolverWhoseGridsShrink_standForAll) {
  shrinking(511);
  // A group may have one shape more or less than its part of the time.
  const double GroupNs = tracedNs(Kernel) / 8, LargestNs = 511e3;
  for (size_t Most : {8, 4, 2}) {
    std::vector<TimedShape> Shapes = chosen(Most);
    ASSERT_EQ(Shapes.size(), Most);
    EXPECT_NEAR(groupNs(Shapes), tracedNs(Kernel), 1);
    std::set<unsigned> All;
    for (size_t I = 0; I < Most; ++I) {
      const TimedShape &T = Shapes[I];
      EXPECT_NEAR(T.groupNs(), GroupNs * 8 / double(Most), LargestNs);
      EXPECT_EQ(T.Launches, 1u);
      EXPECT_EQ(T.MeanNs, 1000.0 * T.Shape.Grid[0]);
      if (I > 0) {
        EXPECT_LE(T.groupNs(), Shapes[I - 1].groupNs());
      }
      std::vector<unsigned> Grids = gridsOf(T);
      EXPECT_EQ(Grids.back() - Grids.front() + 1, Grids.size()) << "like stands for like";
      // Half of the group's time is reached in the representative's.
      double BelowNs = 0;
      for (unsigned Grid : Grids)
        BelowNs += Grid < T.Shape.Grid[0] ? 1000.0 * Grid : 0;
      EXPECT_LT(BelowNs, T.groupNs() / 2);
      EXPECT_GE(BelowNs + T.totalNs(), T.groupNs() / 2);
      All.insert(Grids.begin(), Grids.end());
    }
    EXPECT_EQ(All.size(), 511u);
  }
}

TEST_F(TimedShapesTest, representatives_launchesOfTheSameTime_areOfGroupsOfOneSize) {
  for (unsigned I = 1; I <= 96; ++I)
    launched(100, 1e6, I);
  for (const TimedShape &T : chosen()) {
    EXPECT_EQ(T.StandsFor.size(), 11u);
    EXPECT_EQ(T.Launches, 100u);
    EXPECT_NEAR(T.groupNs(), 12 * 100 * 1e6, 1);
  }
}

/// Such a shape needs no other to stand for it, and others are not like it.
TEST_F(TimedShapesTest, representatives_heavyShape_isTimedForItself) {
  shrinking(100);
  launched(50, 60e3, 1000); // 3 of 8.05 ms.
  std::vector<TimedShape> Shapes = chosen();
  ASSERT_EQ(Shapes.size(), 8u);
  EXPECT_EQ(Shapes[0].Shape.Grid[0], 1000u);
  EXPECT_FALSE(Shapes[0].isRepresentative());
  for (size_t I = 1; I < 8; ++I) {
    EXPECT_TRUE(Shapes[I].isRepresentative());
    EXPECT_NEAR(Shapes[I].groupNs(), 5.05e6 / 7, 100e3);
  }
  EXPECT_NEAR(groupNs(Shapes), tracedNs(Kernel), 1);
}

TEST_F(TimedShapesTest, representatives_ofSeveralBlocks_standForTheirOwn) {
  for (unsigned I = 1; I <= 30; ++I) {
    launched(1, 30e3, I, 256);
    launched(1, 9e3, I, 64);
    launched(1, 0.5e3, I, 32); // 1.3 % of the time: it can be left out.
  }
  launched(1, 30e3, 31, 64).Shape.DynamicSmemBytes = 1024;
  std::vector<TimedShape> Shapes = chosen();
  ASSERT_EQ(Shapes.size(), 8u);
  std::map<unsigned, unsigned> ByThreads;
  for (const TimedShape &T : Shapes) {
    ++ByThreads[T.Shape.Block[0]];
    for (const LaunchShape &S : T.StandsFor) {
      EXPECT_EQ(S.Block, T.Shape.Block);
      EXPECT_EQ(S.DynamicSmemBytes, T.Shape.DynamicSmemBytes);
    }
  }
  // Of 900 and 270 us, the larger share gets more.
  EXPECT_EQ(ByThreads, (std::map<unsigned, unsigned>{{64, 2}, {256, 6}}));
  EXPECT_NEAR(groupNs(Shapes), 1170e3, 1);
}

TEST_F(TimedShapesTest, representatives_moreBlocksThanMayBeTimed_areTheHeaviest) {
  for (unsigned Threads = 1; Threads <= 20; ++Threads)
    launched(1, 1e6 + Threads, 10, 32 * Threads);
  std::vector<TimedShape> Shapes = chosen();
  ASSERT_EQ(Shapes.size(), 8u);
  for (const TimedShape &T : Shapes) {
    EXPECT_FALSE(T.isRepresentative());
    EXPECT_GT(T.Shape.Block[0], 32u * 12);
  }
}

TEST_F(TimedShapesTest, representatives_fewShapes_areTheShapesThemselves) {
  shrinking(8);
  launched(100, 1e6, 0); // Launches of very many shapes.
  for (size_t Most : {8, 4, 2}) {
    std::vector<TimedShape> Shapes = chosen(Most);
    EXPECT_EQ(Shapes.size(), 8u);
    EXPECT_FALSE(llvm::any_of(Shapes, [](const TimedShape &T) { return T.isRepresentative(); }));
  }
  Kernel.Shapes.clear();
  EXPECT_TRUE(chosen().empty());
  shrinking(100);
  launched(20, 1e6, 1000);
  launched(20, 1e6, 2000);
  launched(60, 1e6, 3000);
  EXPECT_EQ(chosen().size(), 3u) << "they have 95 % of the time";
}

/// Recorded runs do not say which shapes were representatives, and there is more time for replays.
TEST_F(TimedShapesTest, recordedRun_isOfTheShapesThatItTimed) {
  shrinking(200);
  launched(1, 1e3, 1000, 64);
  std::vector<std::vector<TimedShape>> Choices = {timedShapes(Kernel), chosen(8), chosen(4),
                                                  chosen(2)};
  for (const std::vector<TimedShape> &Choice : Choices) {
    InRunRecord Replayed, Rotated;
    for (const TimedShape &T : Choice) {
      Replayed.Timed.push_back({{"k", T.Shape, 0}, false, 0, "default", 1, 0});
      Rotated.Rotated.push_back({"k", T.Shape, 0, "default", 1});
    }
    for (const InRunRecord &Record : {Replayed, Rotated}) {
      std::vector<TimedShape> Found = shapesTimedIn(Record, Kernel);
      ASSERT_EQ(Found.size(), Choice.size());
      for (size_t I = 0; I < Found.size(); ++I) {
        EXPECT_EQ(Found[I].Shape, Choice[I].Shape);
        EXPECT_EQ(Found[I].StandsFor, Choice[I].StandsFor);
      }
    }
    for (TimedSample &T : Replayed.Timed)
      T.Place.Kernel = "other";
    EXPECT_TRUE(shapesTimedIn(Replayed, Kernel).empty());
  }
}
