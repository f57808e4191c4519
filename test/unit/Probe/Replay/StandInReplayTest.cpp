// Replays launches on the stand-in driver: the program does the same as without the probe, wrong
// variants are found, and what cannot be replayed is left alone.
#include "unit/Probe/StandInRun.h"

#include "Protocol/Protocol.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

namespace {

struct ReplayCase {
  const char *Scenario;
  const char *Kernel; ///< The kernel that must be replayed; null if none must, but some may.
  std::set<std::string> Verdicts = {"equal"};
};
std::ostream &operator<<(std::ostream &OS, const ReplayCase &C) { return OS << C.Scenario; }

const std::set<std::string> Spread = {"equal", "within-spread"};

const ReplayCase Cases[] = {{"deterministic", "scale"}, {"in-place", "step"},
                            {"atomics", "sum", Spread}, {"permutation", "append", Spread},
                            {"streams", "step"},        {"threads", "step"},
                            {"contexts", "step"},       {"capture", nullptr},
                            {"full-memory", "step"},    {"mapped", "step"},
                            {"variables", "count"},     {"other-variables", "step"},
                            {"forks", "step"},          {"early-exit", nullptr}};

std::string nameOf(const testing::TestParamInfo<ReplayCase> &Info) {
  std::string Name = Info.param.Scenario;
  std::erase(Name, '-');
  return Name;
}

class StandInReplay : public testing::TestWithParam<ReplayCase> {};

void expectSame(const CommandResult &With, const CommandResult &Without) {
  EXPECT_EQ(With.Stdout, Without.Stdout);
  EXPECT_EQ(With.ExitStatus, Without.ExitStatus);
  EXPECT_EQ(With.Signal, Without.Signal);
  EXPECT_EQ(With.Stderr.substr(0, 6000), "") << "a sanitizer reports here";
}

/// Returns the verdicts on \p Variant of \p Kernel. Fields: kernel, shape (4), launch, variant,
/// verdict, detail.
std::set<std::string> verdicts(const Records &File, const std::string &Kernel,
                               const std::string &Variant) {
  std::set<std::string> Found;
  for (const Fields &Line : File.of("verified"))
    if (Line.at(0) == Kernel && Line.at(6) == Variant)
      Found.insert(Line.at(7));
  return Found;
}

std::string printed(const Records &File) {
  std::string Text;
  for (const Fields &Line : File.Lines)
    if (Line.front() != "timed" && Line.front() != "rotated")
      for (const std::string &Field : Line)
        Text += Field + (&Field == &Line.back() ? "\n" : "\t");
  return Text;
}

bool replayed(const Records &File, const std::string &Kernel) {
  for (const Fields &Line : File.of("replayed"))
    if (Line.at(0) == Kernel)
      return true;
  return false;
}

/// Returns whether the program's other threads kept \p Kernel from being replayed. That happens by
/// chance on a machine that does other work.
bool wasBusy(const Records &File, const std::string &Kernel) {
  for (const Fields &Line : File.of("stood-back"))
    if (Line.at(0) == Kernel && Line.at(1) == "busy")
      return true;
  return false;
}

} // namespace

