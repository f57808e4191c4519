#include "Tune/InRun/ModeChoice.h"

#include "Tune/InRun/RoundBudget.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

/// A kernel `k` with ten variants, and what is known of it and its program.
struct Case {
  TracedKernel Kernel;
  KernelHazards Hazards;
  ProbeRecord Trace;
  size_t Variants = 10;
  bool DeviceHeap = false;
  EarlierReplays Earlier;
  ModeLimits Limits;

  Case() { Kernel.Kernel = "k"; }
  /// Adds a shape with \p Blocks blocks.
  Case &launched(uint64_t Launches, double MeanNs, unsigned Blocks = 100) {
    KernelLaunches L = launches("k", 256, uint64_t(double(Launches) * MeanNs));
    L.Shape.Grid = {Blocks, 1, 1};
    L.Launches = Launches;
    Kernel.Shapes.push_back(L);
    Kernel.Launches += Launches;
    return *this;
  }
  ModeChoice choose() const {
    return chooseMode({Kernel, Hazards, Variants, Trace, DeviceHeap, Earlier}, Limits);
  }
};

Case longKernel() { return Case().launched(24, 3.2e6); }
Case shortKernel() { return Case().launched(12000, 4e3); }
Case onlyOnce() { return Case().launched(1, 3.2e6); }

void expectChoice(const Case &C, TimingMode Mode, const std::string &Reason) {
  ModeChoice Choice = C.choose();
  EXPECT_EQ(nameOf(Choice.Mode).str(), nameOf(Mode).str()) << Choice.Reason;
  EXPECT_EQ(Choice.Reason, Reason);
  EXPECT_EQ(Choice.Shapes.empty(), Mode == TimingMode::Fixed);
}

} // namespace

