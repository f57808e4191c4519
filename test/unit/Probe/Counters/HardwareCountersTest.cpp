// Hardware counters of chosen launches, on the stand-in driver and CUPTI's stand-in profiler.
#include "Probe/Counters/CountPlan.h"
#include "Probe/Counters/ProfilerApi.h"
#include "unit/Probe/ProbeRecords.h"

#include <algorithm>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

namespace {

constexpr char Metrics[] = "metric\tgpu__time_duration.sum\nmetric\tkernels.sum\n";

std::string wish(const std::string &Kernel, unsigned First, unsigned Launches,
                 const std::string &Grid = "16,1,1") {
  return "kernel\t" + Kernel + "\t" + Grid + "\t64,1,1\t0\t1,1,1\t" + std::to_string(First) + "\t" +
         std::to_string(Launches) + "\n";
}

/// Runs a scenario once with counters.
class HardwareCountersTest : public testing::Test {
protected:
  void count(const std::string &Scenario, const std::string &Wishes,
             const std::string &Wanted = Metrics, unsigned Pass = 0) {
    ProbeRun Without;
    Without.setEnvironment("CUDA_INJECTION64_PATH");
    CommandResult Plain = Without.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario});
    Run.setEnvironment("CARVE_PROBE_METRICS=" +
                       Run.writeFile("metrics", "carve-metrics\t1\npass\t" + std::to_string(Pass) +
                                                    "\n" + Wanted + Wishes));
    Run.setEnvironment("STUB_PROFILER_LOG=" + Run.path("log"));
    CommandResult Result = Run.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario});
    EXPECT_EQ(Result.Stderr, "");
    EXPECT_EQ(Result.Stdout, Plain.Stdout) << "the program computes what it always does";
    EXPECT_EQ(Result.ExitStatus, Plain.ExitStatus);
    Only = Run.onlyFile();
    EXPECT_TRUE(Only.whole());
    EXPECT_EQ(Only.of("kernel"), std::vector<Fields>()) << "nothing is timed beside it";
  }

  /// Returns the values of \p Metric by launch. All of them must be of ranges of \p Kind.
  std::map<std::string, std::string> values(const std::string &Metric,
                                            const std::string &Kind = "kernel") const {
    std::map<std::string, std::string> Result;
    for (const Fields &F : Only.of("measured")) {
      EXPECT_EQ(F.at(6), Kind);
      if (F.at(7) != Metric)
        continue;
      bool New = Result.emplace(F.at(5), F.at(8)).second;
      EXPECT_TRUE(New) << "launch " << F[5] << " twice";
    }
    return Result;
  }

  std::string log() const {
    llvm::Expected<std::string> Text = readFile(Run.path("log"));
    return Text ? *Text : (llvm::consumeError(Text.takeError()), "");
  }

  std::set<std::string> reasons(const std::string &Tag) const {
    std::set<std::string> Result;
    for (const Fields &F : Only.of(Tag))
      Result.insert(F.back());
    return Result;
  }

  ProbeRun Run;
  Records Only;
};

using Values = std::map<std::string, std::string>;

} // namespace

TEST_F(HardwareCountersTest, wantedLaunches_areCounted) {
  count("in-place", wish("step", 1, 3));
  EXPECT_EQ(values("kernels.sum"),
            (Values{{"1", "1.000000"}, {"2", "1.000000"}, {"3", "1.000000"}}));
  Values Ns = values("gpu__time_duration.sum");
  EXPECT_EQ(Ns.size(), 3u);
  for (const auto &[Launch, Value] : Ns)
    EXPECT_GT(std::stod(Value), 0) << Launch;
  EXPECT_EQ(Only.of("metrics"),
            (std::vector<Fields>{{"STUB100", "0", "1", "gpu__time_duration.sum,kernels.sum"}}));
  EXPECT_EQ(reasons("uncounted"), std::set<std::string>());
  EXPECT_EQ(reasons("unmeasured"), std::set<std::string>());
  EXPECT_EQ(log(), "e()()()d") << "the counters go back when all is counted";
}

