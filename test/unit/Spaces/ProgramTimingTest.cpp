#include "Spaces/ProgramTiming.h"

#include "unit/Support/ProgressTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <map>

using namespace carve;

namespace {

/// Programs with known costs.
class ProgramTimingTest : public testing::Test {
protected:
  TimingVerdict time(TimingTask Task) {
    Order.clear();
    return llvm::cantFail(timeConfigurations(
        Times, Task, Limits,
        [&](size_t Place) -> llvm::Expected<ConfigurationRun> {
          Order.push_back(Place);
          // The machine slows down for all programs.
          double Drift = 1 + 0.01 * Order.size();
          return ConfigurationRun{Costs[Place] * Drift, 0.5, Faults[Place]};
        },
        Progress));
  }
  size_t runsOf(size_t Place) { return llvm::count(Order, Place); }

  std::vector<double> Costs;
  std::map<size_t, std::string> Faults;
  std::vector<ConfigurationTimes> Times;
  TimingLimits Limits;
  std::vector<size_t> Order;
  RecordedProgress Progress;
};

} // namespace

TEST_F(ProgramTimingTest, fastest_isConfirmedInRoundsOfItsOwn) {
  Costs = {100, 90, 50, 130, 51};
  Times.resize(Costs.size());
  TimingVerdict V = time({0, {1, 2, 3, 4}, {}});
  EXPECT_EQ(V.Winner, 2u);
  EXPECT_NEAR(V.Ratio.Median, 0.5, 0.05);
  EXPECT_LT(V.Ratio.High, 1);
  EXPECT_EQ(V.Timed, 5u);
  EXPECT_EQ(V.Runs, Order.size());
  EXPECT_EQ(Progress.Steps.size(), V.Runs);
  EXPECT_EQ(Progress.Steps.front().rfind("timing 1/", 0), 0u) << Progress.Steps.front();
  EXPECT_EQ(Times[2].Confirmed.size(), Limits.ConfirmationRounds);
  // A clearly slower configuration is run once.
  EXPECT_EQ(runsOf(3), 1u);
  EXPECT_EQ(Times[3].Screened.size(), 1u);
  EXPECT_EQ(Times[3].FirstWallS, 0.5);
  // The reference runs in every round.
  EXPECT_EQ(runsOf(0), Limits.ScreeningRounds + Limits.ConfirmationRounds);
}

TEST_F(ProgramTimingTest, reference_staysUnlessAnotherIsMeasurablyFaster) {
  Costs = {100, 99.5, 120};
  Times.resize(Costs.size());
  TimingVerdict V = time({0, {1, 2}, {}});
  EXPECT_EQ(V.Winner, 0u);
  EXPECT_EQ(V.Ratio.Median, 1);
}

TEST_F(ProgramTimingTest, faultyConfiguration_losesHoweverFast) {
  Costs = {100, 10, 80};
  Faults[1] = "line 1 of the output differs";
  Times.resize(Costs.size());
  TimingVerdict V = time({0, {1, 2}, {}});
  EXPECT_EQ(V.Winner, 2u);
  EXPECT_EQ(Times[1].Fault, "line 1 of the output differs");
  EXPECT_EQ(runsOf(1), 1u);
}

TEST_F(ProgramTimingTest, knownConfiguration_isNotRunAgain) {
  Costs = {100, 90, 50, 130};
  Times.resize(Costs.size());
  time({0, {1, 2, 3}, {}});
  TimingVerdict Again = time({0, {1, 2, 3}, {}});
  EXPECT_EQ(Again.Winner, 2u);
  EXPECT_EQ(Again.Runs, 0u);
  EXPECT_EQ(Again.Timed, 0u);
  // The new configuration runs. The known ones run only to be confirmed against it.
  Costs.push_back(20);
  Times.emplace_back();
  TimingVerdict More = time({0, {1, 2, 3, 4}, {}});
  EXPECT_EQ(More.Winner, 4u);
  EXPECT_EQ(More.Timed, 1u);
  EXPECT_EQ(runsOf(3), 0u);
}

// The best of the screening looks worse in its confirmation than the next one in its screening.
TEST_F(ProgramTimingTest, worseConfirmation_movesNobodyUpWhenRepeated) {
  Costs = {100, 70, 71, 72, 73, 74};
  Times.resize(Costs.size());
  Limits.ScreeningRounds = 1;
  TimingTask Task{0, {0, 1, 2, 3, 4, 5}, {1}};
  std::map<size_t, unsigned> Seen;
  auto Run = [&](size_t Place) -> llvm::Expected<ConfigurationRun> {
    bool Lucky = Seen[Place]++ == 0;
    return ConfigurationRun{Costs[Place] * (Lucky || Place == 0 ? 1 : 1.1), 0.5, Faults[Place]};
  };
  TimingVerdict First = llvm::cantFail(timeConfigurations(Times, Task, Limits, Run, Progress));
  EXPECT_EQ(First.Timed, 6u);
  EXPECT_EQ(First.Winner, 1u);
  TimingVerdict Again = llvm::cantFail(timeConfigurations(Times, Task, Limits, Run, Progress));
  EXPECT_EQ(Again.Runs, 0u);
  EXPECT_EQ(Again.Winner, 1u);
}

