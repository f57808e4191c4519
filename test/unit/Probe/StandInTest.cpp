// Programs on the stand-in driver do the same with and without the probe.
#include "unit/Probe/StandInRun.h"

#include "Protocol/Protocol.h"
#include "Protocol/TimeStretch.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

namespace {
class StandIn : public testing::TestWithParam<const char *> {};

const char *const Scenarios[] = {
    "deterministic", "in-place",  "atomics",     "permutation", "streams",      "threads",
    "contexts",      "capture",   "full-memory", "managed",     "host-mapped",  "host-hidden",
    "mapped",        "variables", "forks",       "early-exit",  "random-graphs"};

std::string nameOf(const testing::TestParamInfo<const char *> &Info) {
  std::string Name = Info.param;
  std::erase(Name, '-');
  return Name;
}
} // namespace

/// Expects that \p With is the same as \p Without, and that no sanitizer has reported anything.
static void expectSame(const CommandResult &With, const CommandResult &Without) {
  EXPECT_EQ(With.Stdout, Without.Stdout);
  EXPECT_EQ(With.ExitStatus, Without.ExitStatus);
  EXPECT_EQ(With.Signal, Without.Signal);
  EXPECT_EQ(With.Stderr.substr(0, 4000), "") << "a sanitizer reports here";
}

/// Returns the variants of \p Kernel in the records of \p Kind, which have the name at \p Field.
static std::set<std::string> variantsIn(const Records &File, const std::string &Kind,
                                        const std::string &Kernel, size_t Field) {
  std::set<std::string> Variants;
  for (const Fields &Line : File.of(Kind))
    if (Line.at(0) == Kernel)
      Variants.insert(Line.at(Field));
  return Variants;
}

TEST_P(StandIn, tracedProgram_doesTheSame) {
  StandInRun Run(GetParam());
  EXPECT_EQ(Run.Plain.ExitStatus, GetParam() == std::string("early-exit") ? 5 : 0);
  EXPECT_EQ(Run.Plain.Stderr, "");
  expectSame(Run.Trace, Run.Plain);
  EXPECT_TRUE(Run.Traced.whole());
  EXPECT_FALSE(Run.Traced.of("kernel").empty());
}

TEST_P(StandIn, rotatedProgram_doesTheSame) {
  StandInRun Run(GetParam());
  StandInPlan Plan;
  Plan.Mode = Plan.Fallback = "rotate";
  expectSame(Run.time(Plan), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_FALSE(Run.Timed.of("rotated").empty());
  EXPECT_TRUE(Run.Timed.of("fault").empty());
}

/// Runs \p Scenario without the probe and then with its time stretched by \p Stretch.
static std::pair<CommandResult, CommandResult>
runStretched(const std::string &Scenario, const TimeStretch &Stretch, Records &File) {
  ProbeRun Without, With;
  Without.setEnvironment("CUDA_INJECTION64_PATH");
  With.setEnvironment(StretchVariable + ("=" + Stretch.text()));
  CommandResult Plain = Without.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario});
  CommandResult Stretched = With.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario});
  File = With.onlyFile();
  return {Plain, Stretched};
}

