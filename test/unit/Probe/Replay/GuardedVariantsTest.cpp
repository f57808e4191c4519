// Variants that may run only at launches with certain arguments, and launches that are dispatched
// to one variant. The stand-in driver runs them. In the scenario `lengths` one variant is compiled
// for one value of the argument Count. At launches with another value it computes something else,
// so the program's output shows whether it ran there.
#include "unit/Probe/StandIn/ProgramKernels.h"
#include "unit/Probe/StandInRun.h"

#include "Protocol/Protocol.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

static StandInPlan guardedPlan(const std::string &Mode, unsigned Count) {
  StandInPlan Plan;
  Plan.Mode = Mode;
  Plan.Fallback = Mode == "rotate" ? "rotate" : "none";
  Plan.Guarded = {"odd"};
  Plan.GuardedCount = Count;
  return Plan;
}

/// Runs \p Plan and expects that the program does the same as without the probe.
static void expectUnchanged(StandInRun &Run, const StandInPlan &Plan) {
  CommandResult With = Run.time(Plan);
  EXPECT_EQ(With.Stdout, Run.Plain.Stdout);
  EXPECT_EQ(With.ExitStatus, Run.Plain.ExitStatus);
  EXPECT_EQ(With.Stderr.substr(0, 4000), "") << "a sanitizer reports here";
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(Run.Timed.of("fault").empty());
}

/// Returns how many records of \p Kind each variant has, whose name is in field \p Place.
static std::map<std::string, unsigned> countsByVariant(const Records &File, const std::string &Kind,
                                                       size_t Place) {
  std::map<std::string, unsigned> Counts;
  for (const Fields &Line : File.of(Kind))
    ++Counts[Line.at(Place)];
  return Counts;
}

/// Returns the verdicts on the guarded variant.
static std::set<std::string> guardedVerdicts(const Records &File) {
  std::set<std::string> Found;
  for (const Fields &Line : File.of("verified"))
    if (Line.at(6) == "odd")
      Found.insert(Line.at(7));
  return Found;
}

TEST(GuardedRotation, variant_runsOnlyAtLaunchesWithItsValues) {
  StandInRun Run("lengths", "known");
  expectUnchanged(Run, guardedPlan("rotate", standin::KnownCount));
  std::map<std::string, unsigned> Turns = countsByVariant(Run.Timed, "rotated", 6);
  EXPECT_GT(Turns["odd"], 0u);
  EXPECT_LT(Turns["odd"], 10u) << "half of the launches have another value";
  for (const char *Variant : {"default", "control", "fast"})
    EXPECT_EQ(Turns[Variant], 10u) << Variant << " in 40 launches of 4 variants";
}

TEST(GuardedRotation, argumentsThatAreNotRead_leaveOutTheVariant) {
  StandInRun Run("packed", "wrong");
  expectUnchanged(Run, guardedPlan("rotate", standin::KnownCount));
  std::map<std::string, unsigned> Turns = countsByVariant(Run.Timed, "rotated", 6);
  EXPECT_EQ(Turns["odd"], 0u);
  EXPECT_EQ(Turns["fast"], 10u);
}

TEST(GuardedRotation, guardBeyondTheParameter_leavesOutTheVariant) {
  StandInRun Run("lengths", "known");
  StandInPlan Plan = guardedPlan("rotate", standin::KnownCount >> 8);
  Plan.GuardedOffset = 1; // Its last byte would be read from what follows the argument.
  expectUnchanged(Run, Plan);
  EXPECT_EQ(countsByVariant(Run.Timed, "rotated", 6)["odd"], 0u);
}

TEST(GuardedReplay, launchWithItsValues_comparesAndTimesTheVariant) {
  StandInRun Run("lengths", "known");
  expectUnchanged(Run, guardedPlan("replay", standin::KnownCount));
  EXPECT_EQ(guardedVerdicts(Run.Timed), std::set<std::string>{"equal"});
  EXPECT_GT(countsByVariant(Run.Timed, "timed", 8)["odd"], 0u);
}