TEST(ModeChoice, mode_byDurationAndLaunches_isReplayOrVerifyRotate) {
  expectChoice(longKernel(), TimingMode::Replay, "24 launches of 3.2 ms");
  expectChoice(onlyOnce(), TimingMode::Replay, "1 launch of 3.2 ms");
  expectChoice(shortKernel(), TimingMode::VerifyRotate, "12000 launches of 4.0 us");
  // The launches are short, but too few to rotate.
  expectChoice(Case().launched(150, 4e3), TimingMode::Replay, "150 launches of 4.0 us");
  // There are many launches. Those that are alike are replayed only if they are long.
  expectChoice(Case().launched(1000, 90e3), TimingMode::VerifyRotate, "1000 launches of 90 us");
  Case Different = Case().launched(1000, 90e3);
  Different.Kernel.Typical = {{"k", Different.Kernel.Shapes[0].Shape, 10, 500, 90'000}};
  expectChoice(Different, TimingMode::Replay, "1000 launches of 90 us");
  expectChoice(Case().launched(1000, 150e3), TimingMode::Replay, "1000 launches of 150 us");
}

TEST(ModeChoice, mode_replaysUnlikeTheProgram_isVerifyRotateIfLaunchedOften) {
  for (uint64_t Launches : {1000, 150}) {
    Case C = Case().launched(Launches, 150e3);
    C.Earlier.Unlike = true;
    EXPECT_EQ(C.choose().Mode, Launches == 1000 ? TimingMode::VerifyRotate : TimingMode::Replay);
    C.Limits.Request = ModeRequest::Replay;
    EXPECT_EQ(C.choose().Mode, TimingMode::Replay);
  }
}

/// Whole runs would take as long, and time fewer variants.
TEST(ModeChoice, mode_onlyWholeRunsWouldTimeIt_isReplayInTheirTime) {
  Case C = Case().launched(3, 300e6);
  C.Limits.ReplayS = 1;
  EXPECT_EQ(C.choose().Mode, TimingMode::Fixed);
  C.Limits.LongReplayS = 10;
  C.Kernel.Share = 0.9;
  C.Limits.WholeRunS = 1.2;
  EXPECT_EQ(C.choose().Mode, TimingMode::Replay);
  C.Kernel.Share = 0.3;
  EXPECT_EQ(C.choose().Mode, TimingMode::Fixed) << "whole runs also time the other kernels";
  C.Kernel.Share = 0.9;
  EXPECT_LE(C.choose().ReplayS, 10);
  EXPECT_GT(C.choose().ReplayS, double(C.Variants) * 0.3);
  C.Limits.Request = ModeRequest::Rotate;
  EXPECT_EQ(C.choose().Mode, TimingMode::Fixed);
}

TEST(ModeChoice, mode_noTimeToReplay_comparesBeforeItRotates) {
  Case C = Case().launched(1000, 1e6);
  C.Limits.ReplayS = shortestReplayS(C.Variants, 1e6) - 0.01;
  C.Limits.LongReplayS = 60;
  ModeChoice Compared = C.choose();
  EXPECT_EQ(Compared.Mode, TimingMode::VerifyRotate);
  EXPECT_TRUE(Compared.OnlyCompared);
  EXPECT_TRUE(llvm::StringRef(Compared.Reason).starts_with("a replay would take "))
      << Compared.Reason;
  C.Limits.ReplayS = comparisonS(C.Variants, 1e6) - 0.01;
  EXPECT_EQ(C.choose().Mode, TimingMode::Rotate);
}

TEST(ModeChoice, mode_earlierReplaysTookLonger_countsWhatTheyTook) {
  Case C = Case().launched(24, 3.2e6);
  C.Limits.ReplayS = shortestReplayS(C.Variants, 3.2e6);
  EXPECT_EQ(C.choose().Mode, TimingMode::Replay);
  C.Earlier.Costs.CompareNs = 80e6; // Hundreds of GB.
  EXPECT_EQ(C.choose().Mode, TimingMode::Fixed);
  C.Limits.ReplayS = shortestReplayS(C.Variants, 3.2e6, C.Earlier.Costs);
  EXPECT_EQ(C.choose().Mode, TimingMode::Replay);
}

TEST(ModeChoice, chooseModes_replaysUnlikeTheProgram_changeOneKernel) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  addVariant(Built.Kernels[1], 48);
  for (JobKernel &K : Job.Kernels)
    for (KernelLaunches &L : K.Traced.Shapes) {
      L.Launches = 3000;
      L.TotalNs = 300'000'000;
    }
  std::vector<ModeChoice> Choices =
      chooseModes(Job, Built, {}, {}, {},
                  {{1, {.Unlike = true, .StoodBack = false, .Timed = false, .Costs = {}}}});
  EXPECT_EQ(Choices[0].Mode, TimingMode::Replay);
  EXPECT_EQ(Choices[1].Mode, TimingMode::VerifyRotate);
}

/// A kernel whose launches have less and less to do, in four segments.
static Case segmentedCase(uint64_t Launches = 400, double MeanNs = 40e3) {
  Case C = Case().launched(Launches, MeanNs);
  const LaunchShape Shape = C.Kernel.Shapes[0].Shape;
  const uint64_t Quarter = Launches / 4;
  for (unsigned S = 0; S < 4; ++S)
    C.Kernel.Segments.push_back({"k", Shape, Quarter * S, Quarter,
                                 uint64_t(double(Quarter) * MeanNs), Quarter * S + Quarter / 2,
                                 uint64_t(MeanNs)});
  return C;
}

TEST(ModeChoice, segments_areReplayedIfThereIsTime) {
  Case C = segmentedCase();
  expectChoice(C, TimingMode::Replay, "400 launches of 40 us; 4 segments");
  EXPECT_EQ(C.choose().Shapes.size(), 4u);
  EXPECT_FALSE(C.choose().MayRotate) << "a segment has few launches";
  C.Limits.ReplayS = 3 * shortestReplayS(C.Variants, 40e3);
  expectChoice(C, TimingMode::Replay, "400 launches of 40 us");
  EXPECT_TRUE(C.choose().MayRotate);
}

TEST(ModeChoice, segments_replayIsUnlikeTheProgram_isNotRotated) {
  Case C = segmentedCase(4000);
  C.Earlier.Unlike = true;
  expectChoice(C, TimingMode::Replay, "4000 launches of 40 us; 4 segments");
  C.Kernel.Segments.clear();
  EXPECT_EQ(C.choose().Mode, TimingMode::VerifyRotate);
}

/// The kernels of a job are chosen for twice: first each with as little as it needs.
TEST(ModeChoice, chooseModes_segments_haveWhatTimeIsLeft) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  addVariant(Built.Kernels[1], 48);
  Job.Kernels[1].Traced = segmentedCase(4000).Kernel;
  for (bool Unlike : {false, true}) {
    std::vector<ModeChoice> Choices =
        chooseModes(Job, Built, {}, {}, {},
                    {{1, {.Unlike = Unlike, .StoodBack = false, .Timed = false, .Costs = {}}}});
    EXPECT_EQ(Choices[1].Mode, TimingMode::Replay);
    EXPECT_EQ(Choices[1].Shapes.size(), 4u);
  }
  ModeLimits Limits;
  Limits.ReplayS = chooseModes(Job, Built, {}, {})[0].ReplayS +
                   2 * shortestReplayS(Built.Kernels[1].timedTogether(), 40e3);
  std::vector<ModeChoice> Choices = chooseModes(Job, Built, {}, Limits);
  EXPECT_EQ(Choices[0].Mode, TimingMode::Replay);
  EXPECT_EQ(Choices[1].Mode, TimingMode::Replay);
  EXPECT_EQ(Choices[1].Shapes.size(), 1u) << "there is time for one replay of it";
}

