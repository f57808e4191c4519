// The records and effects of replays on the stand-in driver.
#include "unit/Probe/StandInRun.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace carve;
using namespace carve::probe::test;

namespace {
/// Returns the launch shape and the number of a record.
std::string placeOf(const Fields &Line) {
  std::string Place;
  for (size_t I = 0; I < 6; ++I)
    Place += Line.at(I) + " ";
  return Place;
}
} // namespace

/// Returns the verdict of each variant of \p Kernel; of several launches the worst one.
static std::map<std::string, std::string> verdicts(const Records &File, const std::string &Kernel) {
  std::map<std::string, std::string> Found;
  for (const Fields &Line : File.of("verified"))
    if (Line.at(0) == Kernel && (!Found.count(Line.at(6)) || Found[Line.at(6)] == "equal"))
      Found[Line.at(6)] = Line.at(7);
  return Found;
}

TEST(ReplayRun, firstAndMiddleLaunch_areVerifiedAndTimed) {
  StandInRun Run("in-place");
  CommandResult Result = Run.time({});
  EXPECT_EQ(Result.Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Result.Stderr, "");
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_EQ(Run.Timed.of("stood-back"), std::vector<Fields>());
  std::vector<Fields> Replayed = Run.Timed.of("replayed");
  ASSERT_EQ(Replayed.size(), 2u);
  EXPECT_EQ(Replayed[0].at(5), "0");
  EXPECT_EQ(Replayed[1].at(5), "20") << "of 40 launches";
  for (const Fields &Line : Replayed) {
    EXPECT_EQ(Line.at(6), "1") << "deterministic";
    EXPECT_EQ(Line.at(7), "0") << "not idempotent";
    EXPECT_GT(std::stoull(Line.at(8)), 0u);
  }
  EXPECT_EQ(verdicts(Run.Timed, "step"),
            (std::map<std::string, std::string>{
                {"control", "equal"}, {"fast", "equal"}, {"odd", "equal"}}));
  // These are the stand-in's times of the default, the control and the clones.
  static const std::map<std::string, std::string> Times = {
      {"default", "400000"}, {"control", "400000"}, {"fast", "300000"}, {"odd", "350000"}};
  std::map<std::string, std::set<std::string>> Rounds;
  for (const Fields &Line : Run.Timed.of("timed")) {
    EXPECT_EQ(Line.at(9), Times.at(Line.at(8)));
    EXPECT_EQ(Line.at(10), Times.at(Line.at(8))) << "warm, from the same inputs";
    Rounds[placeOf(Line) + Line.at(6)].insert(Line.at(7));
  }
  ASSERT_EQ(Rounds.size(), 4u) << "two phases of two launches";
  for (const auto &[Place, Numbers] : Rounds)
    EXPECT_GE(Numbers.size(), Place.ends_with("confirm") ? 5u : 3u) << Place;
}

TEST(ReplayRun, launchThatIsUnlikeTheOthers_isNotReplayed) {
  StandInRun Run("long-start");
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Run.Timed.of("stood-back"), std::vector<Fields>());
  std::set<std::string> Timed;
  for (const Fields &Line : Run.Timed.of("timed"))
    Timed.insert(Line.at(5));
  EXPECT_EQ(Timed, (std::set<std::string>{"1", "20"}));
}

/// The trace says which launches are like most of the time, and the plan which ones are replayed.
TEST(ReplayRun, launchesThatStandForTheTime_areReplayed) {
  EXPECT_TRUE(StandInRun("in-place").Traced.of("typical").empty());
  StandInRun Run("converging", "by-count");
  std::vector<Fields> Typical = Run.Traced.of("typical");
  ASSERT_EQ(Typical.size(), 1u);
  EXPECT_EQ(Typical[0].at(5) + " " + Typical[0].at(6), "0 6") << "of 12 that do the work";
  StandInPlan Plan;
  Plan.ToReplay = "5\t9";
  EXPECT_EQ(Run.time(Plan).Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Run.Timed.of("stood-back"), std::vector<Fields>());
  std::set<std::string> Timed;
  for (const Fields &Line : Run.Timed.of("timed"))
    Timed.insert(Line.at(5));
  EXPECT_EQ(Timed, (std::set<std::string>{"5", "9"}));
}

