// Rotation in graphs that stay graphs, on the stand-in driver.
#include "Probe/Replay/Rotation.h"
#include "unit/Probe/StandInRun.h"

#include "Protocol/Protocol.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

TEST(GraphRotation, kernelsOfAGraphWithMemory_areRotatedInIt) {
  StandInRun Run("graph-memory");
  EXPECT_EQ(Run.Plain.ExitStatus, 0);
  expectAsPlain(Run.time(rotation()), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(Run.Timed.of("fault").empty());
  EXPECT_EQ(Run.Timed.of("graph-stays"),
            (std::vector<Fields>{{"scale", "memory-node"}, {"step", "memory-node"}}));
  EXPECT_EQ(graphLaunchesOf(Run.Timed, "step"), graphLaunchesOf(Run.Traced, "step"));
  EXPECT_EQ(graphLaunchesOf(Run.Timed, "step"), 120u);
  std::map<std::string, std::multiset<std::string>> Cycles;
  // Fields: kernel, four fields of the shape, cycle, variant, time.
  for (const Fields &Line : Run.Timed.of("rotated")) {
    if (Line.at(0) != "step")
      continue;
    Cycles[Line.at(5)].insert(Line.at(6));
    static const std::map<std::string, std::string> Times = {
        {"default", "400000"}, {"control", "400000"}, {"fast", "300000"}, {"odd", "350000"}};
    EXPECT_EQ(Line.at(7), Times.at(Line.at(6))) << "another variant's time";
  }
  // Two nodes in each of 50 launches of the graph, and six launches by calls.
  ASSERT_GE(Cycles.size(), 26u);
  for (unsigned Cycle = 0; Cycle < 26; ++Cycle)
    EXPECT_EQ(Cycles[std::to_string(Cycle)],
              (std::multiset<std::string>{"default", "control", "fast", "odd"}))
        << Cycle;
}

TEST(GraphRotation, excludedVariant_isNotRun) {
  StandInRun Run("graph-memory", "wrong");
  StandInPlan Plan = rotation();
  Plan.Excluded = {"odd"};
  expectAsPlain(Run.time(Plan), Run.Plain);
  for (const Fields &Line : Run.Timed.of("rotated"))
    EXPECT_NE(Line.at(6), "odd");
}

/// Such as one whose front-end knob may move last bits: nothing compares it before it runs.
TEST(GraphRotation, variantThatMustBeCompared_isNotRun) {
  for (const char *Scenario : {"graph-memory", "graph-semaphores", "random-graphs"}) {
    SCOPED_TRACE(Scenario);
    StandInRun Run(Scenario, "wrong");
    StandInPlan Plan = rotation();
    Plan.ToCompare = {"odd"};
    expectAsPlain(Run.time(Plan), Run.Plain);
    std::set<std::string> Rotated;
    for (const Fields &Line : Run.Timed.of("rotated"))
      Rotated.insert(Line.at(6));
    EXPECT_EQ(Rotated, (std::set<std::string>{"default", "control", "fast"}));
  }
}

TEST(GraphRotation, graphThatIsOnlyConfirmedOrReplayed_isNotTouched) {
  for (auto [Mode, Scenario] : {std::pair{"replay", "graph-memory"},
                                {"dispatch", "graph-memory"},
                                {"replay", "graph-semaphores"},
                                {"dispatch", "graph-semaphores"},
                                {"replay", "graph-memory-operations"},
                                {"dispatch", "graph-memory-operations"}}) {
    SCOPED_TRACE(std::string(Mode) + " " + Scenario);
    StandInRun Run(Scenario);
    StandInPlan Plan;
    Plan.Mode = Mode;
    if (Mode == std::string("dispatch"))
      Plan.Omitted = {"fast"};
    expectAsPlain(Run.time(Plan), Run.Plain);
    EXPECT_TRUE(Run.Timed.of("rotated").empty());
  }
}

TEST(GraphRotation, variantThatHangsOrBreaksTheContext_endsTheProcess) {
  for (const char *Bad : {"hang", "break"}) {
    SCOPED_TRACE(Bad);
    StandInRun Run("graph-memory", Bad);
    StandInPlan Plan = rotation();
    Plan.HangMs = 300;
    EXPECT_EQ(Run.time(Plan).ExitStatus, FaultExitStatus);
    ASSERT_FALSE(Run.Timed.of("fault").empty());
    EXPECT_EQ(Run.Timed.of("fault")[0].at(1), "odd");
  }
}

TEST(GraphRotation, kernelsBesideSemaphoresAndMemoryOperations_areRotatedWhateverChanges) {
  for (auto [Scenario, Reason] : {std::pair{"graph-semaphores", "semaphore"},
                                  {"graph-memory-operations", "memory-operation"}}) {
    SCOPED_TRACE(Scenario);
    StandInRun Run(Scenario);
    EXPECT_EQ(Run.Plain.ExitStatus, 0);
    EXPECT_EQ(std::count(Run.Plain.Stdout.begin(), Run.Plain.Stdout.end(), '\n'), 74);
    EXPECT_EQ(Run.Plain.Stdout.find("__"), std::string::npos) << "a variant";
    expectAsPlain(Run.Trace, Run.Plain);
    expectAsPlain(Run.time(rotation()), Run.Plain);
    EXPECT_TRUE(Run.Timed.whole());
    EXPECT_TRUE(Run.Timed.of("fault").empty());
    EXPECT_TRUE(Run.Timed.of("stood-back").empty());
    EXPECT_EQ(Run.Timed.of("graph-stays"),
              (std::vector<Fields>{{"scale", Reason}, {"step", Reason}}));
    EXPECT_EQ(graphLaunchesOf(Run.Timed, "step"), graphLaunchesOf(Run.Traced, "step"));
    std::map<std::string, unsigned> Samples;
    for (const Fields &Line : Run.Timed.of("rotated"))
      ++Samples[Line.at(0)];
    // Two of each kernel in all 72 launches but the last three of the graph that became another
    // one; six launches lack a node.
    EXPECT_EQ(Samples["scale"], 138u);
    EXPECT_EQ(Samples["step"], 132u);
  }
}

TEST(GraphRotation, capturedMemoryOperations_keepAGraphInWhichKernelsAreRotated) {
  StandInRun Run("captured-operations");
  EXPECT_EQ(Run.Plain.ExitStatus, 0);
  expectAsPlain(Run.time(rotation()), Run.Plain);
  EXPECT_EQ(Run.Timed.of("graph-stays"), (std::vector<Fields>{{"step", "memory-operation"}}));
  EXPECT_EQ(Run.Timed.of("rotated").size(), 120u);
}

/// The kernels at the top level run once at each launch, and those in a body three times.
TEST(GraphRotation, kernelsBesideAConditionalNode_areRotatedUnlessABodyHasThem) {
  StandInRun Run("graph-conditional");
  EXPECT_EQ(Run.Plain.ExitStatus, 0);
  EXPECT_EQ(std::count(Run.Plain.Stdout.begin(), Run.Plain.Stdout.end(), '\n'), 41);
  EXPECT_EQ(graphLaunchesOf(Run.Traced, "count"), 120u);
  expectAsPlain(Run.Trace, Run.Plain);
  expectAsPlain(Run.time(rotation()), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(Run.Timed.of("fault").empty());
  EXPECT_EQ(Run.Timed.of("graph-stays"), (std::vector<Fields>{{"count", "conditional"},
                                                              {"lower", "conditional"},
                                                              {"scale", "beside-conditional"},
                                                              {"step", "beside-conditional"}}));
  std::map<std::string, unsigned> Samples;
  for (const Fields &Line : Run.Timed.of("rotated"))
    ++Samples[Line.at(0)];
  EXPECT_EQ(Samples, (std::map<std::string, unsigned>{{"scale", 80}, {"step", 40}}));

  StandInRun Twice("graph-conditional-twice");
  expectAsPlain(Twice.time(rotation()), Twice.Plain);
  for (const Fields &Line : Twice.Timed.of("rotated"))
    EXPECT_EQ(Line.at(0), "scale");
  EXPECT_EQ(Twice.Timed.of("rotated").size(), 80u);
  EXPECT_EQ(Twice.Traced.of("graph-stays").back(), (Fields{"scale", "beside-conditional"}));
}

TEST(GraphRotation, variantThatTheDriverRefusesInAGraph_leavesTheKernelToWholeRuns) {
  for (const char *Scenario : {"graph-semaphores", "graph-memory-operations"}) {
    SCOPED_TRACE(Scenario);
    StandInRun Run(Scenario, "refused");
    expectAsPlain(Run.time(rotation()), Run.Plain);
    EXPECT_TRUE(Run.Timed.whole());
    EXPECT_TRUE(Run.Timed.of("fault").empty());
    std::string Why = "the driver does not take its variant odd in a graph: CUDA_ERROR_1";
    std::vector<Fields> StoodBack = Run.Timed.of("stood-back");
    std::sort(StoodBack.begin(), StoodBack.end());
    EXPECT_EQ(StoodBack, (std::vector<Fields>{{"scale", Why}, {"step", Why}}));
    EXPECT_LE(Run.Timed.of("rotated").size(), 8u) << "less than a cycle of each kernel";
  }
}

TEST(GraphRotation, kernelThatCannotBePutBack_endsTheProcess) {
  StandInRun Run("captured-operations", "kept");
  EXPECT_EQ(Run.Plain.ExitStatus, 0);
  EXPECT_EQ(Run.time(rotation()).ExitStatus, FaultExitStatus);
  ASSERT_EQ(Run.Timed.of("fault").size(), 1u);
  EXPECT_EQ(Run.Timed.of("fault")[0].at(2), "could not be taken out of a graph: CUDA_ERROR_1");
}

TEST(GraphRotation, recordsOfGraphsAndCalls_areToldApart) {
  Rotation R({0, 1}, 1);
  R.launched({0, 1}, 100, Rotation::By::Node);
  R.launched({1, 1}, 101);
  EXPECT_EQ(R.recorded(1, 900)->Cycle, 1u) << "of the call";
  EXPECT_FALSE(R.recorded(1, 900)) << "only a node waits";
  EXPECT_EQ(R.recorded(1, 900, /*InGraph=*/true)->Cycle, 0u);
  R.launched({2, 1}, 102, Rotation::By::Node);
  R.launched({2, 0}, 102, Rotation::By::Node);
  R.failed(102);
  EXPECT_FALSE(R.recorded(1, 102, /*InGraph=*/true));
  EXPECT_FALSE(R.recorded(0, 102, /*InGraph=*/true));
}