TEST(ModeChoice, segments_cannotBeReplayed_areRotatedAsAWhole) {
  Case C = segmentedCase(4000);
  C.Earlier.StoodBack = true;
  EXPECT_EQ(C.choose().Shapes.size(), 1u);
  EXPECT_TRUE(C.choose().MayRotate) << "the probe rotates what it cannot replay";
  C.Hazards.Printf = true;
  EXPECT_EQ(C.choose().Mode, TimingMode::Rotate);
  EXPECT_EQ(C.choose().Shapes.size(), 1u);
}

TEST(ModeChoice, dividedShape_isTimedByItsClasses) {
  Case C = Case().launched(600, 150e3);
  const LaunchShape &Shape = C.Kernel.Shapes[0].Shape;
  C.Kernel.Classes = {{"k", Shape, 7, 300, 72'000'000}, {"k", Shape, 8, 300, 18'000'000}};
  expectChoice(C, TimingMode::Replay, "600 launches of 150 us; 2 classes by arguments");
  ModeChoice Choice = C.choose();
  ASSERT_EQ(Choice.Shapes.size(), 2u);
  EXPECT_EQ(Choice.Shapes[0].MeanNs, 240e3);
  EXPECT_EQ(Choice.Shapes[1].MeanNs, 60e3);
  C.Kernel.Classes[1].TotalNs = C.Kernel.Classes[0].TotalNs = 45'000'000;
  expectChoice(C, TimingMode::Replay, "600 launches of 150 us");
}

TEST(ModeChoice, mayRotate_manyLaunches_isSet) {
  EXPECT_FALSE(longKernel().choose().MayRotate);
  EXPECT_FALSE(Case().launched(79, 1e6).choose().MayRotate);
  EXPECT_TRUE(Case().launched(80, 1e6).choose().MayRotate);
  EXPECT_TRUE(shortKernel().choose().MayRotate);
  // Only the shapes that make up its time count.
  EXPECT_TRUE(Case().launched(80, 9e6).launched(1, 90e6, 5).choose().MayRotate);
  EXPECT_FALSE(Case().launched(80, 1e6).launched(1, 90e6, 5).choose().MayRotate);
}

TEST(ModeChoice, mode_onlyWholeRunsCanDecide_isFixed) {
  Case C = shortKernel();
  C.Trace.GraphLaunches = {{"other", 3}};
  C.Trace.StayingGraphs = {{"other", GraphStay::Conditional}, {"-", GraphStay::Unread}};
  C.Trace.Queried = {"k", "other"};
  C.Trace.SizedByOccupancy = {"other"};
  C.Trace.Programmatic = {"other"};
  EXPECT_EQ(C.choose().Mode, TimingMode::VerifyRotate);
  C.Trace.Queried = C.Trace.SizedByOccupancy = {"k"};
  expectChoice(C, TimingMode::Fixed, "the program asks for its occupancy");
  C.Trace.GraphLaunches = {{"k", 1}};
  expectChoice(C, TimingMode::Fixed,
               "launched from graphs with nodes that the driver does not tell");
  C.Trace.StayingGraphs["k"] = GraphStay::PageableCopy;
  expectChoice(C, TimingMode::Fixed, "launched from graphs with copies of pageable memory");
  C.Variants = 2;
  expectChoice(C, TimingMode::Fixed, "no variant of its own");
}

