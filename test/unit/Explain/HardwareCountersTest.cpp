// Tests runs with hardware counters. The program and its probe are made by the test.
#include "Explain/HardwareCounters.h"

#include "Probe/Counters/CountPlan.h"
#include "Tune/Job/TuningJob.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// What is counted for `k` in each pass, in two launches.
const char *const Counted[] = {"smsp__inst_executed_op_local_ld.sum",
                               "smsp__inst_executed_op_local_st.sum", "dram__bytes.sum"};

class HardwareCountersTest : public testing::Test {
protected:
  HardwareCountersTest() {
    Request.Workload.Argv = {"./app"};
    Request.Workload.TimeoutS = 9;
    Request.Probe = {"probe.so", ""};
    TracedKernel K;
    K.Kernel = "k";
    K.Shapes = {launches("k", 256, 100000), launches("k", 64, 90)};
    Kernels = {K};
    Runner.Program = [this](const ProbedProgram::Run &R, CommandResult &Result) {
      Result.Stdout = "sum 1\n";
      auto Metrics = R.Env.find(probe::MetricsVariable);
      if (Metrics == R.Env.end())
        return ProbeHead + kernelLine("k", 1000) + "end\n";
      Wishes.push_back(valueOf(readFile(Metrics->second)));
      unsigned Pass = Wishes.size() - 1;
      return ProbeHead + "container\tc1\t100\tcuLibraryLoadData\n" + Program(Pass, Result) +
             "end\n";
    };
  }

  static std::string passLine(unsigned Pass, unsigned Passes = 3) {
    return "metrics\tGH100\t" + std::to_string(Pass) + "\t" + std::to_string(Passes) + "\tx\n";
  }

  static std::string measured(unsigned Launch, const std::string &Metric, unsigned Value) {
    return "measured\tk\t1000,1,1\t256,1,1\t0\t1,1,1\t" + std::to_string(Launch) + "\tkernel\t" +
           Metric + "\t" + std::to_string(Value) + "\n";
  }

  static std::string counts(unsigned Pass) {
    return passLine(Pass) + measured(1, Counted[Pass], 10) + measured(2, Counted[Pass], 20);
  }

  CountedKernels count() {
    return valueOf(countHardware(Request, Kernels, Runner, /*Gpus=*/nullptr));
  }

  TuneRequest Request;
  std::vector<TracedKernel> Kernels;
  ProbedProgram Runner;
  std::vector<std::string> Wishes;
  std::function<std::string(unsigned, CommandResult &)> Program =
      [](unsigned Pass, CommandResult &) { return counts(Pass); };
};

} // namespace

TEST_F(HardwareCountersTest, severalPasses_takeOneRunEach) {
  CountedKernels C = count();
  EXPECT_EQ(C.Refused, "");
  EXPECT_EQ(C.Runs, 4u) << "one to learn the output";
  ASSERT_EQ(C.Kernels.size(), 1u);
  EXPECT_EQ(C.Kernels["k"].Launches, 2u);
  EXPECT_EQ(C.Kernels["k"].LocalInstructions, 30);
  EXPECT_EQ(C.Kernels["k"].DramBytes, 15);
  ASSERT_EQ(Wishes.size(), 3u);
  for (unsigned Pass = 0; Pass < 3; ++Pass)
    EXPECT_NE(Wishes[Pass].find("pass\t" + std::to_string(Pass) + "\n"), std::string::npos);
  EXPECT_NE(Wishes[0].find("kernel\tk\t1000,1,1\t256,1,1\t0\t1,1,1\t1\t4\n"), std::string::npos)
      << "the heaviest shape's launches behind the first";
  EXPECT_EQ(Wishes[0].find("64,1,1"), std::string::npos);
  EXPECT_GT(Runner.Runs.back().Asked.TimeoutS, 9);
}

TEST_F(HardwareCountersTest, kernelWithFewLaunches_isCountedInThoseItHas) {
  Kernels[0].Shapes[0].Launches = 2;
  Kernels[0].Shapes[0].Processes = 2;
  TracedKernel Other;
  Other.Kernel = "twice";
  Other.Shapes = {launches("twice", 128, 500)};
  Other.Shapes[0].Launches = 2;
  Kernels.push_back(Other);
  count();
  EXPECT_NE(Wishes[0].find("kernel\tk\t1000,1,1\t256,1,1\t0\t1,1,1\t0\t1\n"), std::string::npos)
      << "one in each process";
  EXPECT_NE(Wishes[0].find("kernel\ttwice\t1000,1,1\t128,1,1\t0\t1,1,1\t1\t1\n"),
            std::string::npos);
}

TEST_F(HardwareCountersTest, metricsOfOnePass_takeOneCountedRun) {
  Program = [](unsigned Pass, CommandResult &) {
    return passLine(Pass, 1) + measured(1, "dram__bytes.sum", 10);
  };
  EXPECT_EQ(count().Runs, 2u);
}

TEST_F(HardwareCountersTest, tooManyPasses_stopAfterFour) {
  Program = [](unsigned Pass, CommandResult &) {
    return passLine(Pass, 9) + measured(1, "dram__bytes.sum", 10);
  };
  EXPECT_EQ(count().Runs, 5u);
}