/// The rotation begins after twelve launches of 400 us, whose records come when it has begun.
TEST(ReplayRun, rotationThatBeginsLate_doesNotTakeRecordsOfEarlierLaunches) {
  for (const char *Bad : {"by-count", "other-ids"}) {
    StandInRun Run("converging", Bad);
    StandInPlan Plan;
    Plan.Mode = "verify-rotate";
    Plan.ToReplay = "14\t20";
    EXPECT_EQ(Run.time(Plan).Stdout, Run.Plain.Stdout);
    std::set<std::string> DefaultNs;
    for (const Fields &Line : Run.Timed.of("rotated"))
      if (Line.at(6) == "default")
        DefaultNs.insert(Line.at(7));
    EXPECT_EQ(DefaultNs, (std::set<std::string>{"6250"})) << Bad;
  }
}

TEST(ReplayRun, rotatedKernels_eachIsTimedBesideTheOthersDefaults) {
  StandInRun Run("two-in-turn", "beside-clones");
  StandInPlan Plan;
  Plan.Mode = "rotate";
  EXPECT_EQ(Run.time(Plan).Stdout, Run.Plain.Stdout);
  std::map<std::string, unsigned> Turns;
  for (const Fields &Line : Run.Timed.of("rotated"))
    ++Turns[Line.at(0) + " " + Line.at(6) + " " + Line.at(7)];
  // Half of 400 launches, of four variants that run twice in a row.
  for (const char *Kernel : {"step", "scale"})
    for (const char *Time : {"default 400000", "control 400000", "fast 300000", "odd 350000"})
      EXPECT_GE(Turns[std::string(Kernel) + " " + Time], 22u) << Kernel << " " << Time;
  EXPECT_EQ(Turns.size(), 8u) << "no launch took longer";
}

TEST(ReplayRun, capturedLaunches_doNotInterruptARotation) {
  StandInRun Run("captured-between");
  StandInPlan Plan;
  Plan.Mode = "rotate";
  EXPECT_EQ(Run.time(Plan).Stdout, Run.Plain.Stdout);
  std::map<std::string, unsigned> Turns;
  for (const Fields &Line : Run.Timed.of("rotated"))
    ++Turns[Line.at(6)];
  // Each of four variants runs twice in a row in 200 launches.
  for (const char *Variant : {"default", "control", "fast", "odd"})
    EXPECT_GE(Turns[Variant], 20u) << Variant;
}

TEST(ReplayRun, replays_areNotLaunchesOfTheProgram) {
  for (const char *Scenario : {"in-place", "deterministic", "atomics"}) {
    StandInRun Run(Scenario);
    (void)Run.time({});
    EXPECT_FALSE(Run.Timed.of("replayed").empty());
    for (const char *Kernel : {"step", "scale", "sum"})
      EXPECT_EQ(Run.Timed.launches(Kernel), Run.Traced.launches(Kernel)) << Scenario << Kernel;
  }
}

TEST(ReplayRun, idempotentKernel_isTimedWarmToo) {
  StandInRun Run("deterministic");
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  std::vector<Fields> Timed = Run.Timed.of("timed");
  ASSERT_FALSE(Timed.empty());
  for (const Fields &Line : Timed)
    EXPECT_NE(Line.at(10), "0");
}