TEST(ModeChoice, mode_kernelThatOverlaps_isReplayOrFixed) {
  const std::string Overlaps = "overlaps with its neighbours by programmatic launches";
  Case C = shortKernel();
  // The kernel can overlap, and the program launches kernels so that they overlap.
  C.Hazards.Programmatic = true;
  EXPECT_EQ(C.choose().Mode, TimingMode::VerifyRotate);
  C.Trace.Programmatic = {"other"};
  expectChoice(C, TimingMode::Replay, "12000 launches of 4.0 us; " + Overlaps);
  EXPECT_FALSE(C.choose().MayRotate);
  C.Trace.Programmatic = {"k"};
  C.Hazards.Programmatic = false;
  expectChoice(C, TimingMode::Replay, "12000 launches of 4.0 us; " + Overlaps);
  // It is the same in a graph whose nodes are launched one by one.
  C.Trace.GraphLaunches = {{"k", 3}};
  expectChoice(C, TimingMode::Replay, "12000 launches of 4.0 us; " + Overlaps);
  // What keeps a kernel from being replayed leaves it to whole runs.
  C.Trace.StayingGraphs = {{"k", GraphStay::MemoryNode}};
  expectChoice(C, TimingMode::Fixed,
               "launched from graphs with nodes that allocate or free memory, and " + Overlaps);
  C.Trace.StayingGraphs.clear();
  C.Hazards.Printf = true;
  expectChoice(C, TimingMode::Fixed, "device printf, and " + Overlaps);
  C.Hazards.Printf = false;
  C.Limits.Request = ModeRequest::Rotate;
  expectChoice(C, TimingMode::Fixed, Overlaps);
}

TEST(ModeChoice, outputs_kernelThatIsOnlyRotatedOrFixed_areNotCompared) {
  Case C = shortKernel();
  auto Compared = [&] {
    return mayCompareOutputs({C.Kernel, C.Hazards, 0, C.Trace, C.DeviceHeap}, C.Limits);
  };
  EXPECT_TRUE(Compared());
  for (auto [Request, May] : {std::pair{ModeRequest::Replay, true},
                              {ModeRequest::Rotate, false},
                              {ModeRequest::Fixed, false}}) {
    C.Limits.Request = Request;
    EXPECT_EQ(Compared(), May);
  }
  C.Limits.Request = ModeRequest::Auto;
  C.Hazards.Printf = true;
  EXPECT_FALSE(Compared());
  C.Hazards.Printf = false;
  C.Trace.GraphLaunches = {{"k", 3}};
  EXPECT_TRUE(Compared());
  C.Trace.StayingGraphs = {{"k", GraphStay::MemoryNode}};
  EXPECT_FALSE(Compared());
  C.Trace.StayingGraphs = {{"k", GraphStay::Conditional}};
  EXPECT_FALSE(Compared());
}

TEST(ModeChoice, mode_graphsThatAreLaunchedNodeByNode_isThatOfPlainLaunches) {
  Case C = shortKernel();
  C.Trace.GraphLaunches = {{"k", 3}, {"other", 3}};
  EXPECT_EQ(C.choose().Mode, TimingMode::VerifyRotate);
  C.Trace.StayingGraphs = {{"other", GraphStay::Conditional}};
  EXPECT_EQ(C.choose().Mode, TimingMode::VerifyRotate);
}

TEST(ModeChoice, mode_graphsWhoseKernelsCanBeExchanged_isRotate) {
  Case C = shortKernel();
  C.Trace.GraphLaunches = {{"k", 3}};
  for (GraphStay Why : {GraphStay::MemoryNode, GraphStay::Semaphore, GraphStay::MemoryOperation,
                        GraphStay::PageableCopy}) {
    C.Trace.StayingGraphs = {{"k", Why}};
    EXPECT_EQ(C.choose().Mode, TimingMode::Rotate);
  }
  C.Trace.StayingGraphs = {{"k", GraphStay::MemoryNode}};
  expectChoice(C, TimingMode::Rotate,
               "launched from graphs with nodes that allocate or free memory: rotated, by "
               "exchanging the kernels of their nodes");
  // A graph with kernels that are not known may have it, too.
  C.Trace.StayingGraphs["-"] = GraphStay::MemoryNode;
  EXPECT_EQ(C.choose().Mode, TimingMode::Fixed);
  for (GraphStay Why : {GraphStay::Conditional, GraphStay::DeviceLaunch, GraphStay::DeviceUpdate,
                        GraphStay::Programmatic, GraphStay::OtherContext, GraphStay::UnknownNode,
                        GraphStay::UnknownUpdate, GraphStay::Unread}) {
    C.Trace.StayingGraphs = {{"k", Why}};
    EXPECT_EQ(C.choose().Mode, TimingMode::Fixed);
  }
}