TEST_P(StandIn, stretchedProgram_doesTheSame) {
  Records File;
  auto [Plain, Stretched] = runStretched(GetParam(), {20'000, 200'000'000}, File);
  expectSame(Stretched, Plain);
  EXPECT_TRUE(File.whole());
  EXPECT_TRUE(File.of("aside").empty());
  EXPECT_FALSE(File.of("kernel").empty());
}

INSTANTIATE_TEST_SUITE_P(All, StandIn, testing::ValuesIn(Scenarios), nameOf);

/// The program itself says how long the device and it took, and what it is told twice of the time
/// between two events.
TEST(StandInStretch, asynchronousLaunches_takeLongerByTheShare) {
  Records File;
  auto [Plain, Stretched] = runStretched("asynchronous", {0, 10'000'000'000}, File);
  EXPECT_EQ(Stretched.Stdout, Plain.Stdout);
  long long DeviceNs = 0, HostNs = 0;
  double EventsMs = 0, AgainMs = 0;
  const char *Format = "device %lld host %lld events %lf %lf";
  ASSERT_EQ(std::sscanf(Plain.Stderr.c_str(), Format, &DeviceNs, &HostNs, &EventsMs, &AgainMs), 4);
  EXPECT_EQ(EventsMs, AgainMs);
  ASSERT_EQ(std::sscanf(Stretched.Stderr.c_str(), Format, &DeviceNs, &HostNs, &EventsMs, &AgainMs),
            4);
  EXPECT_GE(double(HostNs), double(DeviceNs) * (1 + LeastShare));
  EXPECT_NEAR(AgainMs / EventsMs,
              (1 + LeastShare + 0.618 * (MostShare - LeastShare)) / (1 + LeastShare), 1e-4);
}

TEST(StandInRotation, cycle_runsEveryVariant) {
  StandInRun Run("in-place");
  StandInPlan Plan;
  Plan.Mode = Plan.Fallback = "rotate";
  expectSame(Run.time(Plan), Run.Plain);
  std::map<std::string, std::multiset<std::string>> Cycles;
  // Fields: kernel, four fields of the shape, cycle, variant, time.
  for (const Fields &Line : Run.Timed.of("rotated")) {
    Cycles[Line.at(5)].insert(Line.at(6));
    static const std::map<std::string, std::string> Times = {
        {"default", "400000"}, {"control", "400000"}, {"fast", "300000"}, {"odd", "350000"}};
    EXPECT_EQ(Line.at(7), Times.at(Line.at(6))) << "another variant's time";
  }
  EXPECT_EQ(Cycles.size(), 10u) << "40 launches of 4 variants";
  for (const auto &[Cycle, Variants] : Cycles)
    EXPECT_EQ(Variants, (std::multiset<std::string>{"default", "control", "fast", "odd"})) << Cycle;
}

TEST(StandInRotation, excludedVariant_isNeverRun) {
  StandInRun Run("in-place", "wrong");
  StandInPlan Plan;
  Plan.Mode = Plan.Fallback = "rotate";
  Plan.Excluded = {"odd"};
  expectSame(Run.time(Plan), Run.Plain);
  EXPECT_EQ(variantsIn(Run.Timed, "rotated", "step", 6),
            (std::set<std::string>{"default", "control", "fast"}));
}

/// Returns the parameters of the `argument` records of \p Kernel, with how many values each has.
static std::map<std::string, unsigned> argumentValues(const Records &File,
                                                      const std::string &Kernel) {
  std::map<std::string, unsigned> Values;
  for (const Fields &Line : File.of("argument"))
    if (Line.at(0) == Kernel)
      ++Values[Line.at(1)];
  return Values;
}

TEST(StandInArguments, parametersThatVary_haveTwoValues) {
  using Counts = std::map<std::string, unsigned>;
  StandInRun Swapped("deterministic");
  EXPECT_EQ(argumentValues(Swapped.Traced, "scale"), (Counts{{"0", 2}, {"1", 2}, {"2", 1}}));
  StandInRun Loaded("contexts");
  EXPECT_EQ(argumentValues(Loaded.Traced, "step"), (Counts{{"0", 2}, {"1", 1}}))
      << "a kernel of two modules";
  StandInRun Threads("threads");
  EXPECT_EQ(argumentValues(Threads.Traced, "step"), (Counts{{"0", 2}, {"1", 1}}));
  StandInRun Lengths("lengths");
  std::vector<Fields> Lines = Lengths.Traced.of("argument");
  ASSERT_EQ(Lines.size(), 3u);
  EXPECT_EQ(Lines[1], (Fields{"step", "1", "4", "4096", "0"}));
  EXPECT_EQ(Lines[2], (Fields{"step", "1", "4", "2048", "0"}));
  Lines = Lengths.Traced.of("shape-argument");
  ASSERT_EQ(Lines.size(), 3u) << "all launches have one grid and block";
  EXPECT_EQ(Lines[2], (Fields{"step", "16,1,1", "64,1,1", "1", "4", "2048", "0"}));
}

TEST(StandInArguments, argumentsInABuffer_areUnknown) {
  StandInRun Run("packed");
  EXPECT_EQ(Run.Traced.of("argument"), (std::vector<Fields>{{"step", "0", "0", "0", "0"}}));
}

TEST(StandInArguments, timingRun_recordsNone) {
  StandInRun Run("in-place");
  (void)Run.time({});
  EXPECT_TRUE(Run.Timed.of("argument").empty());
}