/// The default's first runs are the same by chance, and no variant is blamed for what later runs
/// do.
TEST(ReplayRun, kernelThatSeldomVaries_doesNotLoseItsVariants) {
  StandInRun Run("atomics", "seldom");
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Run.Timed.of("stood-back"), std::vector<Fields>());
  std::map<std::string, std::string> Found = verdicts(Run.Timed, "sum");
  EXPECT_EQ(Found.size(), 3u);
  for (const auto &[Variant, Verdict] : Found)
    EXPECT_TRUE(Verdict == "equal" || Verdict == "within-spread") << Variant << " " << Verdict;
  EXPECT_EQ(Run.Timed.of("replayed").at(0).at(6), "0") << "not deterministic after all";
  EXPECT_FALSE(Run.Timed.of("timed").empty());
}

TEST(ReplayRun, wrongVariantOfAKernelThatSeldomVaries_isRejected) {
  StandInRun Run("atomics", "seldom-wrong");
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  std::map<std::string, std::string> Found = verdicts(Run.Timed, "sum");
  EXPECT_EQ(Found.at("odd"), "differs");
  EXPECT_NE(Found.at("fast"), "differs");
}

/// It may run twice as far as its output is concerned, but would have nothing to do.
TEST(ReplayRun, idempotentKernelThatThenHasNothingToDo_findsItsInputsAgain) {
  StandInRun Run("deterministic", "settles");
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  for (const Fields &Line : Run.Timed.of("replayed"))
    EXPECT_EQ(Line.at(7), "1") << "idempotent";
  std::vector<Fields> Timed = Run.Timed.of("timed");
  ASSERT_FALSE(Timed.empty());
  for (const Fields &Line : Timed) {
    EXPECT_GE(std::stoull(Line.at(9)), 300'000u) << Line.at(8);
    EXPECT_GE(std::stoull(Line.at(10)), 300'000u) << Line.at(8) << " warm";
  }
}

/// A long launch is timed as it is in the program: without a flush of L2, unless the default then
/// takes another time than it was traced with.
TEST(ReplayRun, longLaunches_findInL2WhatTheyFindInTheProgram) {
  struct Case {
    const char *Scenario, *Caches;
    uint64_t DefaultNs;
  };
  for (const Case &C : {Case{"deterministic", "long", 3'200'000},
                        {"deterministic", "after-flush", 3'200'000},
                        {"in-place", "after-flush", 3'200'000},
                        {"in-place", "after-others", 4'800'000}}) {
    SCOPED_TRACE(std::string(C.Scenario) + ", " + C.Caches);
    StandInRun Run(C.Scenario, C.Caches);
    EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
    unsigned Rounds = 0;
    for (const Fields &Line : Run.Timed.of("timed")) {
      EXPECT_EQ(Line.at(10), "0") << "not warm, too";
      if (Line.at(8) != "default" || Line.at(6) != "confirm")
        continue;
      EXPECT_EQ(std::stoull(Line.at(9)), C.DefaultNs);
      ++Rounds;
    }
    EXPECT_GE(Rounds, 5u);
  }
}

/// What a launch finds in L2 in its cold runs is what takes it nearer to its time in the program.
/// If it takes longer there than with L2 flushed or warm, it is lines that were written. If it
/// takes less there than with L2 flushed and more than warm, it is its own memory, just written.
/// Kernels may be allowed only to read what is mapped, so that is not written.
TEST(ReplayRun, shortLaunches_findInL2WhatTheyFindInTheProgram) {
  struct Case {
    const char *Scenario, *Caches;
    uint64_t ColdPercent, WarmPercent; ///< Of the time in the program.
  };
  for (const Case &C :
       {Case{"in-place", "behind-writes", 100, 90},
        {"in-place", "behind-program", 90, 90},   // It does not take longer there, either.
        {"in-place", "far-from-program", 50, 50}, // It does something else.
        {"in-place", "written-inputs", 100, 90},
        {"in-place", "read-inputs", 150, 90}, // It takes as long there as after a flush.
        {"in-place", "near-inputs", 150, 90}, // It takes less time there than in the program.
        {"in-place", "even-inputs", 103, 90}, // It is further off than after a flush.
        {"first-eighth", "whole-inputs", 100, 90},
        {"mapped", "written-inputs", 150, 90}}) {
    SCOPED_TRACE(std::string(C.Scenario) + ", " + C.Caches);
    StandInRun Run(C.Scenario, C.Caches);
    EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
    const std::map<std::string, uint64_t> Whole = {
        {"default", 400'000}, {"control", 400'000}, {"fast", 300'000}, {"odd", 350'000}};
    std::set<std::string> Launches;
    for (const Fields &Line : Run.Timed.of("timed")) {
      Launches.insert(Line.at(5));
      EXPECT_EQ(std::stoull(Line.at(9)), Whole.at(Line.at(8)) * C.ColdPercent / 100);
      EXPECT_EQ(std::stoull(Line.at(10)), Whole.at(Line.at(8)) * C.WarmPercent / 100);
    }
    EXPECT_EQ(Launches.size(), 2u) << "two launches are replayed";
  }
}

/// The times of both launches are counted together, so the second one finds what the first one was
/// timed with, although it would choose a flush itself.
TEST(ReplayRun, laterShortLaunch_findsWhatTheFirstOneWasTimedWith) {
  StandInRun Run("in-place", "behind-writes-once");
  EXPECT_EQ(Run.time({}, {"0", "20"}).Stdout, Run.Plain.Stdout);
  std::map<std::string, std::set<std::string>> Cold; // Of the default, by launch.
  for (const Fields &Line : Run.Timed.of("timed"))
    if (Line.at(8) == "default")
      Cold[Line.at(5)].insert(Line.at(9));
  EXPECT_EQ(Cold,
            (std::map<std::string, std::set<std::string>>{{"0", {"400000"}}, {"20", {"440000"}}}));
}

/// If that is what its arguments lead to, and this is more than twice the size of L2, it is
/// compared and not timed.
TEST(ReplayRun, laterShortLaunchOnMuchMemory_isNotTimed) {
  constexpr unsigned FirstLarge = 40;
  StandInRun Run("larger-later", "written-inputs");
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  auto IsLarge = [](const Fields &Line) { return std::stoul(Line.at(5)) >= FirstLarge; };
  std::set<std::string> Cold; // Of the default.
  for (const Fields &Line : Run.Timed.of("timed")) {
    EXPECT_FALSE(IsLarge(Line)) << Line.at(8);
    if (Line.at(8) == "default")
      Cold.insert(Line.at(9));
  }
  EXPECT_EQ(Cold, std::set<std::string>{"400000"});
  std::vector<Fields> Compared = Run.Timed.of("verified");
  EXPECT_TRUE(std::any_of(Compared.begin(), Compared.end(), IsLarge));
}

/// Its variable is put back before each run that finds its memory written: a part of what it has
/// left would end the program.
TEST(ReplayRun, kernelThatGoesByItsVariable_findsAllOfItsMemoryWritten) {
  StandInRun Run("variables", "builds-once");
  ASSERT_EQ(Run.Plain.ExitStatus, 0);
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Run.Timed.of("stood-back"), std::vector<Fields>());
  unsigned Rounds = 0;
  for (const Fields &Line : Run.Timed.of("timed"))
    if (Line.at(8) == "default") {
      EXPECT_EQ(Line.at(9), "400000");
      EXPECT_EQ(Line.at(10), "360000");
      ++Rounds;
    }
  EXPECT_GE(Rounds, 8u);
}

/// Its output varies, so nothing depends on what it does with what it has left.
TEST(ReplayRun, kernelThatFailsOnItsOwnOutput_isReplayed) {
  StandInRun Run("rebuilt", "builds");
  ASSERT_EQ(Run.Plain.ExitStatus, 0);
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Run.Timed.of("stood-back"), std::vector<Fields>());
  EXPECT_EQ(verdicts(Run.Timed, "append").at("fast"), "within-spread");
  EXPECT_FALSE(Run.Timed.of("timed").empty());
}