TEST_P(StandInReplay, program_doesTheSameAsWithoutTheProbe) {
  const ReplayCase &Case = GetParam();
  for (const char *Mode : {"replay", "verify-rotate"}) {
    SCOPED_TRACE(Mode);
    StandInPlan Plan;
    Plan.Mode = Mode;
    Plan.Fallback = "rotate";
    Records Timed;
    for (unsigned Try = 0; Try == 0 || (Try < 5 && Case.Kernel && wasBusy(Timed, Case.Kernel));
         ++Try) {
      StandInRun Run(Case.Scenario);
      expectSame(Run.time(Plan), Run.Plain);
      Timed = Run.Timed;
      EXPECT_TRUE(Timed.whole());
      EXPECT_TRUE(Timed.of("fault").empty()) << printed(Timed);
    }
    if (!Case.Kernel)
      continue;
    EXPECT_TRUE(replayed(Timed, Case.Kernel)) << printed(Timed);
    for (const char *Variant : {"control", "fast", "odd"}) {
      std::set<std::string> Found = verdicts(Timed, Case.Kernel, Variant);
      EXPECT_FALSE(Found.empty()) << printed(Timed);
      for (const std::string &Verdict : Found)
        EXPECT_TRUE(Case.Verdicts.count(Verdict)) << Variant << " " << printed(Timed);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, StandInReplay, testing::ValuesIn(Cases), nameOf);

TEST(StandInReplayed, times_areThoseOfTheirVariants) {
  StandInRun Run("in-place");
  expectSame(Run.time({}), Run.Plain);
  // Fields: kernel, shape (4), launch, phase, round, variant, cold, warm.
  std::set<std::string> Phases;
  for (const Fields &Line : Run.Timed.of("timed")) {
    static const std::map<std::string, std::string> Times = {
        {"default", "400000"}, {"control", "400000"}, {"fast", "300000"}, {"odd", "350000"}};
    EXPECT_EQ(Line.at(9), Times.at(Line.at(8)));
    EXPECT_EQ(Line.at(10), Times.at(Line.at(8))) << "warm, from the same inputs";
    Phases.insert(Line.at(6));
  }
  EXPECT_EQ(Phases, (std::set<std::string>{"confirm", "screen"})) << printed(Run.Timed);
}

TEST(StandInReplayed, kernelThatWritesHostMemory_isNotReplayed) {
  for (const char *Scenario : {"managed", "host-mapped", "host-hidden"}) {
    SCOPED_TRACE(Scenario);
    StandInRun Run(Scenario);
    expectSame(Run.time({}), Run.Plain);
    EXPECT_TRUE(Run.Timed.whole());
    EXPECT_TRUE(Run.Timed.of("timed").empty()) << printed(Run.Timed);
    EXPECT_FALSE(Run.Timed.of("stood-back").empty()) << printed(Run.Timed);
  }
}

TEST(StandInReplayed, hiddenHostMemoryWrittenByTheKernel_isPutBack) {
  for (const char *Scenario : {"host-masked", "managed-masked", "managed-variable"}) {
    SCOPED_TRACE(Scenario);
    StandInRun Run(Scenario);
    expectSame(Run.time({}), Run.Plain);
    EXPECT_TRUE(Run.Timed.whole());
    EXPECT_TRUE(Run.Timed.of("timed").empty()) << printed(Run.Timed);
    EXPECT_EQ(Run.Timed.of("stood-back"), (std::vector<Fields>{{"masked", "writes-host-memory"}}))
        << printed(Run.Timed);
  }
}

/// The bus decides. A pass over 24 MB would be assumed to take 1.2 ms; on the slow bus it takes
/// half a second.
TEST(StandInReplayed, muchHostMemory_isWatchedIfTheBusIsFastEnough) {
  for (bool Slow : {false, true}) {
    SCOPED_TRACE(Slow);
    StandInRun Run(Slow ? "host-large-slow" : "host-large");
    StandInPlan Plan;
    Plan.Mode = "verify-rotate";
    Plan.ReplayMs = 1000;
    expectSame(Run.time(Plan), Run.Plain);
    EXPECT_TRUE(Run.Timed.whole());
    EXPECT_EQ(Run.Timed.of("verified").empty(), Slow) << printed(Run.Timed);
    EXPECT_EQ(Run.Timed.of("stood-back"),
              Slow ? (std::vector<Fields>{{"step", "host-memory-size"}}) : std::vector<Fields>())
        << printed(Run.Timed);
  }
}

TEST(StandInReplayed, hostAddressInAConstant_countsOnlyIfTheKernelMayReadIt) {
  for (bool Named : {false, true}) {
    StandInRun Run("host-in-constant");
    StandInPlan Plan;
    if (Named)
      Plan.Constants = {"Locks"};
    expectSame(Run.time(Plan), Run.Plain);
    EXPECT_TRUE(Run.Timed.whole());
    EXPECT_EQ(Run.Timed.of("timed").empty(), Named) << printed(Run.Timed);
    const std::vector<Fields> Why = {
        {"step", "points-to-host: 8 bytes of device memory hold an address of 16384 bytes of host "
                 "memory"}};
    EXPECT_EQ(Run.Timed.of("stood-back"), Named ? Why : std::vector<Fields>())
        << printed(Run.Timed);
  }
}

TEST(StandInReplayed, addressOfAConstantThatTheKernelDoesNotName_leadsToWhatIsInIt) {
  const std::pair<const char *, const char *> Cases[] = {
      {"constant-as-argument", "8 bytes of device memory hold an address of 16384 bytes of host "
                               "memory"},
      {"constant-in-memory",
       "16384 bytes of device memory hold an address of 8 bytes of a constant "
       "with such an address"}};
  for (const auto &[Scenario, Which] : Cases) {
    StandInRun Run(Scenario);
    expectSame(Run.time({}), Run.Plain);
    EXPECT_TRUE(Run.Timed.whole());
    EXPECT_TRUE(Run.Timed.of("timed").empty()) << printed(Run.Timed);
    EXPECT_EQ(Run.Timed.of("stood-back"),
              (std::vector<Fields>{{"scale", std::string("points-to-host: ") + Which}}))
        << printed(Run.Timed);
  }
  StandInRun Run("factors-in-memory");
  expectSame(Run.time({}), Run.Plain);
  EXPECT_FALSE(Run.Timed.of("timed").empty()) << printed(Run.Timed);
  EXPECT_TRUE(Run.Timed.of("stood-back").empty()) << "there is no address in the constant";
}

TEST(StandInReplayed, hostMemoryWrittenByTheProgramMeanwhile_keepsWhatWasWritten) {
  StandInRun Run("host-written");
  expectSame(Run.time({}), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(Run.Timed.of("fault").empty()) << printed(Run.Timed);
  for (const Fields &Line : Run.Timed.of("stood-back"))
    EXPECT_EQ(Line, (Fields{"step", "host-busy"})) << printed(Run.Timed);
}

TEST(StandInReplayed, variableOfAnotherModule_isSavedThoughNobodyAskedForIt) {
  StandInRun Run("linked-variable");
  expectSame(Run.time({}), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(replayed(Run.Timed, "masked")) << printed(Run.Timed);
  for (const char *Variant : {"control", "fast", "odd"})
    EXPECT_EQ(verdicts(Run.Timed, "masked", Variant), std::set<std::string>{"equal"});
}

TEST(StandInReplayed, unknownMemoryCall_stopsReplays) {
  StandInRun Run("unknown-call");
  expectSame(Run.time({}), Run.Plain);
  EXPECT_EQ(Run.Timed.of("stood-back"), (std::vector<Fields>{{"step", "memory-call"}}));
  EXPECT_FALSE(replayed(Run.Timed, "step"));
}

TEST(StandInReplayed, programThatMayOpenNoFile_isNotKilled) {
  if (CARVE_TEST_SANITIZED)
    GTEST_SKIP() << "a sanitizer opens files of its own";
  StandInRun Run("sandboxed");
  EXPECT_EQ(Run.Trace.Stdout, Run.Plain.Stdout);
  EXPECT_EQ(Run.Trace.Signal, 0);
  EXPECT_TRUE(Run.Traced.whole());
  expectSame(Run.time({}), Run.Plain);
  EXPECT_TRUE(Run.Timed.whole());
  EXPECT_TRUE(replayed(Run.Timed, "step")) << printed(Run.Timed);
}

TEST(StandInReplayed, wrongVariant_isFoundAndNoOther) {
  for (const char *Bad : {"wrong", "stray"}) {
    for (auto [Scenario, Kernel] :
         {std::pair{"deterministic", "scale"}, {"in-place", "step"}, {"atomics", "sum"}}) {
      SCOPED_TRACE(std::string(Bad) + " " + Scenario);
      StandInRun Run(Scenario, Bad);
      expectSame(Run.time({}), Run.Plain);
      EXPECT_EQ(verdicts(Run.Timed, Kernel, "odd"),
                std::set<std::string>{Bad == std::string("wrong") ? "differs" : "stray"})
          << printed(Run.Timed);
      for (const char *Right : {"control", "fast"})
        for (const std::string &Verdict : verdicts(Run.Timed, Kernel, Right))
          EXPECT_TRUE(Spread.count(Verdict)) << printed(Run.Timed);
      for (const Fields &Line : Run.Timed.of("timed"))
        EXPECT_NE(Line.at(8), "odd") << "a rejected variant is not timed";
    }
  }
}

TEST(StandInReplayed, verifiedRotation_leavesOutTheWrongVariant) {
  StandInRun Run("in-place", "wrong");
  StandInPlan Plan;
  Plan.Mode = "verify-rotate";
  Plan.Fallback = "rotate";
  expectSame(Run.time(Plan), Run.Plain);
  EXPECT_FALSE(Run.Timed.of("rotated").empty()) << printed(Run.Timed);
  for (const Fields &Line : Run.Timed.of("rotated"))
    EXPECT_NE(Line.at(6), "odd");
}

/// Returns how often the variant `odd` of \p Kernel was timed, by number of the launch.
static std::map<std::string, unsigned> timesOfOdd(const Records &File, const std::string &Kernel) {
  std::map<std::string, unsigned> Times;
  for (const Fields &Line : File.of("timed"))
    if (Line.at(0) == Kernel && Line.at(8) == "odd")
      ++Times[Line.at(5)];
  return Times;
}

TEST(StandInMeasured, variantThatComputesSomethingElse_isTimed) {
  for (auto [Scenario, Kernel] : {std::pair{"deterministic", "scale"},
                                  {"repeated", "scale"},
                                  {"in-place", "step"},
                                  {"atomics", "sum"}}) {
    SCOPED_TRACE(Scenario);
    StandInRun Run(Scenario, "wrong");
    StandInPlan Plan;
    Plan.Measured = {"odd"};
    expectSame(Run.time(Plan), Run.Plain);
    EXPECT_TRUE(Run.Timed.whole());
    EXPECT_TRUE(Run.Timed.of("fault").empty()) << printed(Run.Timed);
    EXPECT_TRUE(verdicts(Run.Timed, Kernel, "odd").count("differs")) << printed(Run.Timed);
    EXPECT_FALSE(verdicts(Run.Timed, Kernel, "odd").count("stray")) << printed(Run.Timed);
    std::map<std::string, unsigned> Times = timesOfOdd(Run.Timed, Kernel);
    EXPECT_GE(Times.size(), 2u) << "at the first launch and at the middle one";
    for (const auto &[Launch, Count] : Times)
      EXPECT_GE(Count, 15u) << "in every round of launch " << Launch;
    EXPECT_TRUE(Run.Timed.of("rotated").empty());
  }
}

TEST(StandInMeasured, output_isNotWhatTheNextVariantStartsFrom) {
  StandInRun Run("repeated", "wrong");
  StandInPlan Plan;
  Plan.Measured = {"odd"};
  (void)Run.time(Plan);
  for (const char *Right : {"control", "fast"})
    EXPECT_EQ(verdicts(Run.Timed, "scale", Right), std::set<std::string>{"equal"});
  for (const Fields &Line : Run.Timed.of("timed"))
    EXPECT_NE(Line.at(10), "0") << "idempotent: warm times are taken, too";
}

TEST(StandInMeasured, variantThatWritesElsewhere_isNotTimed) {
  for (auto [Scenario, Kernel] : {std::pair{"in-place", "step"}, {"repeated", "scale"}}) {
    SCOPED_TRACE(Scenario);
    StandInRun Run(Scenario, "stray");
    StandInPlan Plan;
    Plan.Measured = {"odd"};
    expectSame(Run.time(Plan), Run.Plain);
    EXPECT_EQ(verdicts(Run.Timed, Kernel, "odd"), std::set<std::string>{"stray"})
        << printed(Run.Timed);
    EXPECT_TRUE(timesOfOdd(Run.Timed, Kernel).empty());
  }
}

/// Returns `<kernel> <variant>` of all faults.
static std::set<std::string> blamed(const Records &File) {
  std::set<std::string> Blamed;
  for (const Fields &Line : File.of("fault"))
    Blamed.insert(Line.at(0) + " " + Line.at(1));
  return Blamed;
}

TEST(StandInReplayed, variantThatHangsOrBreaksTheContext_endsTheProcess) {
  for (const char *Bad : {"hang", "break"}) {
    SCOPED_TRACE(Bad);
    StandInRun Run("in-place", Bad);
    StandInPlan Plan;
    Plan.HangMs = 300;
    CommandResult Result = Run.time(Plan);
    EXPECT_EQ(Result.ExitStatus, FaultExitStatus) << Result.Stdout << printed(Run.Timed);
    EXPECT_LT(Result.WallS, 20);
    EXPECT_EQ(blamed(Run.Timed), std::set<std::string>{"step odd"}) << printed(Run.Timed);
  }
}

TEST(StandInReplayed, longKernelOfAnotherThread_isNoHang) {
  StandInRun Run("thread-stream");
  StandInPlan Plan;
  Plan.HangMs = 100;
  expectSame(Run.time(Plan), Run.Plain);
  EXPECT_TRUE(Run.Timed.of("fault").empty()) << printed(Run.Timed);
  EXPECT_TRUE(replayed(Run.Timed, "step")) << printed(Run.Timed);
}

TEST(StandInRotated, variantThatBreaksTheContext_endsTheProcess) {
  StandInRun Run("in-place", "break");
  StandInPlan Plan;
  Plan.Mode = Plan.Fallback = "rotate";
  CommandResult Result = Run.time(Plan);
  EXPECT_EQ(Result.ExitStatus, FaultExitStatus) << Result.Stdout << printed(Run.Timed);
  EXPECT_EQ(blamed(Run.Timed), std::set<std::string>{"step odd"}) << printed(Run.Timed);
}

TEST(StandInRotated, variantThatHangs_endsTheProcess) {
  StandInRun Run("in-place", "hang");
  StandInPlan Plan;
  Plan.Mode = Plan.Fallback = "rotate";
  Plan.HangMs = 300;
  CommandResult Result = Run.time(Plan);
  EXPECT_EQ(Result.ExitStatus, FaultExitStatus) << Result.Stdout << printed(Run.Timed);
  EXPECT_EQ(blamed(Run.Timed), std::set<std::string>{"step odd"}) << printed(Run.Timed);
}

TEST(StandInReplayed, excludedVariant_isNotRun) {
  StandInRun Run("in-place", "hang");
  StandInPlan Plan;
  Plan.Excluded = {"odd"};
  expectSame(Run.time(Plan), Run.Plain);
  EXPECT_TRUE(replayed(Run.Timed, "step")) << printed(Run.Timed);
  EXPECT_TRUE(verdicts(Run.Timed, "step", "odd").empty());
}