TEST_F(HardwareCountersTest, wishWithShape_countsThatShape) {
  count("deterministic", wish("scale", 0, 2, "8,1,1"));
  EXPECT_EQ(values("kernels.sum"), (Values{{"0", "1.000000"}, {"1", "1.000000"}}));
  for (const Fields &F : Only.of("measured"))
    EXPECT_EQ(F[1], "8,1,1");
}

TEST_F(HardwareCountersTest, severalKernels_areCounted) {
  count("threads", wish("step", 5, 2) + wish("scale", 3, 2));
  std::map<std::string, unsigned> Counted;
  for (const Fields &F : Only.of("measured"))
    if (F.at(7) == "kernels.sum") {
      ++Counted[F[0]];
      EXPECT_EQ(F[8], "1.000000") << "kernels of other threads wait";
    }
  EXPECT_EQ(Counted, (std::map<std::string, unsigned>{{"scale", 2}, {"step", 2}}))
      << *reasons("unmeasured").begin();
}

TEST_F(HardwareCountersTest, kernelsOfOtherStreams_endBefore) {
  count("streams", wish("step", 4, 4));
  EXPECT_EQ(values("kernels.sum"),
            (Values{{"4", "1.000000"}, {"5", "1.000000"}, {"6", "1.000000"}, {"7", "1.000000"}}));
}

TEST_F(HardwareCountersTest, captures_areLeftAlone) {
  count("capture", wish("step", 0, 1000));
  for (const auto &[Launch, Kernels] : values("kernels.sum"))
    EXPECT_EQ(Kernels, "1.000000") << Launch;
  EXPECT_EQ(reasons("uncounted"), std::set<std::string>());
  for (const std::string &Why : reasons("unmeasured"))
    EXPECT_TRUE(Why == "the program was recording a CUDA graph" ||
                Why == "other threads' calls were under way")
        << Why;
}

TEST_F(HardwareCountersTest, launchesOfGraphs_areCountedAlone) {
  count("graph-steps", wish("step", 1, 4));
  EXPECT_EQ(values("kernels.sum"),
            (Values{{"1", "1.000000"}, {"2", "1.000000"}, {"3", "1.000000"}, {"4", "1.000000"}}));
  EXPECT_EQ(reasons("unmeasured"), std::set<std::string>());
  EXPECT_EQ(log(), "e()()()()d");
}

TEST_F(HardwareCountersTest, launchesOfRandomGraphs_areCountedAlone) {
  count("random-graphs", wish("step", 100, 4) + wish("scale", 50, 4));
  std::map<std::string, unsigned> Counted;
  for (const Fields &F : Only.of("measured"))
    if (F.at(7) == "kernels.sum") {
      ++Counted[F[0]];
      EXPECT_EQ(F[8], "1.000000");
    }
  EXPECT_EQ(Counted, (std::map<std::string, unsigned>{{"scale", 4}, {"step", 4}}));
}

TEST_F(HardwareCountersTest, graphThatStaysOne_leavesItsReason) {
  count("pageable-copy", wish("step", 0, 4));
  EXPECT_EQ(Only.of("measured"), std::vector<Fields>());
  EXPECT_EQ(Only.of("graph-stays"), (std::vector<Fields>{{"step", "pageable-copy"}}));
}

TEST_F(HardwareCountersTest, everyContext_hasItsCounters) {
  count("contexts", wish("step", 0, 100000));
  EXPECT_GE(values("kernels.sum").size(), 2u);
  EXPECT_EQ(reasons("uncounted"), std::set<std::string>());
  std::string Log = log();
  EXPECT_GE(std::count(Log.begin(), Log.end(), 'e'), 2) << Log;
}

