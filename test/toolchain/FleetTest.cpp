// A plan, its shards on two nodes, and the merge, without Slurm: the tests do what job.sh does. The
// recorded samples are those of TuneRecordedTest.
#include "BuiltTools.h"
#include "Captures/File/UnitBundle.h"
#include "Fleet/FleetPlan.h"
#include "Fleet/ShardResult.h"
#include "Store/DecisionFiles.h"
#include "Store/ProfileReader.h"
#include "Support/OwnFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace carve;

namespace {

class FleetTest : public BuiltToolsTest {
protected:
  const Words Object = {"-O3", "-arch=sm_90", "--no-compress", "-c", "three.cu", "-o", "three.o"};
  const Words Tuning = {"--mode=fixed", "--samples=" CARVE_TEST_INPUTS "/samples/three.samples"};

  CommandResult fleet(Words Arguments, Words Environment = {}) {
    Arguments.insert(Arguments.begin(), "fleet");
    return carve(std::move(Arguments), std::move(Environment));
  }
  /// Makes a plan with \p Rest after the options.
  void plan(Words Rest, Words More = {}) {
    Words Arguments = {"plan", "-o", "fleet"};
    llvm::append_range(Arguments, Tuning);
    llvm::append_range(Arguments, More);
    llvm::append_range(Arguments, Rest);
    CommandResult R = fleet(Arguments);
    ASSERT_TRUE(R.succeeded()) << R.Stderr;
  }
  /// Runs a shard as the node \p Node, whose own store must stay empty.
  CommandResult runShard(size_t Shard, const std::string &Node) {
    CommandResult R = fleet({"run", "fleet/shard-" + std::to_string(Shard)},
                            {"SLURMD_NODENAME=" + Node, "CARVE_STORE=" + path("of-the-node")});
    EXPECT_FALSE(llvm::sys::fs::exists(path("of-the-node")));
    return R;
  }
  /// The decisions of the store, as text without evidence.
  std::string choices() {
    std::string Text;
    for (const Unit &U : store().units())
      if (auto Yaml = llvm::cantFail(readDecisions(store(), U.Key)))
        Text += choicesOf(llvm::cantFail(parseProfile(*Yaml, "decisions")));
    return Text;
  }
  /// Writes a capture of \p Kernel that has the units of the store.
  std::string capture(const std::string &Kernel) {
    std::string Path = path(Kernel + CaptureSuffix);
    CaptureWriter W = llvm::cantFail(CaptureWriter::create(Path));
    Capture C;
    C.Kernel = Kernel;
    C.Device = "NVIDIA H200";
    C.ContainerDigest = store().units().front().Containers.front();
    bundleUnits(store(), W, C);
    llvm::cantFail(W.finish(C));
    return Path;
  }
};

} // namespace

TEST_F(FleetTest, commandOnTwoNodes_decidesWhatASingleTuningDoes) {
  build(Object);
  CommandResult R = carve({"tune", Tuning[0], Tuning[1], "--", "./app"});
  ASSERT_TRUE(R.succeeded()) << R.Stderr;
  std::string Single = choices();
  ASSERT_NE(Single.find("cap: 64"), std::string::npos) << Single;
  ASSERT_TRUE(carve({"store", "clear"}).succeeded());
  build(Object);

  plan({"--", "./app"}, {"--shards=2"});
  EXPECT_NE(read("fleet/job.sh").find("#SBATCH --array=0-1\n"), std::string::npos);
  // The nodes have the units in the plan's folder.
  for (size_t Shard : {0, 1})
    EXPECT_TRUE(runShard(Shard, "node1").succeeded());
  R = fleet({"merge", "fleet"});
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_NE(R.Stderr.find("2 of 2 shards are not finished"), std::string::npos) << R.Stderr;
  EXPECT_EQ(choices(), "") << "one node is too few";
  for (size_t Shard : {0, 1})
    EXPECT_TRUE(runShard(Shard, "node2").succeeded());
  R = fleet({"merge", "--profile=team.yaml", "fleet"});
  EXPECT_TRUE(R.succeeded()) << R.Stdout << R.Stderr;
  EXPECT_EQ(choices(), Single);
  EXPECT_EQ(read("team.yaml"), read("fleet/profile.yaml"));
  expectNoTemporaries();
}

