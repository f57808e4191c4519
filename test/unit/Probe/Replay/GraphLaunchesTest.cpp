// Graphs in timing runs, on the stand-in driver. What a program computes from random graphs shows
// the order and the parameters with which their nodes were launched.
#include "unit/Probe/StandInRun.h"

#include "Protocol/Protocol.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

static uint64_t launchesOf(const Records &File, const std::string &Kernel) {
  uint64_t Sum = 0;
  for (const Fields &Line : File.of("kernel"))
    if (Line.at(0) == Kernel)
      Sum += std::stoull(Line.at(9));
  return Sum;
}

static uint64_t cooperativeLaunches(const Records &File) {
  uint64_t Sum = 0;
  for (const Fields &Line : File.of("kernel"))
    if (Line.at(6) == "1")
      Sum += std::stoull(Line.at(9));
  return Sum;
}

TEST(GraphLaunches, randomGraphs_areLaunchedNodeByNodeWithTheSameResult) {
  StandInRun Run("random-graphs");
  EXPECT_EQ(Run.Plain.Stdout.find("error"), std::string::npos);
  EXPECT_EQ(std::count(Run.Plain.Stdout.begin(), Run.Plain.Stdout.end(), '\n'), 240);
  EXPECT_TRUE(Run.Traced.of("graph-stays").empty());
  ASSERT_GT(graphLaunchesOf(Run.Traced, "step"), 1000u);
  EXPECT_EQ(graphLaunchesOf(Run.Traced, "step"), launchesOf(Run.Traced, "step"));
  expectAsPlain(Run.time(rotation()), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(Run.Timed.of("graph").empty()) << "a graph has launched a kernel";
  EXPECT_EQ(launchesOf(Run.Timed, "step"), launchesOf(Run.Traced, "step"));
  EXPECT_EQ(launchesOf(Run.Timed, "scale"), launchesOf(Run.Traced, "scale"));
  EXPECT_GE(Run.Timed.of("rotated").size(), 512u)
      << "64 cycles of 4 variants of 2 kernels, and the cooperative launches";
}

TEST(GraphLaunches, graphThatIsDestroyedInFlight_keepsItsObjects) {
  StandInRun Run("tied-objects");
  EXPECT_EQ(Run.Plain.Stdout.find("early"), std::string::npos);
  expectAsPlain(Run.time(rotation()), Run.Plain);
  EXPECT_TRUE(Run.Timed.of("graph").empty());
}

TEST(GraphLaunches, attributesOfNodes_areThoseOfTheLaunches) {
  StandInRun Run("random-graphs");
  uint64_t Traced = cooperativeLaunches(Run.Traced);
  EXPECT_GT(Traced, 50u);
  (void)Run.time(rotation());
  EXPECT_EQ(cooperativeLaunches(Run.Timed), Traced);
}

TEST(GraphLaunches, kernelOfGraphs_isReplayed) {
  StandInRun Run("random-graphs");
  expectAsPlain(Run.time({}), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(Run.Timed.of("fault").empty());
  EXPECT_TRUE(Run.Timed.of("stood-back").empty());
  std::set<std::string> Replayed;
  for (const Fields &Line : Run.Timed.of("replayed"))
    Replayed.insert(Line.at(0));
  EXPECT_EQ(Replayed, (std::set<std::string>{"scale", "step"}));
}

TEST(GraphLaunches, capturedGraphs_areLaunchedNodeByNode) {
  StandInRun Run("capture");
  ASSERT_EQ(graphLaunchesOf(Run.Traced, "step"), 40u);
  expectAsPlain(Run.time(rotation()), Run.Plain);
  // A graph stays one while another stream is being captured; none is here.
  EXPECT_TRUE(Run.Timed.of("graph").empty());
  EXPECT_EQ(launchesOf(Run.Timed, "step"), launchesOf(Run.Traced, "step"));
}

/// Programmatic dependent launch: each node runs after the whole of the one ahead of it.
TEST(GraphLaunches, nodesThatMayBeginEarly_areLaunchedNodeByNode) {
  StandInRun Run("graph-programmatic");
  EXPECT_EQ(Run.Plain.ExitStatus, 0);
  EXPECT_TRUE(Run.Traced.of("graph-stays").empty());
  EXPECT_EQ(Run.Traced.of("attribute"),
            (std::vector<Fields>{{"step", "programmatic"}, {"count", "programmatic"}}));
  EXPECT_EQ(graphLaunchesOf(Run.Traced, "step"), 120u);
  expectAsPlain(Run.time({}), Run.Plain);
  EXPECT_TRUE(Run.Timed.of("fault").empty());
  EXPECT_TRUE(Run.Timed.of("stood-back").empty());
  EXPECT_TRUE(Run.Timed.of("graph").empty()) << "a graph has launched a kernel";
  std::set<std::string> Replayed;
  for (const Fields &Line : Run.Timed.of("replayed"))
    Replayed.insert(Line.at(0));
  EXPECT_EQ(Replayed, (std::set<std::string>{"count", "scale", "step"}));

  StandInRun Memory("graph-programmatic-memory");
  EXPECT_EQ(Memory.Traced.of("graph-stays"),
            (std::vector<Fields>{{"scale", "programmatic"}, {"step", "programmatic"}}));
  EXPECT_EQ(Memory.Traced.of("attribute"), (std::vector<Fields>{{"step", "programmatic"}}));
  expectAsPlain(Memory.time(rotation()), Memory.Plain);
  EXPECT_TRUE(Memory.Timed.of("rotated").empty());
}

TEST(GraphLaunches, confirmingRun_launchesGraphs) {
  StandInRun Run("capture");
  StandInPlan Plan;
  Plan.Mode = "dispatch";
  Plan.Omitted = {"fast"};
  expectAsPlain(Run.time(Plan), Run.Plain);
  EXPECT_EQ(graphLaunchesOf(Run.Timed, "step"), 40u);
}

TEST(GraphLaunches, graphThatCannotBeTakenApart_staysOneWithItsReason) {
  struct {
    const char *Scenario;
    std::vector<Fields> Reasons;
  } Cases[] = {
      {"unheard-of-node", {{"-", "unknown-node"}, {"step", "unknown-node"}}},
      {"pageable-copy", {{"step", "pageable-copy"}}},
      {"device-launched", {{"step", "device-launch"}}},
      {"refused-update", {{"step", "unknown-update"}}},
      {"graph-contexts", {{"step", "other-context"}}},
  };
  for (const auto &Case : Cases) {
    SCOPED_TRACE(Case.Scenario);
    StandInRun Run(Case.Scenario);
    EXPECT_EQ(Run.Traced.of("graph-stays"), Case.Reasons);
    expectAsPlain(Run.Trace, Run.Plain);
    expectAsPlain(Run.time(rotation()), Run.Plain);
    EXPECT_EQ(Run.Timed.of("graph-stays"), Case.Reasons);
    EXPECT_GT(graphLaunchesOf(Run.Traced, "step"), 0u);
    EXPECT_EQ(graphLaunchesOf(Run.Timed, "step"), graphLaunchesOf(Run.Traced, "step"));
  }
}

TEST(GraphLaunches, graphsBesideOneForTheDevice_areLaunchedAsTheyAre) {
  StandInRun Run("beside-device-launched");
  EXPECT_EQ(Run.Traced.of("graph-stays"), (std::vector<Fields>{{"step", "device-launch"}}));
  ASSERT_EQ(graphLaunchesOf(Run.Traced, "step"), 14u);
  expectAsPlain(Run.time(rotation()), Run.Plain);
  // The first launch came before any graph that a kernel could have launched.
  EXPECT_EQ(graphLaunchesOf(Run.Timed, "step"), 12u);
  EXPECT_EQ(Run.Timed.of("graph-stays"), (std::vector<Fields>{{"step", "device-launch"}}));
}

TEST(GraphLaunches, threadsOnOneStream_doNotKeepEachOthersKernelsFromBeingReplayed) {
  StandInRun Run("shared-stream");
  expectAsPlain(Run.time({}), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(Run.Timed.of("graph").empty());
  EXPECT_EQ(Run.Timed.of("stood-back"), std::vector<Fields>());
  EXPECT_EQ(Run.Timed.of("replayed").size(), 2u) << "the first launch and the middle one";
}

TEST(GraphLaunches, chainThatWaitsForTheProgram_endsTheRunAtTheKernelsDefault) {
  StandInRun Run("long-chain");
  EXPECT_EQ(Run.Plain.ExitStatus, 0);
  StandInPlan Plan = rotation();
  Plan.HangMs = 300;
  EXPECT_EQ(Run.time(Plan).ExitStatus, FaultExitStatus);
  EXPECT_EQ(Run.Timed.of("fault"),
            (std::vector<Fields>{{"step", "default",
                                  "hung after 300 ms in a graph whose nodes were launched one by "
                                  "one"}}));
}

TEST(GraphLaunches, nodesThatWaitForEachOther_endTheRunAtTheKernelsDefault) {
  StandInRun Run("waiting-nodes");
  EXPECT_TRUE(Run.Traced.of("graph-stays").empty());
  StandInPlan Plan = rotation();
  Plan.HangMs = 300;
  EXPECT_EQ(Run.time(Plan).ExitStatus, FaultExitStatus);
  std::vector<Fields> Faults = Run.Timed.of("fault");
  ASSERT_EQ(Faults.size(), 1u);
  EXPECT_EQ(Faults[0].at(0), "step");
  EXPECT_EQ(Faults[0].at(1), "default");
  EXPECT_EQ(Faults[0].at(2), "hung after 300 ms in a graph whose nodes were launched one by one");
}