TEST_F(HardwareCountersTest, counters_areGivenBackAtTheEnd) {
  count("in-place", wish("step", 1, 2) + wish("never", 0, 1));
  EXPECT_EQ(log(), "e()()d");
}

TEST_F(HardwareCountersTest, endAmidLaunches_keepsWhatWasCounted) {
  // The stand-in's own threads may be at work, too.
  Run.setEnvironment("TSAN_OPTIONS=report_thread_leaks=0");
  count("early-exit", wish("step", 0, 100000));
  EXPECT_GE(values("kernels.sum").size(), 1u);
}

TEST_F(HardwareCountersTest, process_makesOnePass) {
  const std::string Wanted = std::string(Metrics) +
                             "metric\tb.sum\nmetric\tbogus.sum\nmetric\tc.sum\n"
                             "metric\twide.sum\nmetric\tdd.sum\nmetric\te.sum\n";
  count("in-place", wish("step", 1, 1), Wanted, 1);
  EXPECT_EQ(Only.of("metrics"),
            (std::vector<Fields>{{"STUB100", "1", "3", "gpu__time_duration.sum,c.sum,dd.sum"}}));
  EXPECT_EQ(Only.of("no-metric"), (std::vector<Fields>{{"STUB100", "bogus.sum", "unknown"},
                                                       {"STUB100", "wide.sum", "2 passes"}}));
  EXPECT_EQ(values("dd.sum"), (Values{{"1", "6.000000"}}));
  EXPECT_EQ(values("b.sum"), Values());
}

TEST_F(HardwareCountersTest, missingPass_isReported) {
  count("in-place", wish("step", 1, 1), Metrics, 1);
  EXPECT_EQ(Only.of("metrics"), (std::vector<Fields>{{"STUB100", "1", "1", "-"}}));
  EXPECT_EQ(log(), "");
  EXPECT_EQ(Only.of("measured"), std::vector<Fields>());
}

TEST_F(HardwareCountersTest, valueThatIsNoNumber_isLeftOut) {
  count("in-place", wish("step", 1, 1), std::string(Metrics) + "metric\tnan.sum\n");
  EXPECT_EQ(values("nan.sum"), Values());
  EXPECT_EQ(values("kernels.sum").size(), 1u);
}

TEST_F(HardwareCountersTest, countersNotPermitted_areReported) {
  for (const char *Call : {"cuptiProfilerInitialize", "cuptiProfilerGetCounterAvailability",
                           "cuptiRangeProfilerEnable", "cuptiRangeProfilerStart"}) {
    Run = ProbeRun();
    Run.setEnvironment(std::string("STUB_PROFILER_FAIL=") + Call + "=" +
                       std::to_string(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES));
    count("in-place", wish("step", 1, 3));
    EXPECT_EQ(reasons("uncounted"),
              (std::set<std::string>{"the driver permits counters to administrators alone "
                                     "(https://developer.nvidia.com/ERR_NVGPUCTRPERM)"}))
        << Call;
    EXPECT_EQ(Only.of("measured"), std::vector<Fields>());
    EXPECT_EQ(Only.of("unmeasured").size(), 1u) << "it is tried once";
  }
}

TEST_F(HardwareCountersTest, countersNotSupported_areReported) {
  Run.setEnvironment("STUB_PROFILER_UNSUPPORTED=1");
  count("in-place", wish("step", 1, 3));
  EXPECT_EQ(reasons("uncounted"),
            (std::set<std::string>{"counters are not supported on this GPU or system"}));
}

TEST_F(HardwareCountersTest, otherError_isNamed) {
  Run.setEnvironment("STUB_PROFILER_FAIL=cuptiProfilerHostInitialize=999");
  count("in-place", wish("step", 1, 3));
  EXPECT_EQ(reasons("uncounted"),
            (std::set<std::string>{"cuptiProfilerHostInitialize failed with CUPTI's error 999"}));
}