/// What it writes elsewhere if it runs on its own output is put back, and does not count.
TEST(ReplayRun, kernelThatGoesOnWithItsOwnOutput_isComparedBitByBit) {
  StandInRun Run("rebuilt", "goes-on");
  EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout);
  for (const Fields &Line : Run.Timed.of("replayed")) {
    EXPECT_EQ(Line.at(6), "1") << "deterministic";
    EXPECT_EQ(Line.at(7), "0") << "not idempotent";
  }
  EXPECT_EQ(verdicts(Run.Timed, "append"),
            (std::map<std::string, std::string>{
                {"control", "equal"}, {"fast", "equal"}, {"odd", "equal"}}));
}

TEST(ReplayRun, variantThatComputesSomethingElse_isFound) {
  for (const char *Bad : {"wrong", "stray"}) {
    StandInRun Run("in-place", Bad);
    EXPECT_EQ(Run.time({}).Stdout, Run.Plain.Stdout) << "it leaves nothing behind";
    std::map<std::string, std::string> Found = verdicts(Run.Timed, "step");
    EXPECT_EQ(Found["control"], "equal");
    EXPECT_EQ(Found["fast"], "equal");
    EXPECT_EQ(Found["odd"], Bad == std::string("wrong") ? "differs" : "stray");
    for (const Fields &Line : Run.Timed.of("timed"))
      EXPECT_NE(Line.at(8), "odd") << "what is wrong is not timed";
  }
}

