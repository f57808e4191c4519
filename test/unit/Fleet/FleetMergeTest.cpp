#include "Fleet/FleetMerge.h"

#include "Fleet/FleetReport.h"
#include "Support/Files.h"
#include "Support/OwnFile.h"
#include "unit/ResultTesting.h"

#include <algorithm>

using namespace carve;

namespace {

constexpr char Gpu[] = "NVIDIA H200", Driver[] = "580.159.03", Toolkit[] = "13.0.88";

FleetPlan planOf(size_t Shards) {
  FleetPlan Plan;
  Plan.Digest = "plan";
  Plan.Command = {"./app"};
  for (size_t S = 0; S < Shards; ++S)
    Plan.Shards.push_back({{}, {"k" + std::to_string(S)}});
  return Plan;
}

/// The result of \p Node for the only kernel of a shard, whose winner has the cap \p Cap.
ShardResult result(unsigned Shard, std::string Node, unsigned Cap = 64) {
  ShardResult R;
  R.Plan = "plan";
  R.Shard = Shard;
  R.Node = std::move(Node);
  R.Toolkit = Toolkit;
  R.Report.Device = Gpu;
  R.Report.Driver = Driver;
  Decision D;
  D.Kernel = "k" + std::to_string(Shard);
  D.Arch = "sm_90";
  D.Digest = "digest";
  D.Variant.Cap = Cap;
  D.Basis.emplace();
  D.Basis->Ratio = 0.8;
  R.Decisions["unit" + std::to_string(Shard % 3)].Kernels = {D};
  KernelReport K;
  K.Kernel = K.Mangled = D.Kernel;
  K.Variant = "r" + std::to_string(Cap);
  R.Report.Kernels = {K};
  return R;
}

std::vector<size_t> unfinished(const MergedFleet &M) {
  std::vector<size_t> Shards;
  for (const UnfinishedShard &U : M.Unfinished)
    Shards.push_back(U.Shard);
  return Shards;
}

using Numbers = std::vector<size_t>;
using Lines = std::vector<std::string>;

} // namespace

TEST(FleetMerge, allShardsOfTwoNodes_areDecidedForTheirUnits) {
  ReadResults Read;
  for (unsigned Shard = 0; Shard < 6; ++Shard)
    for (const char *Node : {"n1", "n2"})
      Read.Results.push_back(result(Shard, Node));
  MergedFleet M = mergeFleet(planOf(6), Read);
  EXPECT_TRUE(M.complete());
  EXPECT_EQ(M.Tuned, 6u);
  EXPECT_EQ(M.Decisions.Kernels.size(), 6u);
  EXPECT_EQ(M.Units.size(), 3u);
  EXPECT_EQ(M.Units["unit1"].Kernels.size(), 2u);
  EXPECT_EQ(M.Device, Gpu);
}

TEST(FleetMerge, order_doesNotMatter) {
  ReadResults Read{
      {result(0, "n1"), result(0, "n2", 72), result(1, "n1"), result(1, "n2"), result(1, "n3", 72)},
      {}};
  Read.Results[1].Report.Kernels[0].Variants = {};
  std::string First = printFleetText(mergeFleet(planOf(2), Read), planOf(2), "d");
  std::string Profile = printProfile(mergeFleet(planOf(2), Read).Decisions);
  for (size_t Turn = 0; Turn < Read.Results.size(); ++Turn) {
    std::rotate(Read.Results.begin(), Read.Results.begin() + 1, Read.Results.end());
    MergedFleet M = mergeFleet(planOf(2), Read);
    EXPECT_EQ(printFleetText(M, planOf(2), "d"), First);
    EXPECT_EQ(printProfile(M.Decisions), Profile);
  }
}

TEST(FleetMerge, shardOfTooFewNodes_isNamedAndNotDecided) {
  MergedFleet M = mergeFleet(planOf(4), {{result(0, "n1"), result(0, "n2"), result(2, "n2")}, {}});
  EXPECT_EQ(unfinished(M), (Numbers{1, 2, 3}));
  EXPECT_EQ(M.Tuned, 1u);
  EXPECT_EQ(M.Waiting, Lines{"k2"});
  std::string Text = printFleetText(M, planOf(4), "d");
  for (const char *Part : {"1 of 4 shards finished by 2 nodes each", "by any node: shards 1,3\n",
                           "but by n2: shard 2\n", "submit again: sbatch --array=1-3 d/job.sh\n"})
    EXPECT_NE(Text.find(Part), std::string::npos) << Part << " is not in:\n" << Text;
  EXPECT_EQ(whatIsMissing(M), "3 of 4 shards are not finished");
}

TEST(FleetMerge, unfinishedShardsOfAProgramOnSeveralNodes_haveATaskForEachNodeThatIsMissing) {
  FleetPlan Plan = planOf(4);
  Plan.ProgramNodes = 2;
  MergedFleet M =
      mergeFleet(Plan, {{result(0, "n1"), result(0, "n2"), result(2, "n2"), result(3, "n1")}, {}});
  std::string Text = printFleetText(M, Plan, "d");
  for (const char *Part :
       {"sbatch --array=1,5 d/job.sh\n", "sbatch --array=2 --exclude=n2 d/job.sh\n",
        "sbatch --array=3 --exclude=n1 d/job.sh\n"})
    EXPECT_NE(Text.find(Part), std::string::npos) << Part << " is not in:\n" << Text;
}