TEST_F(HardwareCountersTest, noKnownMetric_isReported) {
  count("in-place", wish("step", 1, 3), "metric\tbogus.sum\n");
  EXPECT_EQ(reasons("uncounted"),
            (std::set<std::string>{"this chip (STUB100) has none of the metrics"}));
}

TEST_F(HardwareCountersTest, kernelsWithoutRanges_getRangesOfTheProbe) {
  Run.setEnvironment("STUB_PROFILER_AUTO=0");
  count("in-place", wish("step", 1, 2));
  EXPECT_EQ(values("kernels.sum", "span"), (Values{{"2", "1.000000"}, {"3", "1.000000"}}));
  EXPECT_EQ(reasons("unmeasured"),
            (std::set<std::string>{"the launch made 0 ranges instead of 1"}));
  EXPECT_EQ(log(), "e()(<>)(<>)d");
}

TEST_F(HardwareCountersTest, kernelRangesRefused_getRangesOfTheProbe) {
  Run.setEnvironment("STUB_PROFILER_FAIL=autoConfig=1");
  count("in-place", wish("step", 1, 2));
  EXPECT_EQ(values("kernels.sum", "span"), (Values{{"1", "1.000000"}, {"2", "1.000000"}}));
  EXPECT_EQ(reasons("unmeasured"), std::set<std::string>());
}

TEST_F(HardwareCountersTest, repeatedFailure_endsTheAttempts) {
  Run.setEnvironment("STUB_PROFILER_FAIL=cuptiRangeProfilerDecodeData=5");
  count("in-place", wish("step", 1, 3));
  EXPECT_EQ(reasons("uncounted"),
            (std::set<std::string>{"cuptiRangeProfilerDecodeData failed with CUPTI's error 5"}));
  EXPECT_EQ(Only.of("unmeasured").size(), 2u) << "once of each kind";
  EXPECT_EQ(log().back(), 'd');
}

TEST(CountPlan, read_wrongLine_fails) {
  ProbeRun Run;
  const std::string Head = "carve-metrics\t1\npass\t2\nmetric\ta.sum\nmetric\tb.avg\n",
                    Kernel = "kernel\tk\t4,1,1\t64,2,1\t16\t2,1,1\t5\t3";
  CountPlan P;
  ASSERT_TRUE(P.read(Run.writeFile("good", Head + Kernel + "\n").c_str()));
  EXPECT_EQ(P.Pass, 2u);
  EXPECT_EQ(P.Metrics, (std::vector<std::string>{"a.sum", "b.avg"}));
  ASSERT_EQ(P.Wishes.size(), 1u);
  EXPECT_EQ(P.Wishes[0].Kernel, "k");
  EXPECT_EQ(P.Wishes[0].Shape, (LaunchShape{{4, 1, 1}, {64, 2, 1}, 16, {2, 1, 1}}));
  EXPECT_EQ(P.Wishes[0].First, 5u);
  EXPECT_EQ(P.Wishes[0].Launches, 3u);
  for (const std::string &Bad :
       {Head, Head + Kernel + "\tmore\n", Head + "kernel\tk\t4,1\t64,2,1\t16\t2,1,1\t5\t3\n",
        Head + Kernel + "\nother\t1\n", "carve-metrics\t2\npass\t0\nmetric\ta\n" + Kernel + "\n",
        "carve-metrics\t1\n" + Kernel + "\n"})
    EXPECT_FALSE(CountPlan().read(Run.writeFile("bad", Bad).c_str())) << Bad;
  EXPECT_FALSE(CountPlan().read("/none"));
}

TEST(ProfilerApi, libraryWithoutAProfiler_isNotLoaded) {
  EXPECT_FALSE(ProfilerApi().load(nullptr));
  // This is the program itself, which links only the C library.
  EXPECT_FALSE(ProfilerApi().load(::dlopen(nullptr, RTLD_LAZY)));
}