TEST_F(HardwareCountersTest, countersNotPermitted_areAskedForOnceAndRefused) {
  Program = [](unsigned, CommandResult &) {
    return std::string("uncounted\tthe driver permits counters to administrators alone\n"
                       "unmeasured\tk\t1000,1,1\t256,1,1\t0\t1,1,1\t1\tthe same\n");
  };
  CountedKernels C = count();
  EXPECT_EQ(C.Refused, "the driver permits counters to administrators alone");
  EXPECT_TRUE(C.Kernels.empty());
  EXPECT_EQ(C.Runs, 2u) << "it is asked once";
}

TEST_F(HardwareCountersTest, noLaunchCounted_isRefusedWithReason) {
  Program = [](unsigned Pass, CommandResult &) {
    return passLine(Pass, 1) + "unmeasured\tk\t1000,1,1\t256,1,1\t0\t1,1,1\t1\tthe program was "
                               "recording a CUDA graph\n";
  };
  EXPECT_EQ(count().Refused, "k: the program was recording a CUDA graph");
  Program = [](unsigned, CommandResult &) { return std::string(); };
  EXPECT_EQ(count().Refused, "no launch of the kernels could be counted");
}

TEST_F(HardwareCountersTest, kernelInAGraphThatStaysOne_isRefusedWithReason) {
  Program = [](unsigned Pass, CommandResult &) {
    return passLine(Pass, 1) + "graph-stays\tk\tconditional\n";
  };
  EXPECT_EQ(count().Refused, "k: launched from graphs with conditional nodes");
}

TEST_F(HardwareCountersTest, kernelWithAFault_isLeftOutAndTheOthersAreCounted) {
  TracedKernel Other;
  Other.Kernel = "hanging";
  Other.Shapes = {launches("hanging", 128, 500)};
  Kernels.push_back(Other);
  Program = [](unsigned Run, CommandResult &Result) {
    if (Run > 0)
      return passLine(0, 1) + measured(1, "dram__bytes.sum", 8);
    Result.ExitStatus = probe::FaultExitStatus;
    return passLine(0, 1) + "fault\thanging\tdefault\thung after 9 ms\n";
  };
  CountedKernels C = count();
  EXPECT_EQ(C.Refused, "");
  EXPECT_EQ(C.Runs, 3u);
  EXPECT_EQ(C.Kernels["k"].DramBytes, 8);
  ASSERT_EQ(Wishes.size(), 2u);
  EXPECT_NE(Wishes[0].find("hanging"), std::string::npos);
  EXPECT_EQ(Wishes[1].find("hanging"), std::string::npos);
  Kernels = {Other};
  Wishes.clear();
  EXPECT_EQ(count().Refused, "hanging: hung after 9 ms");
}

TEST_F(HardwareCountersTest, profilerTakenInSecondPass_keepsFirstPass) {
  Program = [](unsigned Pass, CommandResult &) {
    return Pass ? "uncounted\tanother profiler uses the counters\n"
                : counts(0) + measured(1, "dram__bytes.sum", 8);
  };
  CountedKernels C = count();
  EXPECT_EQ(C.Refused, "");
  EXPECT_EQ(C.Kernels["k"].DramBytes, 8);
  EXPECT_FALSE(C.Kernels["k"].LocalInstructions);
  EXPECT_EQ(C.Runs, 3u);
}

TEST_F(HardwareCountersTest, runWithOtherOutput_doesNotCount) {
  Program = [](unsigned Pass, CommandResult &Result) {
    Result.Stdout = "sum 2\n";
    return counts(Pass);
  };
  CountedKernels C = count();
  EXPECT_EQ(C.Refused, "with counters, line 1 of the output is 'sum 2' instead of 'sum 1'");
  EXPECT_TRUE(C.Kernels.empty());
}

TEST_F(HardwareCountersTest, failedRun_doesNotCount) {
  Program = [](unsigned Pass, CommandResult &Result) {
    Result.ExitStatus = 3;
    return counts(Pass);
  };
  EXPECT_EQ(count().Refused, "with counters, exit status 3 instead of 0");
  Program = [](unsigned Pass, CommandResult &Result) {
    Result.TimedOut = true;
    return counts(Pass);
  };
  EXPECT_EQ(count().Refused, "with counters the program ran longer than 9 s");
}

TEST_F(HardwareCountersTest, interruptedRun_endsWithError) {
  Program = [](unsigned Pass, CommandResult &Result) {
    Result.Interrupted = 2;
    return counts(Pass);
  };
  EXPECT_NE(messageOf(countHardware(Request, Kernels, Runner, nullptr)), "");
}

TEST_F(HardwareCountersTest, outputKnownToCaller_savesTheRunThatLearnsIt) {
  OutputCheck Check(
      [](const probe::TimeStretch &) -> llvm::Expected<RunRecord> { return RunRecord(); });
  ProgramOutput Default;
  Default.Stdout = "sum 1\n";
  Check.reference().addDefault(Default);
  CountedKernels C = valueOf(countHardware(Request, Kernels, Runner, nullptr, &Check));
  EXPECT_EQ(C.Runs, 3u);
  EXPECT_EQ(C.Kernels.size(), 1u);
}

TEST_F(HardwareCountersTest, nothingToRun_isRefusedWithoutARun) {
  Kernels[0].Shapes.clear();
  EXPECT_EQ(count().Refused, "there is no kernel to count");
  Request.SamplesPath = "samples";
  EXPECT_EQ(count().Refused, "the program is not run, because its samples were recorded before");
  EXPECT_TRUE(Runner.Runs.empty());
}