/// Whether the launches that were replayed have even numbers.
static bool replayedEvenLaunches(const Records &File) {
  std::vector<Fields> Replayed = File.of("replayed");
  return std::all_of(Replayed.begin(), Replayed.end(),
                     [](const Fields &Line) { return std::stoul(Line.at(5)) % 2 == 0; });
}

TEST(GuardedReplay, launchWithOtherValues_leavesOutTheVariantWithoutARecord) {
  // The launches 0 and 20 are replayed, which have all elements. Where the machine is busy, a
  // replay may have to wait for the next launch, which has half of them.
  for (unsigned Try = 0; Try < 10; ++Try) {
    StandInRun Run("lengths", "known");
    expectUnchanged(Run, guardedPlan("replay", standin::KnownCount / 2));
    if (!replayedEvenLaunches(Run.Timed))
      continue;
    EXPECT_EQ(Run.Timed.of("replayed").size(), 2u);
    EXPECT_TRUE(guardedVerdicts(Run.Timed).empty());
    std::map<std::string, unsigned> Times = countsByVariant(Run.Timed, "timed", 8);
    EXPECT_EQ(Times["odd"], 0u);
    EXPECT_GT(Times["fast"], 0u);
    return;
  }
  FAIL() << "no run replayed the launches 0 and 20";
}

TEST(GuardedReplay, variantThatWasNotCompared_isNotRotated) {
  StandInRun Run("lengths", "known");
  expectUnchanged(Run, guardedPlan("verify-rotate", standin::KnownCount / 2));
  std::map<std::string, unsigned> Turns = countsByVariant(Run.Timed, "rotated", 6);
  EXPECT_EQ(Turns["odd"], 0u);
  EXPECT_GT(Turns["fast"], 0u);
  expectUnchanged(Run, guardedPlan("verify-rotate", standin::KnownCount));
  EXPECT_EQ(guardedVerdicts(Run.Timed), std::set<std::string>{"equal"});
  EXPECT_GT(countsByVariant(Run.Timed, "rotated", 6)["odd"], 0u);
}

/// Returns a plan in which the variant has one code for launches with all elements and another for
/// those with half of them.
static StandInPlan planWithTwoCodes(const std::string &Mode) {
  StandInPlan Plan = guardedPlan(Mode, standin::KnownCount);
  Plan.SecondCode = true;
  return Plan;
}

TEST(SeveralCodes, rotation_turnsAtLaunchesOfTheFirstLaunchesCode) {
  StandInRun Run("lengths", "known");
  expectUnchanged(Run, planWithTwoCodes("rotate"));
  std::map<std::string, unsigned> Turns = countsByVariant(Run.Timed, "rotated", 6);
  EXPECT_GT(Turns["odd"], 0u);
  EXPECT_EQ(Turns.count("fast"), 0u) << "it has the name of the variant";
  EXPECT_GE(Turns["default"], 13u) << "40 launches of 3 variants";
}

TEST(SeveralCodes, replay_comparesTheCodeOfTheLaunch) {
  StandInRun Run("lengths", "known");
  StandInPlan Plan = planWithTwoCodes("replay");
  expectUnchanged(Run, Plan);
  EXPECT_EQ(guardedVerdicts(Run.Timed), std::set<std::string>{"equal"});
  unsigned Times = countsByVariant(Run.Timed, "timed", 8)["odd"];
  EXPECT_GT(Times, 0u);
  EXPECT_EQ(Times, countsByVariant(Run.Timed, "timed", 8)["control"]) << "once in each round";
  // Nobody may launch the first code with half of the elements.
  Plan.GuardedCount = standin::KnownCount * 2;
  expectUnchanged(Run, Plan);
  EXPECT_EQ(guardedVerdicts(Run.Timed), std::set<std::string>{"equal"}) << "the second code";
}

static StandInPlan dispatchPlan() {
  StandInPlan Plan;
  Plan.Mode = "dispatch";
  Plan.Omitted = {"fast"};
  return Plan;
}

