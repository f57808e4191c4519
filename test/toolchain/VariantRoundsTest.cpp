// The modules that timing runs leave to the whole runs after them.
#include "BuiltTools.h"
#include "RecordedJob.h"

#include "Cubin/Cubin.h"
#include "Search/KernelSearch.h"
#include "Tune/Variants/RoundCompile.h"
#include "Tune/Variants/VariantRounds.h"

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <set>
#include <thread>

using namespace carve;

using VariantRoundsTest = BuiltToolsTest;

namespace {

size_t countOf(const VariantSets &Sets) {
  size_t Count = 0;
  for (const std::vector<size_t> &Set : Sets)
    Count += Set.size();
  return Count;
}

/// Counts the commands that it runs.
class CountingRunner : public CommandRunner {
public:
  explicit CountingRunner(CommandRunner &Runner) : Runner(Runner) {}

  llvm::Expected<CommandResult> run(const Command &C) override {
    ++Count;
    return Runner.run(C);
  }

  std::atomic<size_t> Count = 0;

private:
  CommandRunner &Runner;
};

} // namespace

TEST_F(VariantRoundsTest, modulesHoldWhatWholeRunsNeed_areKeptIfTheyMay) {
  build({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"});
  RecordedJob Recorded(
      llvm::cantFail(readFile(CARVE_TEST_INPUTS "/samples/three.samples", FileLimit::None)),
      store(), Tools, Runner);
  const TuningJob &Job = Recorded.Job;
  ASSERT_EQ(Job.Modules.size(), 1u);
  ASSERT_GE(Job.Kernels.size(), 2u);
  JobBuild Built(Job);
  VariantRounds Rounds(Job, Recorded.Sources, Recorded.Context, Built);
  ASSERT_TRUE(Rounds.next({std::vector<size_t>(Job.Kernels.size(), 2), std::nullopt}));
  VariantSets All = Rounds.added();
  ASSERT_FALSE(All[0].empty());
  ASSERT_FALSE(All[1].empty());
  Rounds.select(All);
  Rounds.assemble();
  const std::string &Cubin = Built.Modules[0].Cubin, Whole = Cubin;
  ASSERT_NE(Whole, "");

  VariantSets One(All.size());
  One[0] = {All[0].front()};
  Rounds.settleOn(One, /*MayKeep=*/true);
  EXPECT_TRUE(Cubin == Whole) << "it holds the variant";
  EXPECT_EQ(Built.Kernels[0].timedTogether(), 3u) << "with the default and its copy";
  EXPECT_EQ(Built.Kernels[1].timedTogether(), 0u);

  Rounds.settleOn(One, /*MayKeep=*/false);
  EXPECT_LT(Cubin.size(), Whole.size()) << "the other clones are gone";
  const std::string Small = Cubin;
  Rounds.settleOn(All, /*MayKeep=*/true);
  EXPECT_NE(Cubin, Small) << "a variant of the second kernel was missing";

  // Marks alone do not tell what is in a module.
  Rounds.settleOn(One, /*MayKeep=*/false);
  Rounds.select(All);
  Rounds.settleOn(All, /*MayKeep=*/true);
  EXPECT_EQ(Cubin.size(), Whole.size());

  Rounds.settleOn(VariantSets(All.size()), /*MayKeep=*/true);
  EXPECT_EQ(Cubin, "") << "nothing of it is timed any more, so the program's own image stays";
}

/// Where a module has to be assembled and none has told how long one takes, what ptxas took for the
/// kernels says how much of what is compiled may come into the first.
TEST_F(VariantRoundsTest, firstModuleHasLittleTime_holdsFewAndTheOthersComeLater) {
  build({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"});
  RecordedJob Recorded(
      llvm::cantFail(readFile(CARVE_TEST_INPUTS "/samples/three.samples", FileLimit::None)),
      store(), Tools, Runner);
  Recorded.Options.Effort = DefaultEffort;
  const TuningJob &Job = Recorded.Job;
  // Nothing can join an image that is not there.
  for (ParsedModule &M : Recorded.Sources.Modules)
    M.Image.CubinDigest.clear();
  for (double Seconds : {1e-6, 1e6}) {
    JobBuild Built(Job);
    VariantRounds Rounds(Job, Recorded.Sources, Recorded.Context, Built);
    RoundLimits Limits{std::vector<size_t>(Job.Kernels.size(), 100), /*CompileS=*/1e3};
    Limits.Most = 12;
    Limits.FirstAssemblyS = Seconds;
    ASSERT_TRUE(Rounds.next(Limits));
    const size_t First = countOf(Rounds.added());
    EXPECT_EQ(First <= 4, Seconds < 1) << First;
    const VariantSets Before = Rounds.added();
    Limits.FirstAssemblyS = std::nullopt;
    Limits.Most = 100;
    ASSERT_TRUE(Rounds.next(Limits));
    EXPECT_GT(countOf(Rounds.added()), 4u);
    // A kernel that had no room has its first round now, with caps alone among its variants.
    for (size_t K = 0; K < Job.Kernels.size(); ++K)
      EXPECT_TRUE(
          !Before[K].empty() ||
          llvm::any_of(Rounds.added()[K],
                       [&](size_t V) {
                         const VariantSetting &Setting = Built.Kernels[K].Variants[V].Setting;
                         return Setting.Cap && Setting == VariantSetting{.Cap = Setting.Cap};
                       }))
          << K << " has only " << Rounds.added()[K].size();
  }
}

/// What was compiled to be looked at is not compiled once more to be timed.
TEST_F(VariantRoundsTest, compiledVariants_joinTheModuleWithoutPtxas) {
  build({"-O3", "-arch=sm_90", "--no-compress", "-maxrregcount=32", "-c", "three.cu", "-o",
         "three.o"});
  CountingRunner Counted(Runner);
  RecordedJob Recorded(
      llvm::cantFail(readFile(CARVE_TEST_INPUTS "/samples/three.samples", FileLimit::None)),
      store(), Tools, Counted);
  Recorded.Options.Effort = DefaultEffort;
  const TuningJob &Job = Recorded.Job;
  JobBuild Built(Job);
  VariantRounds Rounds(Job, Recorded.Sources, Recorded.Context, Built);
  RoundLimits Limits{std::vector<size_t>(Job.Kernels.size(), 100), /*CompileS=*/1e3};
  Limits.Most = 12;
  Limits.FirstAssemblyS = 1e-6; // No module is assembled, so none takes time.
  ASSERT_TRUE(Rounds.next(Limits));
  EXPECT_GT(countOf(Rounds.added()), 4u);
  const size_t Before = Counted.Count;
  std::map<std::string, JobVariant> Alone;
  unsigned SpilledByDefaults = 0;
  for (const KernelBuild &K : Built.Kernels) {
    for (const JobVariant &V : K.Variants)
      Alone[V.CloneName] = V;
    SpilledByDefaults += K.Variants[DefaultPlace].Resources.spillBytes();
  }
  EXPECT_GT(SpilledByDefaults, 0u);
  Rounds.select(Rounds.added());
  Rounds.assemble();
  EXPECT_EQ(Counted.Count, Before);
  std::set<std::string> Names;
  for (const CubinKernel &K : llvm::cantFail(parseCubin(Built.Modules[0].Cubin)).Kernels) {
    Names.insert(K.Resources.Name);
    if (auto V = Alone.find(K.Resources.Name); V != Alone.end()) {
      EXPECT_EQ(K.CodeDigest, V->second.CodeDigest) << V->first;
    }
  }
  for (const KernelBuild &K : Built.Kernels)
    for (const JobVariant &V : K.Variants)
      if (V.InModule) {
        EXPECT_TRUE(Names.count(V.CloneName)) << V.CloneName;
        EXPECT_EQ(Alone[V.CloneName].Resources.spillBytes(), V.Resources.spillBytes())
            << V.CloneName << ": what ptxas has reported stays known";
      }
}

/// The images of kernels that print may number the addresses of variables in another way than the
/// module does. What cannot join is left out, or the module is assembled.
TEST_F(VariantRoundsTest, kernelPrintsBesideVariables_allThatIsMarkedIsInTheModule) {
  std::string Text = read("three.cu");
  auto Replace = [&](llvm::StringRef From, llvm::StringRef To) {
    size_t At = Text.find(From);
    ASSERT_NE(At, std::string::npos) << From.str();
    Text.replace(At, From.size(), To);
  };
  Replace("template <int", "#include <cstdio>\n__device__ double W[8], V[8];\n\ntemplate <int");
  Replace("{ mix<24>(Y, X, N); }", "{ mix<24>(Y, X, N); if (N < 0) printf(\"%d\\n\", N); }");
  Replace("{ mix<32>(Y, X, N); }", "{ mix<32>(Y, X, N); Y[0] += W[N & 7] * V[N & 7]; }");
  write("three.cu", Text);
  build({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"});
  RecordedJob Recorded(
      llvm::cantFail(readFile(CARVE_TEST_INPUTS "/samples/three.samples", FileLimit::None)),
      store(), Tools, Runner);
  Recorded.Options.Effort = DefaultEffort;
  JobBuild Built(Recorded.Job);
  VariantRounds Rounds(Recorded.Job, Recorded.Sources, Recorded.Context, Built);
  RoundLimits Limits{std::vector<size_t>(Recorded.Job.Kernels.size(), 100), /*CompileS=*/1e3};
  Limits.Most = 24;
  ASSERT_TRUE(Rounds.next(Limits));
  Rounds.select(Rounds.added());
  Rounds.assemble();
  std::map<std::string, CubinKernel> InModule;
  for (CubinKernel &K : llvm::cantFail(parseCubin(Built.Modules[0].Cubin)).Kernels)
    InModule[K.Resources.Name] = K;
  size_t Marked = 0;
  for (const KernelBuild &K : Built.Kernels)
    for (const JobVariant &V : K.Variants)
      if (V.InModule) {
        ++Marked;
        ASSERT_TRUE(InModule.count(V.CloneName)) << V.CloneName;
        EXPECT_EQ(InModule[V.CloneName].CodeDigest, V.CodeDigest) << V.CloneName;
      }
  EXPECT_GT(Marked, 12u) << "most are there, by one way or the other";
}

/// PTX of another front end takes longer than there is time to compile, and is awaited for as long
/// as the patience lasts.
TEST_F(VariantRoundsTest, frontEndIsLate_isAwaitedWithPatience) {
  build({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"});
  RecordedJob Recorded(
      llvm::cantFail(readFile(CARVE_TEST_INPUTS "/samples/three.samples", FileLimit::None)),
      store(), Tools, Runner);
  std::promise<void> Asked, Allowed;
  std::shared_future<void> MayEnd = Allowed.get_future().share();
  Recorded.Context.FlavourPtx = [&](const Unit &, const UnitImage &, const FrontEndSetting &) {
    Asked.set_value();
    MayEnd.wait();
    return llvm::Expected<std::string>(Recorded.Sources.of(0).Ptx.text());
  };
  JobBuild Built(Recorded.Job);
  VariantCompiler Compiler(Recorded.Job, Recorded.Sources, Recorded.Context, Built);
  const std::vector<SettingRequest> Wanted = {{0, {.FrontEnd = FrontEndKnob::NewerLlvm}}};
  EXPECT_TRUE(compileInTime(Compiler, Wanted, /*LimitS=*/0.01, /*PatienceS=*/0).empty());
  Asked.get_future().wait();
  std::thread Late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    Allowed.set_value();
  });
  auto Made = compileInTime(Compiler, Wanted, 0.01, 300);
  Late.join();
  ASSERT_EQ(Made.size(), 1u);
  EXPECT_EQ(Made[0].second.Failure, "");
  EXPECT_NE(Made[0].second.CodeDigest, "");
}

/// A file that takes longer to assemble than the budget allows is left as it is.
TEST_F(VariantRoundsTest, noTimeIsLeft_nothingIsCompiledAndNothingFails) {
  build({"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"});
  auto NoneLeft = []() -> std::optional<double> { return 0.0; };
  DeadlineRunner InTime(Runner, NoneLeft);
  RecordedJob Recorded(
      llvm::cantFail(readFile(CARVE_TEST_INPUTS "/samples/three.samples", FileLimit::None)),
      store(), Tools, InTime, NoneLeft);
  const TuningJob &Job = Recorded.Job;
  ASSERT_GE(Job.Kernels.size(), 2u);
  for (const JobKernel &K : Job.Kernels) {
    EXPECT_EQ(K.Region.Default.RegsPerThread, K.Traced.Shapes.front().RegsPerThread);
    EXPECT_EQ(K.Region.rMin(), K.Region.rMax());
  }
  JobBuild Built(Job);
  VariantRounds Rounds(Job, Recorded.Sources, Recorded.Context, Built);
  (void)Rounds.next({std::vector<size_t>(Job.Kernels.size(), 2), std::nullopt});
  for (const std::vector<size_t> &Added : Rounds.added())
    EXPECT_TRUE(Added.empty());
}
