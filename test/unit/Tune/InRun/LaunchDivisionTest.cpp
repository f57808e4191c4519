#include "Tune/InRun/LaunchDivision.h"

#include "Tune/InRun/TimedShapes.h"
#include "unit/Tune/TuneTesting.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

/// A kernel `k` that is launched in one shape with different arguments.
class LaunchDivisionTest : public testing::Test {
protected:
  LaunchDivisionTest() {
    Kernel.Kernel = "k";
    Kernel.Shapes = {launches("k", 256, 0)};
    Kernel.Shapes[0].Launches = 0;
  }

  /// Adds launches of \p MeanNs each, with the arguments \p Key; 0 if these could not be told.
  void launched(uint64_t Key, uint64_t Launches, uint64_t MeanNs) {
    KernelLaunches &L = Kernel.Shapes[0];
    L.Launches += Launches;
    L.TotalNs += Launches * MeanNs;
    if (Key)
      Kernel.Classes.push_back({"k", L.Shape, Key, Launches, Launches * MeanNs});
  }

  /// The launches and mean times of the classes, or of the shape if it remains undivided.
  std::vector<std::pair<uint64_t, uint64_t>> classes() const {
    std::vector<std::pair<uint64_t, uint64_t>> Found;
    for (const KernelLaunches &L : divideLaunches(Kernel).Kernel.Shapes)
      Found.emplace_back(L.Launches, L.TotalNs / L.Launches);
    return Found;
  }
  /// The keys of each class.
  std::vector<std::set<uint64_t>> keys() const {
    std::vector<std::set<uint64_t>> Found;
    for (const PlannedClass &C : divideLaunches(Kernel).Classes) {
      Found.resize(std::max<size_t>(Found.size(), C.Shape.Class));
      Found[C.Shape.Class - 1].insert(C.Key);
    }
    return Found;
  }

  TracedKernel Kernel;
};

using Classes = std::vector<std::pair<uint64_t, uint64_t>>;
using Keys = std::vector<std::set<uint64_t>>;

} // namespace

