#include "Probe/Replay/LaunchStates.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;

namespace {

/// The states of one kernel with one shape that is launched ten times.
struct LaunchStatesTest : testing::Test {
  LaunchStatesTest() {
    PlannedKernel &Kernel = Wanted.Kernels["k"];
    Kernel.Name = "k";
    Kernel.Variants = {{"default", "k"}, {"control", "k__c"}, {"r32", "k__r32"}};
    Kernel.Excluded = {2};
    PlannedShape Shape;
    Shape.Kernel = "k";
    Shape.Launches = 10;
    Shape.MeanNs = 1000;
    Kernel.Shapes = {Shape};
  }
  PlannedKernel &kernel() { return Wanted.Kernels.at("k"); }

  Plan Wanted;
};

} // namespace

TEST_F(LaunchStatesTest, replay_firstLaunchAndTheMiddleOne) {
  LaunchStates States(Wanted);
  ShapeState &State = States.of(kernel().Shapes[0]);
  EXPECT_EQ(States.of(kernel()).Out, (std::set<size_t>{2})) << "the plan excludes it";
  EXPECT_TRUE(States.wantsReplay(State, 0));
  State.Replaying = true;
  EXPECT_FALSE(States.wantsReplay(State, 1)) << "another thread replays";
  State.Replaying = false;
  State.Replayed = 1;
  EXPECT_FALSE(States.wantsReplay(State, 4));
  EXPECT_TRUE(States.wantsReplay(State, 5));
  kernel().Mode = TimingMode::VerifyRotate;
  EXPECT_FALSE(States.wantsReplay(State, 5)) << "outputs are compared once";
  kernel().Mode = TimingMode::Replay;
  States.of(kernel()).StoodBack = true;
  EXPECT_FALSE(States.wantsReplay(State, 5));
}

TEST_F(LaunchStatesTest, replay_ofTheLaunchesThatStandForTheTime) {
  PlannedShape &Shape = kernel().Shapes[0];
  Shape.Replayed = LaunchesToReplay{"k", Shape.Shape, 3, 7};
  LaunchStates States(Wanted);
  ShapeState &State = States.of(Shape);
  EXPECT_FALSE(States.wantsReplay(State, 0));
  EXPECT_FALSE(States.wantsReplay(State, 2));
  EXPECT_TRUE(States.wantsReplay(State, 3));
  State.Replayed = 1;
  EXPECT_FALSE(States.wantsReplay(State, 6));
  EXPECT_TRUE(States.wantsReplay(State, 7));
  kernel().Mode = TimingMode::VerifyRotate;
  EXPECT_FALSE(States.wantsReplay(State, 7));
  State.Replayed = 0;
  EXPECT_FALSE(States.wantsRotation(State)) << "nothing was compared";
  EXPECT_TRUE(States.wantsReplay(State, 3));
}

TEST_F(LaunchStatesTest, segments_areToldByTheNumberOfTheLaunch) {
  const LaunchShape Undivided = kernel().Shapes[0].Shape;
  kernel().Shapes.push_back(kernel().Shapes[0]);
  kernel().Shapes[0].Shape.Class = 1;
  kernel().Shapes[1].Shape.Class = 3;
  kernel().Segments[Undivided] = {{0, 1}, {2, 2}, {3, 3}};
  LaunchStates States(Wanted);
  std::vector<const PlannedShape *> Found;
  for (unsigned Launch = 0; Launch < 5; ++Launch)
    Found.push_back(States.nextInSegments(kernel(), Undivided));
  const PlannedShape *First = &kernel().Shapes[0], *Last = &kernel().Shapes[1];
  EXPECT_EQ(Found, (std::vector<const PlannedShape *>{First, First, nullptr, Last, Last}));
  ShapeState &OfLast = States.of(*Last);
  EXPECT_FALSE(States.hasReplayedSegment(OfLast));
  OfLast.Replayed = 1;
  EXPECT_FALSE(States.hasReplayedSegment(OfLast)) << "it is asked about others";
  EXPECT_TRUE(States.hasReplayedSegment(States.of(*First)));
  LaunchShape Other = Undivided;
  Other.Grid = {7, 1, 1};
  kernel().Segments[Other] = {{0, 1}};
  EXPECT_EQ(States.nextInSegments(kernel(), Other), nullptr) << "shapes are counted separately";
}

TEST_F(LaunchStatesTest, rotation_beginsAfterTheComparisonAndEnds) {
  LaunchStates States(Wanted);
  ShapeState &State = States.of(kernel().Shapes[0]);
  EXPECT_FALSE(States.wantsRotation(State));
  kernel().Mode = TimingMode::VerifyRotate;
  EXPECT_FALSE(States.wantsRotation(State)) << "nothing was compared";
  State.Replayed = 1;
  EXPECT_TRUE(States.wantsRotation(State));
  State.Turns = std::make_unique<Rotation>(std::vector<size_t>{0, 1, 2}, 1);
  EXPECT_TRUE(States.wantsRotation(State));
  States.drop(kernel(), {1, 2});
  EXPECT_FALSE(States.wantsRotation(State)) << "the default is left alone";
  State.Turns.reset();
  States.of(kernel()).StoodBack = true;
  EXPECT_FALSE(States.wantsRotation(State));
  kernel().MayRotate = true;
  EXPECT_TRUE(States.wantsRotation(State));
  States.of(kernel()).Refused = true;
  EXPECT_FALSE(States.wantsRotation(State));
}

