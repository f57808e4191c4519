// Tunings on two GPUs, GPU-a and GPU-b of StubNvml.cpp, with a program that the test plays.
#include "Tune/TuneGpus.h"
#include "Tune/TuneSelection.h"
#include "Tune/TuneTiming.h"
#include "Tune/TuneTrace.h"

#include "unit/Support/ProgressTesting.h"
#include "unit/Tune/TuneTesting.h"

#include "llvm/Support/FileSystem.h"

#include <cstdlib>
#include <set>

using namespace carve;

namespace {

/// A job in which both kernels have the variants r32 and r64.
class TuneGpusTest : public testing::Test {
protected:
  TuneGpusTest() : Dir(llvm::cantFail(TempDir::create("carve-several"))) {
    Request.Workload.Argv = {"./app"};
    Request.Workload.TimeoutS = 9;
    Request.Probe = {"probe.so", ""};
    Request.Gpus.ProcDir = Dir.path() + "/proc";
    Request.Gpus.DevDir = "/dev";
    Request.Gpus.LockDir = Dir.path();
    Request.Gpus.Nvml = CARVE_TEST_STUB_NVML;
    Request.Progress = &Progress;
    Request.Limits.BudgetS = 100;
    Request.OnGpus.All = true;
    for (const char *Uuid : {"GPU-a", "GPU-b"}) {
      std::string Gpu = Request.Gpus.ProcDir + "/" + Uuid;
      EXPECT_FALSE(llvm::sys::fs::create_directories(Gpu));
      EXPECT_EQ(
          messageOf(writeFileAtomically(
              Gpu + "/information", "Model: NVIDIA H200\nGPU UUID: " + std::string(Uuid) + "\n")),
          "");
    }
    addVariant(Built.Kernels[1], 32);
    addVariant(Built.Kernels[1], 64);
    Built.Modules[0].Cubin = recordedPtx("kernels.sm_90.cuda-13.0.88.cubin");
    Runner.Program = [this](const ProbedProgram::Run &R, CommandResult &Result) {
      Result.Stdout = "sum 1\n";
      std::string Gpu = R.Env.count(Visible) ? R.Env.at(Visible) : "";
      Seen.insert(Gpu);
      std::string Records = ProbeHead;
      if (DropHead) // The devices are in MoreRecords.
        Records = Records.substr(0, Records.find('\n') + 1);
      Records += MoreRecords;
      uint64_t Slower = llvm::StringRef(Gpu) == "GPU-b" ? SlowerNs : 0;
      Records += kernelLine("_Z2avPf", 600000 + Slower) + kernelLine("init", 400000);
      if (auto Path = R.Env.find(probe::PlanVariable); Path != R.Env.end()) {
        Plans[Gpu] = valueOf(readFile(Path->second));
        Records += Faults ? Faults(Gpu) : "";
        for (const char *Kernel : {"_Z2avPf", "init"})
          if (plans(Gpu, Kernel))
            Records += replayed(Kernel);
      }
      if (Twist)
        Twist(Gpu, Result);
      return Records + "end\n";
    };
  }
  ~TuneGpusTest() override { ::unsetenv("STUB_NVML"); }

  /// Whether the last plan on \p Gpu times \p Kernel.
  bool plans(const std::string &Gpu, const std::string &Kernel) {
    return Plans[Gpu].find("kernel\t" + Kernel + "\t") != std::string::npos;
  }

  /// Runs the stages up to the first timing run.
  InRunTuning timed(TuneState &State) {
    EXPECT_EQ(messageOf(chooseTunedGpus(State)), "");
    ProbeRecord Trace = valueOf(traceProgram(State));
    shareOut(State, Job);
    return valueOf(timeInside(State, Job, Built, chooseTiming(State, Job, Built, Trace)));
  }

  static constexpr char Visible[] = "CUDA_VISIBLE_DEVICES";
  TempDir Dir;
  TuneRequest Request;
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  ProbedProgram Runner;
  RecordedProgress Progress;
  uint64_t SlowerNs = 0;   ///< By how much a launch takes longer on GPU-b.
  std::string MoreRecords; ///< Records of every run.
  bool DropHead = false;
  std::function<void(const std::string &Gpu, CommandResult &)> Twist;
  std::function<std::string(const std::string &Gpu)> Faults; ///< Of runs with a plan.
  std::map<std::string, std::string> Plans; ///< The last plan, by what the program sees.
  std::set<std::string> Seen;               ///< What the program saw; empty for everything.
};

using Names = std::set<std::string>;

} // namespace