TEST_F(LaunchDivisionTest, argumentsThatTakeOtherTimes_areClasses) {
  launched(7, 300, 10'000);
  launched(8, 300, 35'000);
  EXPECT_EQ(classes(), (Classes{{300, 35'000}, {300, 10'000}}));
  EXPECT_EQ(keys(), (Keys{{8}, {7}}));
  std::vector<TimedShape> Timed = timedShapes(Kernel);
  ASSERT_EQ(Timed.size(), 2u);
  EXPECT_EQ(Timed[0].Shape.Class, 1u);
  EXPECT_EQ(Timed[0].MeanNs, 35'000);
  EXPECT_EQ(launchedShapes(Kernel).size(), 1u) << "what else is done with shapes knows no classes";
}

TEST_F(LaunchDivisionTest, argumentsThatTakeTheSameTime_areTogether) {
  launched(7, 300, 10'000);
  launched(8, 300, 10'400);
  EXPECT_EQ(classes(), (Classes{{600, 10'200}}));
  EXPECT_TRUE(keys().empty());
  launched(9, 300, 30'000);
  EXPECT_EQ(classes(), (Classes{{300, 30'000}, {600, 10'200}}));
  EXPECT_EQ(keys(), (Keys{{9}, {7, 8}}));
}

TEST_F(LaunchDivisionTest, everyLaunchWithItsOwn_remainsUndivided) {
  for (uint64_t Step = 1; Step <= 40; ++Step)
    launched(Step, 1, 10'000 + 1000 * Step);
  EXPECT_EQ(classes().size(), 1u);
}

namespace {

/// Launches of one shape that have less and less to do.
struct SegmentsTest : LaunchDivisionTest {
  /// Launches that take \p Times as long as 40 us on average.
  explicit SegmentsTest(double Times = 1) {
    launched(0, 100, uint64_t(40e3 * Times));
    const LaunchShape &Shape = Kernel.Shapes[0].Shape;
    auto Ns = [&](double Us) { return uint64_t(1e3 * Us * Times); };
    // Of the launches of the last one, not all times were kept.
    Kernel.Segments = {{"k", Shape, 0, 13, Ns(1000), 6, Ns(75)},
                       {"k", Shape, 13, 16, Ns(1000), 20, Ns(62)},
                       {"k", Shape, 29, 21, Ns(1000), 38, Ns(48)},
                       {"k", Shape, 50, 50, Ns(800), 64, Ns(28)}};
  }
  bool isDivided() const { return !divideBySegments(Kernel).Segments.empty(); }
};

} // namespace

TEST_F(SegmentsTest, launchesThatTakeDifferentTimes_areDividedByTheirOrder) {
  const LaunchDivision Divided = divideBySegments(Kernel);
  ASSERT_EQ(Divided.Kernel.Shapes.size(), 4u);
  EXPECT_EQ(Divided.Kernel.Shapes[0].Launches, 13u);
  EXPECT_NEAR(double(Divided.Kernel.Shapes[0].TotalNs), 4e6 * 1000 / 3800, 2);
  EXPECT_NEAR(double(Divided.Kernel.Shapes[3].TotalNs), 4e6 * 800 / 3800, 2);
  ASSERT_EQ(Divided.Segments.size(), 4u);
  EXPECT_EQ(Divided.Segments[2].First, 29u);
  EXPECT_EQ(Divided.Segments[2].Shape.Class, 3u);
  EXPECT_TRUE(Divided.Classes.empty());
  std::vector<TimedShape> Timed = segmentedShapes(Kernel);
  ASSERT_EQ(Timed.size(), 4u);
  EXPECT_TRUE(Timed[1].isSegment());
  EXPECT_EQ(Timed[1].Typical->First, 7u) << "counted within the segment";
  EXPECT_EQ(Timed[1].replayedNs(), 62e3);
  EXPECT_EQ(timedShapes(Kernel).size(), 1u) << "what is rotated knows no segments";
}

TEST_F(SegmentsTest, moreShapesThanAreTimed_remainUndivided) {
  auto AddShape = [&](unsigned Blocks) {
    Kernel.Shapes.push_back(launches("k", 256, 1'000'000));
    Kernel.Shapes.back().Shape.Grid = {Blocks, 1, 1};
  };
  for (unsigned Blocks = 101; Blocks <= 104; ++Blocks)
    AddShape(Blocks);
  EXPECT_EQ(divideBySegments(Kernel).Kernel.Shapes.size(), 8u);
  EXPECT_EQ(segmentedShapes(Kernel).size(), 8u);
  AddShape(105);
  EXPECT_EQ(divideBySegments(Kernel).Kernel.Shapes.size(), 6u);
  EXPECT_TRUE(segmentedShapes(Kernel).empty());
}

TEST_F(SegmentsTest, argumentsThatTakeOtherTimes_areClassesAllTheSame) {
  const LaunchShape &Shape = Kernel.Shapes[0].Shape;
  Kernel.Classes = {{"k", Shape, 7, 50, 3'000'000}, {"k", Shape, 8, 50, 1'000'000}};
  EXPECT_EQ(classes(), (Classes{{50, 60'000}, {50, 20'000}}));
  EXPECT_FALSE(isDivided());
  EXPECT_EQ(divideBySegments(Kernel).Classes.size(), 2u);
  EXPECT_TRUE(segmentedShapes(Kernel).empty());
}

TEST_F(SegmentsTest, severalProcessesOrOtherLaunches_remainUndivided) {
  EXPECT_TRUE(isDivided());
  Kernel.Shapes[0].Processes = 2;
  EXPECT_FALSE(isDivided()) << "each may have launches of its own";
  Kernel.Shapes[0].Processes = 1;
  Kernel.Shapes[0].Launches = 101;
  EXPECT_FALSE(isDivided()) << "the segments are those of other launches";
  Kernel.Shapes[0].Launches = 100;
  Kernel.Shapes.push_back(Kernel.Shapes[0]);
  Kernel.Shapes[1].Cooperative = true;
  EXPECT_FALSE(isDivided()) << "the segments may be those of other launches";
}

TEST_F(SegmentsTest, recordsThatCannotBe_areNotBelieved) {
  const std::vector<TracedSegment> Sound = Kernel.Segments;
  auto With = [&](size_t Number, uint64_t TracedSegment::*Field, uint64_t Value) {
    Kernel.Segments = Sound;
    Kernel.Segments[Number].*Field = Value;
    return isDivided();
  };
  EXPECT_TRUE(With(1, &TracedSegment::Replayed, 28));
  EXPECT_FALSE(With(1, &TracedSegment::Replayed, 29)) << "it is in the next one";
  EXPECT_FALSE(With(1, &TracedSegment::Replayed, 12)) << "it is in the one before";
  EXPECT_FALSE(With(1, &TracedSegment::First, 14)) << "a launch is in none";
  EXPECT_FALSE(With(0, &TracedSegment::TotalNs, 0));
  EXPECT_FALSE(With(3, &TracedSegment::Launches, 51)) << "more than there are";
}

TEST(Segments, shortAndLongLaunches_remainUndivided) {
  struct Case : SegmentsTest {
    using SegmentsTest::isDivided;
    using SegmentsTest::SegmentsTest;
    void TestBody() override {}
  };
  EXPECT_FALSE(Case(0.7).isDivided()) << "28 us";
  EXPECT_TRUE(Case(0.8).isDivided()) << "32 us";
  EXPECT_TRUE(Case(12).isDivided()) << "480 us";
  EXPECT_FALSE(Case(13).isDivided()) << "520 us";
}

TEST_F(LaunchDivisionTest, noArgumentsTraced_remainsUndivided) {
  launched(0, 300, 10'000);
  EXPECT_EQ(classes(), (Classes{{300, 10'000}}));
  EXPECT_TRUE(keys().empty());
}

TEST_F(LaunchDivisionTest, shortLaunches_areOneClassOfTheRest) {
  launched(7, 100, 100'000);
  launched(8, 100, 1'000);
  launched(9, 100, 2'000);
  EXPECT_EQ(classes(), (Classes{{100, 100'000}, {200, 1'500}}));
  EXPECT_EQ(keys(), (Keys{{7}, {0}}));
}

TEST_F(LaunchDivisionTest, manyClasses_areThreeAndTheRest) {
  for (uint64_t Key = 1; Key <= 6; ++Key)
    launched(Key, 100, 10'000 * Key);
  EXPECT_EQ(classes(), (Classes{{100, 60'000}, {100, 50'000}, {100, 40'000}, {300, 20'000}}));
}

TEST_F(LaunchDivisionTest, fewOtherLaunches_areNoClass) {
  launched(7, 1000, 10'000);
  launched(8, 10, 30'000);
  EXPECT_EQ(classes().size(), 1u);
}

TEST_F(LaunchDivisionTest, launchesThatDifferOtherwise_areNotDivided) {
  launched(7, 300, 10'000);
  launched(8, 300, 35'000);
  Kernel.Shapes.push_back(Kernel.Shapes[0]);
  Kernel.Shapes[1].Cooperative = true;
  EXPECT_EQ(classes().size(), 2u);
  EXPECT_TRUE(keys().empty());
}

TEST_F(LaunchDivisionTest, recordsThatSayMoreThanThereIs_areNotBelieved) {
  launched(7, 300, 10'000);
  launched(8, 300, 35'000);
  Kernel.Classes[1].TotalNs *= 10;
  EXPECT_EQ(classes().size(), 1u);
}