TEST(ModeChoice, mode_kernelHazard_isRotate) {
  const std::pair<bool KernelHazards::*, const char *> Hazards[] = {
      {&KernelHazards::Printf, "device printf: rotated, so that each line is printed once"},
      {&KernelHazards::DeviceHeap,
       "allocates on the device: rotated, as that heap cannot be saved"},
      {&KernelHazards::DeviceLaunch,
       "launches from the device: rotated, so that each launch happens once"},
      {&KernelHazards::SurfaceWrites, "writes surfaces: rotated, as arrays cannot be saved"},
      {&KernelHazards::Multimem,
       "reduces over several GPUs: rotated, as their memory cannot be restored"},
      {&KernelHazards::SystemScope, "shares memory with the host or other GPUs: rotated, as they "
                                    "may see each run of it"},
      {&KernelHazards::ManagedVariable,
       "uses a managed variable: rotated, as the host may touch it"},
  };
  for (auto [Member, Reason] : Hazards) {
    Case C = Case().launched(80, 1e6);
    C.Hazards.*Member = true;
    expectChoice(C, TimingMode::Rotate, Reason);
    Case Few = longKernel();
    Few.Hazards.*Member = true;
    std::string What = llvm::StringRef(Reason).split(':').first.str();
    expectChoice(Few, TimingMode::Fixed, What + ", and too few launches to rotate (24)");
  }
  Case C = shortKernel();
  C.Hazards.External = {"solve"};
  expectChoice(C, TimingMode::Rotate,
               "calls solve, whose code is not known: rotated, as it may do anything");
}

TEST(ModeChoice, mode_programHazard_isRotate) {
  const std::pair<HazardKind, const char *> Hazards[] = {
      {HazardKind::Ipc,
       "the program shares memory with other processes: rotated, as they may see each run "
       "of it"},
      {HazardKind::Peer,
       "the program's GPUs use each other's memory: rotated, as another one may see each "
       "run of it"},
      {HazardKind::Gpus,
       "a process uses several GPUs: rotated, as copies between them may be under way"},
  };
  for (auto [Kind, Reason] : Hazards) {
    Case C = shortKernel();
    C.Trace.Hazards[Kind] = {"cuCall"};
    expectChoice(C, TimingMode::Rotate, Reason);
  }
  // For these, the probe decides by the memory that a launch can reach.
  for (HazardKind Kind :
       {HazardKind::Managed, HazardKind::HostMapped, HazardKind::Capture, HazardKind::Array}) {
    Case C = longKernel();
    C.Trace.Hazards[Kind] = {"cuCall"};
    expectChoice(C, TimingMode::Replay, "24 launches of 3.2 ms");
  }
  Case C = shortKernel();
  C.DeviceHeap = true;
  expectChoice(C, TimingMode::Rotate,
               "another kernel allocates on the device: rotated, as that heap cannot be saved");
  // Two processes have a GPU each.
  Case Gpus = longKernel();
  Gpus.Trace.Devices.resize(2);
  EXPECT_EQ(Gpus.choose().Mode, TimingMode::Replay);
}

TEST(ModeChoice, mode_harmlessHazards_isReplay) {
  Case C = longKernel();
  C.Hazards.Asserts = true;
  C.Kernel.Shapes[0].Cooperative = true;
  C.Kernel.Shapes[0].Shape.Cluster = {2, 1, 1};
  expectChoice(C, TimingMode::Replay, "24 launches of 3.2 ms");
  C.Hazards.SpinWait = true;
  expectChoice(C, TimingMode::Replay, "24 launches of 3.2 ms; waits in a loop");
}

TEST(ModeChoice, mode_userRequest_isFollowedIfPossible) {
  Case C = shortKernel();
  C.Limits.Request = ModeRequest::Fixed;
  expectChoice(C, TimingMode::Fixed, "--mode=fixed");
  C.Limits.Request = ModeRequest::Rotate;
  expectChoice(C, TimingMode::Rotate, "--mode=rotate");
  C.Limits.Request = ModeRequest::Replay;
  expectChoice(C, TimingMode::Replay, "12000 launches of 4.0 us");
  EXPECT_FALSE(C.choose().MayRotate);
  C.Hazards.Printf = true;
  expectChoice(C, TimingMode::Fixed, "device printf");
  C = longKernel();
  C.Limits.Request = ModeRequest::Rotate;
  expectChoice(C, TimingMode::Fixed, "too few launches to rotate (24)");
  C = shortKernel();
  C.Trace.Queried = C.Trace.SizedByOccupancy = {"k"};
  C.Limits.Request = ModeRequest::Rotate; // The request does not change that.
  expectChoice(C, TimingMode::Fixed, "the program asks for its occupancy");
}