TEST_F(LaunchStatesTest, pending_isTheFirstLaunchOfAVariantWithoutARecord) {
  LaunchStates States(Wanted);
  ShapeState &State = States.of(kernel().Shapes[0]);
  State.Turns = std::make_unique<Rotation>(std::vector<size_t>{0, 1, 2}, 1);
  size_t Variant = 0;
  EXPECT_EQ(States.firstPending(Variant), nullptr);
  State.Turns->launched({0, 0}, 100, Rotation::By::Call, States.nextNumber());
  EXPECT_EQ(States.firstPending(Variant), nullptr) << "the default cannot be blamed";
  State.Turns->launched({0, 2}, 101, Rotation::By::Call, States.nextNumber());
  State.Turns->launched({0, 1}, 102, Rotation::By::Call, States.nextNumber());
  EXPECT_EQ(States.firstPending(Variant), &State);
  EXPECT_EQ(Variant, 2u);
  EXPECT_EQ(States.ofRecord(kernel(), State.Shape->Shape, 2, 101, /*InGraph=*/false), &State);
  (void)State.Turns->recorded(2, 101);
  EXPECT_EQ(States.firstPending(Variant), &State);
  EXPECT_EQ(Variant, 1u);
  States.failed(102);
  EXPECT_EQ(States.firstPending(Variant), nullptr);
  State.Dispatched = 1;
  EXPECT_EQ(States.firstPending(Variant), &State);
  States.forgetPending();
  EXPECT_EQ(States.firstPending(Variant), nullptr);
}

TEST_F(LaunchStatesTest, rotatedKernels_haveParts) {
  kernel().Mode = TimingMode::VerifyRotate;
  kernel().Shapes[0].Launches = 1000;
  {
    LaunchStates States(Wanted);
    EXPECT_TRUE(States.isInPart(States.of(kernel().Shapes[0]), 0));
    EXPECT_TRUE(States.isInPart(States.of(kernel().Shapes[0]), 249));
  }
  PlannedKernel &Other = Wanted.Kernels["j"];
  Other = kernel();
  Other.Name = "j";
  Other.Shapes.push_back(Other.Shapes[0]);
  Other.Shapes[1].Launches = 160; // Half of it would be too few.
  Other.Shapes[1].Shape.Grid = {2, 1, 1};
  PlannedKernel &Replayed = Wanted.Kernels["a"];
  Replayed = kernel();
  Replayed.Mode = TimingMode::Replay;
  LaunchStates States(Wanted);
  for (uint64_t Index : {0, 124, 125, 249, 250, 375}) {
    const bool IsFirst = Index % 250 < 125;
    EXPECT_EQ(States.isInPart(States.of(Other.Shapes[0]), Index), IsFirst) << Index;
    EXPECT_EQ(States.isInPart(States.of(kernel().Shapes[0]), Index), !IsFirst) << Index;
    EXPECT_TRUE(States.isInPart(States.of(Other.Shapes[1]), Index % 160)) << Index;
    EXPECT_TRUE(States.isInPart(States.of(Replayed.Shapes[0]), Index)) << "once it is rotated";
  }
}

TEST_F(LaunchStatesTest, rotationThatBeginsLate_doesWithoutItsPart) {
  kernel().Mode = TimingMode::VerifyRotate;
  kernel().Shapes[0].Launches = 1000;
  Wanted.Kernels["j"] = kernel();
  LaunchStates States(Wanted);
  ShapeState &State = States.of(kernel().Shapes[0]); // Its part is the second half of each quarter.
  EXPECT_FALSE(States.isInPart(State, 800)) << "twelve cycles take 84 launches";
  EXPECT_TRUE(States.isInPart(State, 917));
  EXPECT_TRUE(States.isInPart(State, 920));
  EXPECT_TRUE(States.isInPart(State, 1001)) << "it has none any more";
}

TEST_F(LaunchStatesTest, launchesOutsideOfARotation_waitForTheirRecords) {
  kernel().Mode = TimingMode::Rotate;
  LaunchStates States(Wanted);
  const LaunchShape Shape = kernel().Shapes[0].Shape;
  ShapeState &State = States.of(kernel().Shapes[0]);
  auto NoteDefault = [&](uint64_t Id) {
    return States.noteBeside(kernel(), Shape, Id, Rotation::By::Call);
  };
  EXPECT_TRUE(States.mayRotate(kernel(), Shape));
  auto Recorded = [&] { // The ids are those of the runtime's calls.
    return States.ofRecord(kernel(), Shape, DefaultPlace, /*Correlation=*/1, /*InGraph=*/false);
  };
  EXPECT_EQ(Recorded(), &State) << "nothing waits";
  EXPECT_NE(NoteDefault(100), nullptr);
  State.Turns = std::make_unique<Rotation>(std::vector<size_t>{0, 1, 2}, 1);
  State.Turns->launched({0, DefaultPlace}, 102, Rotation::By::Call, States.nextNumber());
  EXPECT_NE(NoteDefault(104), nullptr) << "between two parts";
  State.Turns->launched({1, DefaultPlace}, 106, Rotation::By::Call, States.nextNumber());
  EXPECT_EQ(Recorded(), nullptr);
  EXPECT_EQ(Recorded(), &State);
  EXPECT_EQ(State.Turns->recorded(DefaultPlace, 1)->Cycle, 0u);
  EXPECT_EQ(Recorded(), nullptr);
  EXPECT_EQ(Recorded(), &State);
  EXPECT_EQ(State.Turns->recorded(DefaultPlace, 1)->Cycle, 1u);
  States.drop(kernel(), {1, 2});
  EXPECT_FALSE(States.mayRotate(kernel(), Shape)) << "the rotation has ended";
}