TEST_F(TuneGpusTest, gpus_notAskedFor_changeNothing) {
  Request.OnGpus = {};
  TuneState State(Request, Runner);
  timed(State);
  EXPECT_EQ(Seen, Names{""});
  EXPECT_EQ(Runner.Runs.size(), 2u);
  EXPECT_TRUE(State.Several.empty());
  EXPECT_TRUE(plans("", "_Z2avPf") && plans("", "init"));
}

TEST_F(TuneGpusTest, timing_twoGpus_timesEachKernelOnOneOfThem) {
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  EXPECT_EQ(Seen, (Names{"GPU-a,GPU-b", "GPU-a", "GPU-b"})) << "the first sees all in the trace";
  EXPECT_TRUE(plans("GPU-a", "_Z2avPf") && plans("GPU-b", "init"));
  EXPECT_FALSE(plans("GPU-b", "_Z2avPf") || plans("GPU-a", "init"));
  for (const InRunOutcome &O : T.Outcomes)
    EXPECT_EQ(O.Nominee, 2u) << O.Reason;
  EXPECT_EQ(State.Runs, 4u);
  EXPECT_TRUE(Progress.Notes.empty());
}

TEST_F(TuneGpusTest, kernels_inLaterRounds_stayOnTheirGpu) {
  TuneState State(Request, Runner);
  timed(State);
  Plans.clear();
  ProbeRecord Trace = valueOf(State.Samples.trace("samples"));
  valueOf(timeInside(State, Job, Built, chooseTiming(State, Job, Built, Trace)));
  EXPECT_TRUE(plans("GPU-a", "_Z2avPf") && plans("GPU-b", "init"));
  EXPECT_FALSE(plans("GPU-b", "_Z2avPf") || plans("GPU-a", "init"));
}

TEST_F(TuneGpusTest, round_twoGpus_givesEachKernelTheTimeOfItsGpu) {
  TuneState One(Request, Runner), Two(Request, Runner);
  EXPECT_EQ(messageOf(chooseTunedGpus(Two)), "");
  ProbeRecord Trace = valueOf(traceProgram(One));
  One.PlainWallS = Two.PlainWallS = 0.5;
  One.BudgetS = Two.BudgetS = 12;
  shareOut(One, Job);
  shareOut(Two, Job);
  RoundLimits Alone = limitsOfRound(One, Job, Built, Trace);
  RoundLimits Shared = limitsOfRound(Two, Job, Built, Trace);
  EXPECT_GT(Shared.Timable[1], Alone.Timable[1]);
  EXPECT_GE(Shared.Timable[0], Alone.Timable[0]);
}

/// Later, what a late front end costs would be the confirmation's time.
TEST_F(TuneGpusTest, lateFrontEnds_areAwaitedInTheFirstRoundAlone) {
  Request.OnGpus = {};
  TuneState State(Request, Runner);
  ProbeRecord Trace = valueOf(traceProgram(State));
  State.PlainWallS = 2;
  State.BudgetS = 20;
  EXPECT_DOUBLE_EQ(limitsOfRound(State, Job, Built, Trace).PatienceS, 0.4 * 2);
  ++State.Runs;
  EXPECT_EQ(limitsOfRound(State, Job, Built, Trace).PatienceS, 0);
}

TEST_F(TuneGpusTest, confirmation_usesTheFirstGpu) {
  // Only the kernel that GPU-a times has variants, because the recorded image has clones for one.
  Built = sampleBuild(Job);
  Built.Modules[0].Cubin = recordedPtx("kernels.sm_90.cuda-13.0.88.cubin");
  Built.Kernels[0].Variants[1].CloneName = "_Z9recursivePi";
  Built.Kernels[0].Variants[2].CloneName = "x_Z2avPf";
  Built.Kernels[0].Variants[3].CloneName = "_Z5bulkyPdi";
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  Seen.clear();
  valueOf(selectByRuns(State, Job, Built, &T));
  EXPECT_EQ(Seen, Names{"GPU-a"});
}