TEST(ModeChoice, mode_replayTakesTooLong_isRotateOrFixed) {
  // 14 runs are compared, which is also the first round of the 10 variants. They run twice more,
  // and four of them five more times. Of such long launches no warm times are taken.
  Case C = Case().launched(3, 10e6);
  C.Limits.ReplayS = 0.5;
  expectChoice(C, TimingMode::Fixed,
               "a replay would take 622 ms, and too few launches to rotate (3)");
  C.Limits.ReplayS = 0.73;
  EXPECT_EQ(C.choose().Mode, TimingMode::Replay);
  EXPECT_NEAR(C.choose().ReplayS, 0.622, 0.001);
  C = Case().launched(80, 10e6);
  C.Limits.ReplayS = 0.1;
  expectChoice(C, TimingMode::Rotate, "a replay would take 622 ms: rotated, as 100 ms are left");
  C = shortKernel();
  C.Limits.ReplayS = 0;
  EXPECT_EQ(C.choose().Mode, TimingMode::Rotate);
}

/// Rotated variants compute the program's results, and may cost a run to check them.
TEST(ModeChoice, mode_replayTakesLittleTooLong_isReplay) {
  Case C = Case().launched(80, 10e6);
  C.Limits.ReplayS = 0.6;
  expectChoice(C, TimingMode::VerifyRotate,
               "a replay would take 622 ms: rotated, as 600 ms are left");
  C.Limits.BeyondS = 0.02;
  EXPECT_EQ(C.choose().Mode, TimingMode::VerifyRotate);
  C.Limits.BeyondS = 0.03;
  expectChoice(C, TimingMode::Replay, "80 launches of 10 ms");
  C.Kernel.Launches = C.Kernel.Shapes[0].Launches = 3;
  EXPECT_EQ(C.choose().Mode, TimingMode::Fixed) << "it would not be rotated";
}

TEST(ModeChoice, mode_replayedBefore_isNotRotatedForWantOfTime) {
  Case C = Case().launched(80, 10e6);
  C.Limits.ReplayS = 0.1;
  C.Limits.BeyondS = 1;
  C.Earlier.Timed = true;
  expectChoice(C, TimingMode::Fixed,
               "a replay would take 622 ms: not timed once more, as 100 ms are left");
  EXPECT_EQ(
      timableVariants({C.Kernel, C.Hazards, 0, C.Trace, C.DeviceHeap, C.Earlier}, C.Limits, 400),
      0u);
  C = shortKernel();
  C.Earlier.Timed = true;
  C.Limits.ReplayS = 0;
  EXPECT_EQ(C.choose().Mode, TimingMode::Rotate) << "it is rotated in any case";
}

TEST(ModeChoice, chooseModes_timeBeyondTheReplays_isUsedOnce) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  addVariant(Built.Kernels[1], 48);
  for (JobKernel &K : Job.Kernels)
    for (KernelLaunches &L : K.Traced.Shapes) {
      L.Launches = 100;
      L.TotalNs = 1'000'000'000;
    }
  ModeLimits Limits;
  std::vector<ModeChoice> Choices = chooseModes(Job, Built, {}, Limits);
  ASSERT_EQ(Choices[0].Mode, TimingMode::Replay);
  ASSERT_EQ(Choices[1].Mode, TimingMode::Replay);
  const double Second = Choices[1].ReplayS;
  Limits.ReplayS = Choices[0].ReplayS - 0.01;
  Limits.BeyondS = 0.011;
  Choices = chooseModes(Job, Built, {}, Limits);
  EXPECT_EQ(Choices[0].Mode, TimingMode::Replay) << "it takes 10 ms of these";
  EXPECT_EQ(Choices[1].Mode, TimingMode::Rotate) << "1 ms is left";
  Limits.BeyondS = 0.011 + Second;
  EXPECT_EQ(chooseModes(Job, Built, {}, Limits)[1].Mode, TimingMode::Replay);
}