TEST(ReplayRun, verifyRotate_verifiesOnceAndThenRotates) {
  StandInRun Run("in-place", "wrong");
  StandInPlan Plan;
  Plan.Mode = "verify-rotate";
  EXPECT_EQ(Run.time(Plan).Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Run.Timed.of("replayed").size(), 1u);
  EXPECT_TRUE(Run.Timed.of("timed").empty());
  std::set<std::string> Rotated;
  for (const Fields &Line : Run.Timed.of("rotated"))
    Rotated.insert(Line.at(6));
  EXPECT_EQ(Rotated, (std::set<std::string>{"default", "control", "fast"}))
      << "the wrong one is left out";
}

static std::set<std::string> rotatedVariants(const StandInRun &Run) {
  std::set<std::string> Rotated;
  for (const Fields &Line : Run.Timed.of("rotated"))
    Rotated.insert(Line.at(6));
  return Rotated;
}

TEST(ReplayRun, variantThatMustBeCompared_isRotatedOnlyAfterThat) {
  StandInPlan Plan;
  Plan.ToCompare = {"odd"};
  Plan.Fallback = "rotate";
  StandInRun Run("managed", "wrong");
  EXPECT_EQ(Run.time(Plan).Stdout, Run.Plain.Stdout);
  EXPECT_FALSE(Run.Timed.of("stood-back").empty());
  EXPECT_EQ(rotatedVariants(Run), (std::set<std::string>{"default", "control", "fast"}))
      << "the replay that was planned was not possible";

  Plan.Mode = "verify-rotate";
  StandInRun Compared("in-place");
  EXPECT_EQ(Compared.time(Plan).Stdout, Compared.Plain.Stdout);
  EXPECT_EQ(rotatedVariants(Compared),
            (std::set<std::string>{"default", "control", "fast", "odd"}));
}

TEST(ReplayRun, kernelThatCannotBeReplayed_isRotatedIfThePlanAllows) {
  StandInRun Run("managed");
  StandInPlan Plan;
  EXPECT_EQ(Run.time(Plan).Stdout, Run.Plain.Stdout);
  EXPECT_FALSE(Run.Timed.of("stood-back").empty());
  EXPECT_TRUE(Run.Timed.of("rotated").empty());
  Plan.Fallback = "rotate";
  EXPECT_EQ(Run.time(Plan).Stdout, Run.Plain.Stdout);
  EXPECT_FALSE(Run.Timed.of("stood-back").empty());
  EXPECT_FALSE(Run.Timed.of("rotated").empty());
}