TEST_F(FleetTest, finishedShard_isNotTunedAgain) {
  keepKernels({"bulky"});
  build(Object);
  plan({"--", "./app"});
  ASSERT_TRUE(runShard(0, "node1").succeeded());
  std::string First = read("fleet/shard-0/node1.json");
  CommandResult R = runShard(0, "node1");
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  EXPECT_EQ(R.Stdout, "shard 0 on node1: finished already\n");
  EXPECT_EQ(read("fleet/shard-0/node1.json"), First);
  R = runShard(1, "node1");
  EXPECT_NE(R.Stderr.find("shard 1, expected 0 to 0"), std::string::npos) << R.Stderr;
}

TEST_F(FleetTest, shard_tunesOnlyItsKernels) {
  keepKernels({"bulky", "steady"});
  build(Object);
  plan({"--", "./app"});
  ASSERT_TRUE(runShard(0, "node1").succeeded());
  ShardResult R = llvm::cantFail(parseShardResult(read("fleet/shard-0/node1.json"), "result"));
  FleetPlan Plan = llvm::cantFail(readPlan(path("fleet")));
  ASSERT_EQ(Plan.Shards.size(), 2u);
  ASSERT_EQ(Plan.Shards[0].Kernels, Words{Bulky});
  for (const KernelReport &K : R.Report.Kernels)
    EXPECT_NE(K.Mangled, Steady) << "its own shard reports on it";
  EXPECT_EQ(R.Decisions.begin()->second.Kernels.size(), 1u);
}

TEST_F(FleetTest, captures_areTunedWithoutTheStoreOfThePlan) {
  keepKernels({"bulky", "steady"});
  build(Object);
  Words Captures = {"--from", capture(Bulky), "--from", capture(Steady)};
  ASSERT_TRUE(carve({"store", "clear"}).succeeded());
  plan(Captures, {"--agree=1"});
  FleetPlan Plan = llvm::cantFail(readPlan(path("fleet")));
  EXPECT_EQ(Plan.Shards.size(), 2u);
  EXPECT_EQ(Plan.Device, "NVIDIA H200");
  for (size_t Shard : {0, 1})
    EXPECT_TRUE(runShard(Shard, "node1").succeeded());
  CommandResult R = fleet({"merge", "fleet"});
  EXPECT_TRUE(R.succeeded()) << R.Stderr;
  EXPECT_NE(read("fleet/profile.yaml").find("variant: {cap: 64}"), std::string::npos);
}

TEST_F(FleetTest, toolkitOfAnotherVersion_isRefusedByTheMerge) {
  keepKernels({"bulky"});
  build(Object);
  plan({"--", "./app"});
  for (const char *Node : {"node1", "node2"})
    ASSERT_TRUE(runShard(0, Node).succeeded());
  ShardResult Other = llvm::cantFail(parseShardResult(read("fleet/shard-0/node2.json"), "result"));
  std::string Right = Other.Toolkit;
  Other.Toolkit = "13.9.1";
  llvm::cantFail(writeOwnFile(path("fleet/shard-0/node2.json"), printShardResult(Other)));
  CommandResult R = fleet({"merge", "fleet"});
  EXPECT_EQ(R.ExitStatus, 1);
  EXPECT_NE(R.Stderr.find("shard-0/node2.json: toolkit 13.9.1, expected " + Right + " (refused)"),
            std::string::npos)
      << R.Stderr;
  EXPECT_EQ(choices(), "");
}

TEST_F(FleetTest, badPlans_areRefusedWithWhatWasExpected) {
  keepKernels({"bulky"});
  auto Message = [&](Words Arguments) { return fleet(std::move(Arguments)).Stderr; };
  EXPECT_NE(Message({"plan", "-o", "fleet", "--", "./app"}).find("has a kernel, expected"),
            std::string::npos);
  build(Object);
  EXPECT_NE(Message({"plan", "--", "./app"}).find("expected -o FOLDER"), std::string::npos);
  EXPECT_NE(Message({"plan", "-o", "fleet"}).find("either --from CAPTURE... or"),
            std::string::npos);
  EXPECT_NE(Message({"plan", "-o", "fleet", "--scope=file", "--", "./app"}).find("'kernel'"),
            std::string::npos);
  plan({"--", "./app"});
  EXPECT_NE(Message({"plan", "-o", "fleet", "--", "./app"}).find("has a plan already"),
            std::string::npos);
}