/// Returns the launches of `step` by the registers of the code that ran: the kernel has 64, and the
/// clone `odd` has 48.
static std::map<std::string, uint64_t> launchesByRegisters(const Records &File) {
  std::map<std::string, uint64_t> Launches;
  for (const Fields &Line : File.of("kernel"))
    if (Line.at(0) == "step")
      Launches[Line.at(7)] += std::stoull(Line.at(9));
  return Launches;
}

using LaunchesByRegisters = std::map<std::string, uint64_t>;

TEST(Dispatch, variant_runsAtEveryLaunch) {
  StandInRun Run("in-place");
  expectUnchanged(Run, dispatchPlan());
  EXPECT_EQ(launchesByRegisters(Run.Timed), (LaunchesByRegisters{{"48", 40}}));
  for (const char *Kind : {"replayed", "rotated", "verified", "stood-back"})
    EXPECT_TRUE(Run.Timed.of(Kind).empty()) << Kind;
  EXPECT_FALSE(Run.Timed.of("span").empty()) << "it is the program's own";
  expectUnchanged(Run, rotation());
  EXPECT_TRUE(Run.Timed.of("span").empty()) << "variants run in turn";
}

TEST(Dispatch, guardedVariant_runsAtLaunchesWithItsValues) {
  StandInRun Run("lengths", "known");
  StandInPlan Plan = dispatchPlan();
  Plan.Guarded = {"odd"};
  Plan.GuardedCount = standin::KnownCount;
  expectUnchanged(Run, Plan);
  EXPECT_EQ(launchesByRegisters(Run.Timed), (LaunchesByRegisters{{"48", 20}, {"64", 20}}));
}

/// The clone `fast` has 80 registers.
TEST(Dispatch, variantWithTwoCodes_runsTheCodeOfEachLaunch) {
  StandInRun Run("lengths", "known");
  StandInPlan Plan = planWithTwoCodes("dispatch");
  Plan.Fallback = "none";
  expectUnchanged(Run, Plan);
  EXPECT_EQ(launchesByRegisters(Run.Timed), (LaunchesByRegisters{{"48", 20}, {"80", 20}}));
  Plan.GuardedGrid = "16,1,1";
  expectUnchanged(Run, Plan);
  EXPECT_EQ(launchesByRegisters(Run.Timed), (LaunchesByRegisters{{"48", 20}, {"80", 20}}));
  Plan.GuardedGrid = "17,1,1";
  expectUnchanged(Run, Plan);
  EXPECT_EQ(launchesByRegisters(Run.Timed), (LaunchesByRegisters{{"48", 20}, {"64", 20}}))
      << "no launch has the grid of the second code";
}

TEST(Dispatch, capturedLaunches_runTheDefault) {
  StandInRun Run("capture");
  expectUnchanged(Run, dispatchPlan());
  uint64_t FromGraphs = 0;
  for (const Fields &Line : Run.Timed.of("graph"))
    FromGraphs += std::stoull(Line.at(1));
  EXPECT_GT(FromGraphs, 0u);
  EXPECT_EQ(
      launchesByRegisters(Run.Timed),
      (LaunchesByRegisters{{"48", Run.Timed.launches("step") - FromGraphs}, {"64", FromGraphs}}));
}

TEST(Dispatch, excludedVariant_isNotRun) {
  StandInRun Run("in-place", "hang");
  StandInPlan Plan = dispatchPlan();
  Plan.Excluded = {"odd"};
  expectUnchanged(Run, Plan);
  EXPECT_EQ(launchesByRegisters(Run.Timed), (LaunchesByRegisters{{"64", 40}}));
}

TEST(Dispatch, variantThatHangsOrBreaksTheContext_endsTheProcess) {
  for (const char *Bad : {"hang", "break"}) {
    SCOPED_TRACE(Bad);
    StandInRun Run("in-place", Bad);
    StandInPlan Plan = dispatchPlan();
    Plan.HangMs = 300;
    CommandResult Result = Run.time(Plan);
    EXPECT_EQ(Result.ExitStatus, FaultExitStatus) << Result.Stdout;
    std::vector<Fields> Faults = Run.Timed.of("fault");
    ASSERT_FALSE(Faults.empty());
    EXPECT_EQ(Faults[0].at(0) + " " + Faults[0].at(1), "step odd");
  }
}