TEST(ModeChoice, timable_littleTime_asManyAsCanBeCompared) {
  auto Timable = [](const Case &C) {
    return timableVariants({C.Kernel, C.Hazards, 0, C.Trace, C.DeviceHeap}, C.Limits, 400);
  };
  Case C = shortKernel();
  EXPECT_EQ(Timable(C), 400u);
  // Three variants, the default, the control and four more runs of the default, of 5 ms each.
  C.Limits.ReplayS = 0.05;
  EXPECT_EQ(Timable(C), 3u);
  C.Limits.ReplayS = 0;
  EXPECT_EQ(Timable(C), 400u) << "they are rotated, and not compared";
  C.Limits.ReplayS = 0.05;
  C.Hazards.Printf = true;
  EXPECT_EQ(Timable(C), 400u) << "its outputs are never compared";
}

namespace {

/// A kernel whose launches all have another grid: 100 with \p Launches of 1 ms each.
Case manyGrids(uint64_t Launches) {
  Case C;
  for (unsigned I = 1; I <= 100; ++I)
    C.launched(Launches, 1e6, I);
  return C;
}

} // namespace

TEST(ModeChoice, mode_manyGrids_replaysRepresentatives) {
  Case C = manyGrids(1);
  expectChoice(C, TimingMode::Replay,
               "100 launches of 1.0 ms; 8 of 100 launch shapes, which stand for all");
  ModeChoice Choice = C.choose();
  EXPECT_EQ(Choice.Shapes.size(), 8u);
  EXPECT_FALSE(Choice.MayRotate);
  // Each representative is launched often enough to be rotated, too.
  EXPECT_TRUE(manyGrids(80).choose().MayRotate);
  EXPECT_FALSE(manyGrids(79).choose().MayRotate);
  C.launched(10, 1e6, 0);
  expectChoice(C, TimingMode::Replay,
               "110 launches of 1.0 ms; 8 of 100 launch shapes, which stand for 91 % of its time");
  C.Hazards.SpinWait = true;
  C.Limits.Request = ModeRequest::Replay;
  expectChoice(C, TimingMode::Replay,
               "110 launches of 1.0 ms; waits in a loop; 8 of 100 launch shapes, which stand for "
               "91 % of its time");
}

TEST(ModeChoice, mode_manyGridsAndLittleTime_hasFewerRepresentatives) {
  Case C = manyGrids(1);
  const double Each = C.choose().ReplayS / 8;
  for (size_t Count : {8, 4, 2}) {
    C.Limits.ReplayS = 1.01 * Each * double(Count);
    EXPECT_EQ(C.choose().Shapes.size(), Count);
    EXPECT_NEAR(C.choose().ReplayS, Each * double(Count), 1e-6);
    C.Limits.ReplayS = 0.99 * Each * double(Count);
    EXPECT_LT(C.choose().Shapes.size(), Count);
  }
  EXPECT_EQ(C.choose().Mode, TimingMode::Fixed);
  EXPECT_TRUE(llvm::StringRef(C.choose().Reason)
                  .ends_with(", and 100 launch shapes, of which the first 8 have 8 % of its time"))
      << C.choose().Reason;
}

/// Each shape has to be launched often itself, so representatives are not rotated.
TEST(ModeChoice, mode_manyGridsThatCannotBeReplayed_isFixed) {
  Case C = manyGrids(1000);
  C.Hazards.Printf = true;
  expectChoice(C, TimingMode::Fixed,
               "device printf, and 100 launch shapes, of which the first 8 have 8 % of its time");
  // Short launches are rotated if the shapes with most of the time are launched often.
  Case Short;
  for (unsigned I = 1; I <= 14; ++I)
    Short.launched(1000, 4e3, I);
  ModeChoice Choice = Short.choose();
  EXPECT_EQ(Choice.Mode, TimingMode::VerifyRotate);
  EXPECT_EQ(Choice.Shapes.size(), 8u);
  for (const TimedShape &S : Choice.Shapes)
    EXPECT_FALSE(S.isRepresentative());
}