TEST(FleetMerge, resultOfAnotherGpuOrToolkit_isRefusedInOneMessage) {
  ReadResults Read;
  for (unsigned Shard = 0; Shard < 3; ++Shard)
    for (const char *Node : {"n1", "n2"})
      Read.Results.push_back(result(Shard, Node));
  Read.Results[1].Report.Device = "NVIDIA A100";
  Read.Results[3].Toolkit = "13.1.0";
  Read.Results[5].Report.Driver = "570.10";
  MergedFleet M = mergeFleet(planOf(3), Read);
  EXPECT_EQ(M.Refused, (Lines{"shard-0/n2.json: GPU NVIDIA A100, expected NVIDIA H200",
                              "shard-1/n2.json: toolkit 13.1.0, expected 13.0.88",
                              "shard-2/n2.json: driver 570.10, expected 580"}));
  EXPECT_EQ(unfinished(M), (Numbers{0, 1, 2}));
  EXPECT_EQ(M.Tuned, 0u);
  EXPECT_EQ(whatIsMissing(M), "shard-0/n2.json: GPU NVIDIA A100, expected NVIDIA H200 (refused, as "
                              "2 more); 3 of 3 shards are not finished");
}

TEST(FleetMerge, gpuOfThePlan_isExpectedEvenOfMost) {
  FleetPlan Plan = planOf(1);
  Plan.Device = "NVIDIA B200";
  MergedFleet M = mergeFleet(Plan, {{result(0, "n1"), result(0, "n2")}, {}});
  EXPECT_EQ(M.Refused.size(), 2u);
  EXPECT_EQ(M.Results, 0u);
}

TEST(FleetMerge, driverOfTheSameBranch_isAccepted) {
  ReadResults Read{{result(0, "n1"), result(0, "n2")}, {}};
  Read.Results[1].Report.Driver = "580.200.01";
  EXPECT_TRUE(mergeFleet(planOf(1), Read).complete());
}

TEST(FleetMerge, resultOfAnotherPlan_isRefused) {
  ReadResults Read{{result(0, "n1"), result(0, "n2")}, {}};
  Read.Results[1].Plan = "older";
  EXPECT_EQ(mergeFleet(planOf(1), Read).Refused,
            Lines{"shard-0/n2.json: plan older, expected plan"});
}

/// What is written comes back.
TEST(FleetMerge, resultsOf200Shards_areReadFromTheirFolder) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-fleet-test"));
  FleetPlan Plan = planOf(200);
  for (unsigned Shard = 0; Shard < 200; ++Shard) {
    ASSERT_FALSE(createOwnDirectories(shardFolder(Dir.path(), Shard)));
    for (const char *Node : {"n1", "n2"}) {
      ShardResult R = result(Shard, Node, 40 + Shard % 2);
      llvm::cantFail(writeOwnFile(Dir.path() + "/" + R.name(), printShardResult(R)));
    }
  }
  ReadResults Read = readShardResults(Dir.path(), 200);
  EXPECT_EQ(Read.Damaged, Lines());
  MergedFleet M = mergeFleet(Plan, Read);
  EXPECT_TRUE(M.complete());
  EXPECT_EQ(M.Tuned, 200u);
  // Damaged and misplaced files are named, and what else is in the folder is not read.
  llvm::cantFail(writeOwnFile(Dir.path() + "/shard-7/n2.json", "{"));
  llvm::cantFail(writeOwnFile(Dir.path() + "/shard-8/n3.json", printShardResult(result(9, "n3"))));
  llvm::cantFail(writeOwnFile(Dir.path() + "/shard-8/.carve-0-0", "a part"));
  Read = readShardResults(Dir.path(), 200);
  ASSERT_EQ(Read.Damaged.size(), 2u);
  EXPECT_NE(Read.Damaged[0].find("shard-7/n2.json"), std::string::npos);
  EXPECT_NE(Read.Damaged[1].find("the result is shard-9/n3.json"), std::string::npos);
  EXPECT_EQ(unfinished(mergeFleet(Plan, Read)), Numbers{7});
}

TEST(FleetMerge, json_hasWhatTheTextHas) {
  FleetPlan Plan = planOf(2);
  MergedFleet M = mergeFleet(Plan, {{result(0, "n1"), result(0, "n2", 72)}, {}});
  std::string Json = printFleetJson(M, Plan);
  for (const char *Part : {"\"shards\": 2", "\"tuned\": 0", "\"default\": 1",
                           "\"opinions\": \"cap 64 on n1, cap 72 on n2\"", "\"shard\": 1"})
    EXPECT_NE(Json.find(Part), std::string::npos) << Part << " is not in:\n" << Json;
}