TEST_F(TuneGpusTest, gpu_slowerByMoreThanTwoPerCent_isNamedAndLeftOut) {
  SlowerNs = 21000;
  TuneState State(Request, Runner);
  timed(State);
  ASSERT_EQ(State.Several.size(), 1u);
  EXPECT_EQ(State.Several[0].Gpu.Uuid, "GPU-a");
  ASSERT_EQ(State.LeftGpus.size(), 1u);
  EXPECT_EQ(State.LeftGpus[0].Gpu, "GPU 1");
  EXPECT_EQ(State.LeftGpus[0].Why, "it is slow: the same launches took 1.021 of the other GPUs' "
                                   "time, expected at most 1.02");
  EXPECT_EQ(Progress.Notes.size(), 1u);
  EXPECT_TRUE(plans("GPU-a", "_Z2avPf") && plans("GPU-a", "init"));
}

TEST_F(TuneGpusTest, gpu_slowerByLess_takesPart) {
  SlowerNs = 19000;
  TuneState State(Request, Runner);
  timed(State);
  EXPECT_EQ(State.Several.size(), 2u);
}

TEST_F(TuneGpusTest, program_usesSeveralGpus_isTunedAsWithoutTheOption) {
  MoreRecords = "hazard\tgpus\t-\n";
  TuneState State(Request, Runner);
  timed(State);
  EXPECT_TRUE(State.Several.empty());
  EXPECT_EQ(State.GpuNote, "the program uses several GPUs itself, so it was tuned as without "
                           "--gpus");
  EXPECT_EQ(Runner.Runs.back().Env.count(Visible), 0u);
  EXPECT_EQ(State.Runs, 3u) << "it was traced again, undisturbed";
}

TEST_F(TuneGpusTest, program_choosesAnotherGpuItself_isTunedOnOneGpu) {
  MoreRecords = llvm::StringRef(ProbeHead).split('\n').second.str();
  MoreRecords.replace(MoreRecords.find("GPU-1"), 5, "GPU-b");
  DropHead = true;
  TuneState State(Request, Runner);
  timed(State);
  ASSERT_EQ(State.Several.size(), 1u);
  EXPECT_EQ(State.GpuNote,
            "only GPU 0 is used: if the program sees several GPUs, it chooses GPU 1");
}

TEST_F(TuneGpusTest, output_thatNamesHowManyGpusThereAre_isNotCompared) {
  Twist = [](const std::string &Gpu, CommandResult &Result) {
    Result.Stdout = llvm::StringRef(Gpu).contains(',') ? "GPU\nGPU\nsum 1\n" : "GPU\nsum 1\n";
  };
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  EXPECT_FALSE(T.Run.Difference);
  EXPECT_EQ(State.Check.reference().unstableLines(), 0u) << "the later runs are compared";
  EXPECT_EQ(State.Check.runs(), 0u);
}

TEST_F(TuneGpusTest, program_failsBesideOthers_isTunedOnOneGpu) {
  Twist = [](const std::string &Gpu, CommandResult &Result) {
    Result.ExitStatus = Gpu == "GPU-b" ? 3 : 0;
  };
  TuneState State(Request, Runner);
  timed(State);
  ASSERT_EQ(State.Several.size(), 1u);
  EXPECT_EQ(State.GpuNote, "only GPU 0 is used: of the runs that were made at once, the one on GPU "
                           "1 failed: the program ended with exit status 3");
}

TEST_F(TuneGpusTest, timingRun_failsOnOneGpu_countsOnTheOther) {
  Twist = [this](const std::string &Gpu, CommandResult &Result) {
    if (Gpu == "GPU-b" && !Plans[Gpu].empty())
      Result.TimedOut = true;
  };
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  EXPECT_EQ(T.Outcomes[0].Nominee, 2u) << T.Outcomes[0].Reason;
  EXPECT_EQ(T.Outcomes[1].Verdict, InRunVerdict::Undecided);
  EXPECT_EQ(T.Outcomes[1].Reason, "the timing run took too long");
}