TEST(ModeChoice, mode_tooManyShapes_isFixed) {
  expectChoice(Case().launched(5000, 1e6, 0), TimingMode::Fixed,
               "its launch shapes were not told apart");
  // No shape is like another one.
  Case C = manyGrids(100);
  for (KernelLaunches &L : C.Kernel.Shapes)
    L.Shape.DynamicSmemBytes = 16 * L.Shape.Grid[0];
  expectChoice(C, TimingMode::Fixed,
               "100 launch shapes, of which the first 8 have 8 % of its time");
  C.Limits.Request = ModeRequest::Replay;
  EXPECT_EQ(C.choose().Mode, TimingMode::Replay);
  C.Limits.Request = ModeRequest::Auto;
  for (KernelLaunches &L : C.Kernel.Shapes)
    L.Shape.DynamicSmemBytes /= 160; // There are eleven sizes, nearly all of ten grids.
  EXPECT_EQ(C.choose().Mode, TimingMode::Replay);
  for (KernelLaunches &L : C.Kernel.Shapes)
    L.Shape.DynamicSmemBytes = L.Shape.Grid[0] / 3;
  expectChoice(C, TimingMode::Fixed, "100 launch shapes, of which 8 stand for 24 % of its time");
}

TEST(ModeChoice, rotation_shapesWithTooFewCycles_areLeftOut) {
  Case C = Case().launched(80, 9e6).launched(1, 90e6, 5);
  C.Hazards.Printf = true;
  ModeChoice Choice = C.choose();
  ASSERT_EQ(Choice.Mode, TimingMode::Rotate);
  ASSERT_EQ(Choice.Shapes.size(), 1u);
  EXPECT_EQ(Choice.Shapes[0].Shape.Grid[0], 100u);
}

/// There are fewer representatives rather than too few variants, but not fewer than are needed.
TEST(ModeChoice, timable_manyGrids_enoughVariantsComeFirst) {
  Case C = manyGrids(1);
  auto SecondsFor = [&](size_t Count, size_t Variants) {
    return 1.001 * double(Count) * shortestReplayS(FirstPlace + Variants, 1e6);
  };
  auto Timable = [&](double Seconds) {
    C.Limits.ReplayS = Seconds;
    return timableVariants({C.Kernel, C.Hazards, 0, C.Trace, C.DeviceHeap}, C.Limits, 32);
  };
  EXPECT_EQ(Timable(SecondsFor(8, 32)), 32u);
  EXPECT_EQ(Timable(SecondsFor(8, 24)), 24u) << "four could have all 32";
  EXPECT_EQ(Timable(SecondsFor(8, 23)), 32u) << "with four";
  EXPECT_EQ(Timable(SecondsFor(2, 24)), 24u);
  EXPECT_EQ(Timable(SecondsFor(2, 13)), 13u) << "with two, as more do not fit";
}

TEST(ModeChoice, chooseModes_manyGrids_leaveTimeToTheKernelsAfterThem) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  addVariant(Built.Kernels[1], 48);
  Job.Kernels[0].Traced = manyGrids(1).Kernel;
  for (KernelLaunches &L : Job.Kernels[1].Traced.Shapes) {
    L.Launches = 3;
    L.TotalNs = 3'000'000;
  }
  auto Seconds = [&](size_t K) {
    return 1.001 * shortestReplayS(Built.Kernels[K].timedTogether(), 1e6);
  };
  for (size_t Count : {2, 4, 8}) {
    ModeLimits Limits;
    Limits.ReplayS = double(Count) * Seconds(0) + Seconds(1);
    std::vector<ModeChoice> Choices = chooseModes(Job, Built, {}, Limits);
    EXPECT_EQ(Choices[0].Shapes.size(), Count);
    EXPECT_EQ(Choices[1].Mode, TimingMode::Replay);
  }
}

TEST(ModeChoice, chooseModes_severalKernels_shareTheReplayTime) {
  TuningJob Job = sampleJob();
  JobBuild Built = sampleBuild(Job);
  addVariant(Built.Kernels[1], 48);
  for (JobKernel &K : Job.Kernels)
    for (KernelLaunches &L : K.Traced.Shapes) {
      L.Launches = 3;
      L.TotalNs = 9'000'000'000;
    }
  ModeLimits Limits;
  std::vector<ModeChoice> Alone = chooseModes(Job, Built, {}, Limits);
  ASSERT_EQ(Alone.size(), 2u);
  EXPECT_EQ(Alone[0].Mode, TimingMode::Replay);
  EXPECT_EQ(Alone[1].Mode, TimingMode::Fixed);
  Limits.ReplayS = 120;
  EXPECT_EQ(chooseModes(Job, Built, {}, Limits)[1].Mode, TimingMode::Replay);
}