TEST_F(ProgramTimingTest, failureInConfirmation_makesRoomForTheNext) {
  Costs = {100, 50, 51, 52, 53};
  Times.resize(Costs.size());
  TimingTask Task{0, {1, 2, 3, 4}, {}};
  auto Run = [&](size_t Place) -> llvm::Expected<ConfigurationRun> {
    bool Fails = Place == 1 && !Times[1].Confirmed.empty();
    return ConfigurationRun{Costs[Place], 0.5, Fails ? "differs" : ""};
  };
  TimingVerdict V = llvm::cantFail(timeConfigurations(Times, Task, Limits, Run, Progress));
  EXPECT_EQ(V.Winner, 2u);
  EXPECT_EQ(Times[4].Confirmed.size(), Limits.ConfirmationRounds);
  EXPECT_EQ(llvm::cantFail(timeConfigurations(Times, Task, Limits, Run, Progress)).Runs, 0u);
}

TEST_F(ProgramTimingTest, bestFavoured_isConfirmedToo) {
  Costs = {100, 50, 51, 52, 53, 95};
  Times.resize(Costs.size());
  TimingVerdict V = time({0, {1, 2, 3, 4, 5}, {5}});
  EXPECT_EQ(V.Winner, 1u);
  EXPECT_EQ(Times[5].Confirmed.size(), Limits.ConfirmationRounds);
  EXPECT_TRUE(Times[4].Confirmed.empty());
}

TEST_F(ProgramTimingTest, failingReference_endsTiming) {
  Costs = {100, 50};
  Faults[0] = "ended with exit status 1";
  Times.resize(Costs.size());
  auto V = timeConfigurations(
      Times, {0, {1}, {}}, Limits,
      [&](size_t Place) -> llvm::Expected<ConfigurationRun> {
        return ConfigurationRun{Costs[Place], 1, Faults[Place]};
      },
      Progress);
  ASSERT_FALSE(bool(V));
  EXPECT_EQ(llvm::toString(V.takeError()),
            "workload-failed: the first configuration: ended with exit status 1");
}

TEST_F(ProgramTimingTest, largeRound_hasReferenceInEveryBlock) {
  Costs = {100};
  std::vector<size_t> All;
  for (size_t I = 1; I <= 70; ++I) {
    Costs.push_back(60 + 0.01 * I);
    All.push_back(I);
  }
  Times.resize(Costs.size());
  TimingVerdict V = time({0, All, {}});
  EXPECT_NE(V.Winner, 0u);
  // A round runs 70 configurations in three blocks, the next one the best 24, and the last one the
  // best 12.
  EXPECT_EQ(runsOf(0), 3u + 1 + 1 + Limits.ConfirmationRounds);
  EXPECT_EQ(Order.size() - Limits.ConfirmationRounds * (Limits.Finalists + 1),
            (70 + 3) + (24 + 1) + (12 + 1u));
}

TEST_F(ProgramTimingTest, interruptedTiming_continues) {
  Costs = {100};
  std::vector<size_t> All;
  for (size_t I = 1; I <= 70; ++I) {
    Costs.push_back(150 - I);
    All.push_back(I);
  }
  Times.resize(Costs.size());
  size_t Runs = 0;
  auto Interrupted = timeConfigurations(
      Times, {0, All, {}}, Limits,
      [&](size_t Place) -> llvm::Expected<ConfigurationRun> {
        if (++Runs == 50)
          return llvm::createStringError("interrupted");
        return ConfigurationRun{Costs[Place], 1, ""};
      },
      Progress);
  ASSERT_FALSE(bool(Interrupted));
  llvm::consumeError(Interrupted.takeError());
  auto Measured = [](const ConfigurationTimes &T) { return T.measured(); };
  // One block of 32 and the reference has results, and the other block has none.
  EXPECT_EQ(llvm::count_if(Times, Measured), 33);
  for (const ConfigurationTimes &T : Times)
    EXPECT_EQ(T.Screened.size(), T.measured());
  std::vector<size_t> Known;
  for (size_t P : All)
    if (Times[P].measured())
      Known.push_back(P);
  TimingVerdict V = time({0, All, {}});
  EXPECT_EQ(V.Timed, 70u - 32);
  EXPECT_EQ(V.Winner, 70u);
  for (size_t P : Known)
    EXPECT_LE(runsOf(P), Limits.ConfirmationRounds) << "confirmed at most";
}
