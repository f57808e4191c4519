#include "Fleet/FleetPlan.h"

#include "Support/Files.h"
#include "Support/OwnFile.h"
#include "unit/ResultTesting.h"

using namespace carve;

using Names = std::vector<std::string>;

TEST(FleetPlan, kernels_areDealtOutEvenlyAndOnce) {
  std::vector<PlannedShard> Shards = dealKernels({"c", "a", "e", "b", "d", "a"}, 2);
  ASSERT_EQ(Shards.size(), 2u);
  EXPECT_EQ(Shards[0].Kernels, (Names{"a", "c", "e"}));
  EXPECT_EQ(Shards[1].Kernels, (Names{"b", "d"}));
  EXPECT_EQ(dealKernels({"a"}, 8).size(), 1u) << "no shard is empty";
}

TEST(FleetPlan, capturesOfOneKernel_stayInOneShard) {
  std::vector<PlannedShard> Shards =
      dealCaptures({{"b", "/b1"}, {"a", "/a1"}, {"b", "/b2"}, {"c", "/c1"}}, 2);
  ASSERT_EQ(Shards.size(), 2u);
  EXPECT_EQ(Shards[0].Captures, (Names{"/a1", "/c1"}));
  EXPECT_EQ(Shards[1].Captures, (Names{"/b1", "/b2"}));
}

TEST(FleetPlan, plan_writtenAndRead_isTheSame) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-fleet-test"));
  FleetPlan Plan;
  Plan.Date = "2026-11-03T12:00:00Z";
  Plan.Directory = "/home";
  Plan.Options = {"--mode=fixed"};
  Plan.Command = {"./app", "4 096"};
  Plan.StdinPath = "in";
  Plan.Agree = 3;
  Plan.ProgramNodes = 4;
  Plan.Toolkit = "13.0.88";
  Plan.Device = "NVIDIA H200";
  Plan.Shards = {{{"/a"}, {}}, {{}, {"k"}}};
  llvm::cantFail(writeOwnFile(planPath(Dir.path()), printPlan(Plan)));
  FleetPlan Read = valueOf(readPlan(Dir.path()));
  EXPECT_EQ(printPlan(Read), printPlan(Plan));
  EXPECT_EQ(Read.Shards[1].Kernels, Names{"k"});
  EXPECT_EQ(Read.Digest.size(), 32u);
}

TEST(FleetPlan, planWithoutShards_isRefused) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-fleet-test"));
  llvm::cantFail(writeOwnFile(planPath(Dir.path()), printPlan({})));
  EXPECT_NE(messageOf(readPlan(Dir.path())).find("expected at least one shard"), std::string::npos);
}

TEST(FleetPlan, shardWithoutWork_isRefused) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-fleet-test"));
  FleetPlan Plan;
  Plan.Shards.resize(1);
  llvm::cantFail(writeOwnFile(planPath(Dir.path()), printPlan(Plan)));
  EXPECT_NE(messageOf(readPlan(Dir.path())).find("expected either captures or kernels"),
            std::string::npos);
}

TEST(FleetPlan, pathOfAShard_hasFolderAndNumber) {
  auto Place = valueOf(shardOfPath("/data/plan/shard-17/"));
  EXPECT_EQ(Place.first, "/data/plan");
  EXPECT_EQ(Place.second, 17u);
  EXPECT_EQ(messageOf(shardOfPath("/data/plan")),
            "carve fleet run: '/data/plan' is no shard, expected a path such as DIR/shard-0");
  EXPECT_NE(messageOf(shardOfPath("/data/shard-x")), "");
}