TEST_F(TuneGpusTest, variant_withAFaultOnOneGpu_isTimedAgainThereOnly) {
  bool Faulty = true;
  Faults = [&Faulty](const std::string &Gpu) {
    return Gpu == "GPU-b" && std::exchange(Faulty, false) ? "fault\tinit\tr64\tran for 10 s\n" : "";
  };
  TuneState State(Request, Runner);
  InRunTuning T = timed(State);
  EXPECT_EQ(State.Runs, 5u) << "two traces, a run on GPU-a, and two on GPU-b";
  EXPECT_NE(Plans["GPU-b"].find("exclude\tinit\tr64\n"), std::string::npos) << Plans["GPU-b"];
  EXPECT_EQ(T.Outcomes[0].Nominee, 2u) << T.Outcomes[0].Reason;
  EXPECT_EQ(T.Outcomes[1].Nominee, 2u) << T.Outcomes[1].Reason;
  EXPECT_TRUE(T.Outcomes[0].Rejected.empty());
  EXPECT_EQ(T.Outcomes[1].Rejected.at(0).Why, "ran for 10 s");
  EXPECT_EQ(Progress.Notes.size(), 1u);
}

TEST_F(TuneGpusTest, gpu_busy_takesNoPart) {
  ::setenv("STUB_NVML", "GPU-a=4000001 4000001:50", 1);
  TuneState State(Request, Runner);
  timed(State);
  ASSERT_EQ(State.Several.size(), 1u);
  EXPECT_EQ(Seen, Names{"GPU-b"});
  EXPECT_EQ(State.LeftGpus,
            (std::vector<LeftGpu>{{"GPU 0", "it is busy: pid 4000001 (50 % busy)"}}));
}

TEST_F(TuneGpusTest, gpu_oneNumber_isTheOnlyOneThatTheProgramSees) {
  Request.OnGpus = {false, {1}};
  Request.Workload.OutputFiles = {"out.txt"};
  TuneState State(Request, Runner);
  timed(State);
  EXPECT_EQ(Seen, Names{"GPU-b"});
  EXPECT_EQ(State.Runs, 2u);
}

TEST_F(TuneGpusTest, wholeRuns_only_useOneGpu) {
  Request.Mode = ModeRequest::Fixed;
  TuneState State(Request, Runner);
  EXPECT_EQ(messageOf(chooseTunedGpus(State)), "");
  EXPECT_EQ(State.Several.size(), 1u);
  EXPECT_EQ(State.GpuNote, "only GPU 0 is used: whole runs time the variants");
}

TEST_F(TuneGpusTest, signal_inOneOfTheRuns_endsTheTuning) {
  Twist = [](const std::string &Gpu, CommandResult &Result) {
    Result.Interrupted = Gpu == "GPU-b" ? 2 : 0;
  };
  TuneState State(Request, Runner);
  EXPECT_EQ(messageOf(chooseTunedGpus(State)), "");
  EXPECT_EQ(messageOf(traceProgram(State)), "interrupted: 2");
}

TEST_F(TuneGpusTest, request_thatCannotBeCarriedOut_fails) {
  Request.Workload.OutputFiles = {"out.txt"};
  TuneState WithOutput(Request, Runner);
  EXPECT_EQ(
      messageOf(chooseTunedGpus(WithOutput)),
      "--gpus with several GPUs and --output exclude each other: runs at once would all write "
      "out.txt; expected --gpus with one number");
  Request.Workload.OutputFiles.clear();
  Request.SamplesPath = "samples.json";
  TuneState WithSamples(Request, Runner);
  EXPECT_EQ(messageOf(chooseTunedGpus(WithSamples)),
            "--gpus and --samples exclude each other: recorded samples use no GPU");
}

TEST(CommonNs, launches_thatOneRunLacks_doNotCount) {
  std::vector<RunRecord> Runs(2);
  Runs[0].Probe.Kernels = {launches("a", 256, 1000), launches("b", 256, 500),
                           launches("c", 256, 70)};
  Runs[1].Probe.Kernels = {launches("a", 256, 1100), launches("b", 128, 500),
                           launches("c", 256, 90)};
  Runs[1].Probe.Kernels[2].Launches = 11;
  EXPECT_EQ(commonNs(Runs), (std::vector<double>{1000, 1100}));
  EXPECT_TRUE(commonNs({}).empty());
}
