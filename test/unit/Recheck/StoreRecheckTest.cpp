#include "Recheck/StoreRecheck.h"

#include "Store/DecisionFiles.h"
#include "Support/TempDir.h"

#include "llvm/Support/JSON.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

Decision decided(const std::string &Kernel, std::optional<unsigned> Cap, const std::string &Date) {
  Decision D;
  D.Kernel = Kernel;
  D.Arch = "sm_90";
  D.Variant.Cap = Cap;
  D.Digest = "digest of " + Date;
  D.Basis.emplace();
  D.Basis->Device = "NVIDIA H200";
  D.Basis->Date = Date;
  D.Basis->Source = "k.cu";
  return D;
}

StoredDecision stored(const std::string &Kernel) { return {"unit1", decided(Kernel, 64, "1"), ""}; }

TunedWorkload workload(const std::string &Name, const std::vector<std::string> &Kernels,
                       double GpuNs) {
  TunedWorkload W;
  W.Directory = "/work";
  W.Argv = {Name};
  for (const std::string &Kernel : Kernels)
    W.Kernels.push_back({"unit1", Kernel, "_Z" + Kernel, GpuNs});
  return W;
}

std::string whyOldIsGone(const TunedWorkload &W) {
  return W.Argv.front() == "./gone" ? "it is gone" : "";
}

} // namespace

TEST(StoreRecheck, decisions_goToTheWorkloadsThatDecidedThem_mostGpuTimeFirst) {
  StorePlan Plan = planStore(
      {stored("a"), stored("b"), stored("c"), stored("d")},
      {workload("./small", {"a", "b"}, 10), workload("./large", {"b", "c"}, 90)}, whyOldIsGone);
  ASSERT_EQ(Plan.Turns.size(), 2u);
  EXPECT_EQ(Plan.Turns[0].Workload.text(), "./large");
  EXPECT_EQ(Plan.Turns[0].GpuNs, 90);
  ASSERT_EQ(Plan.Turns[1].Decisions.size(), 2u) << "b belongs to the workload that was tuned last";
  EXPECT_EQ(Plan.Turns[1].Decisions[1].Mangled, "_Zb");
  ASSERT_EQ(Plan.Untimed.size(), 1u);
  EXPECT_EQ(Plan.Untimed[0].Stored.Decided.Kernel, "d");
  EXPECT_EQ(Plan.Untimed[0].Why, "the store does not know its workload; tune it again");
}

TEST(StoreRecheck, workloadThatIsGone_leavesItsDecisionsToAnEarlierOne) {
  StorePlan Plan =
      planStore({stored("a"), stored("b")},
                {workload("./gone", {"a", "b"}, 10), workload("./app", {"a"}, 10)}, whyOldIsGone);
  ASSERT_EQ(Plan.Turns.size(), 1u);
  EXPECT_EQ(Plan.Turns[0].Workload.text(), "./app");
  ASSERT_EQ(Plan.Untimed.size(), 1u);
  EXPECT_EQ(Plan.Untimed[0].Stored.Decided.Kernel, "b");
  EXPECT_EQ(Plan.Untimed[0].Why, "it is gone");
}

TEST(StoreRecheck, changingDecisions_areTheNewestOfAKernelThatChangeCode) {
  TempDir Dir = llvm::cantFail(TempDir::create("carve-recheck"));
  UnitStore Store(Dir.path() + "/store");
  Profile P;
  P.put(decided("a", 64, "1"));
  P.put(decided("a", 40, "2"));
  P.put(decided("b", 64, "1"));
  P.put(decided("b", std::nullopt, "2"));
  Decision Pin;
  Pin.Kernel = "c";
  Pin.Variant.Cap = 32;
  P.put(Pin);
  ASSERT_FALSE(llvm::errorToBool(writeDecisions(Store, "unit1", printProfile(P))));
  std::vector<StoredDecision> Found = changingDecisions(Store);
  ASSERT_EQ(Found.size(), 1u);
  EXPECT_EQ(Found[0].Unit, "unit1");
  EXPECT_EQ(Found[0].Decided.Variant.Cap, 40u);
}

TEST(StoreRecheck, kernelThatWasNotLaunched_isUntimedWithTheReason) {
  WorkloadTurn Turn;
  Turn.Decisions = {stored("a"), stored("b"), stored("c")};
  for (StoredDecision &D : Turn.Decisions)
    D.Mangled = "_Z" + D.Decided.Kernel;
  Turn.Decisions[2].Decided.Basis->Device = "NVIDIA A100";
  RecheckOutcome Timed;
  Timed.Workload = "./app";
  Timed.Device = "NVIDIA H200";
  RecheckedKernel K;
  K.Mangled = "_Za";
  K.Earlier.Decided = Turn.Decisions[0].Decided;
  K.Verdict = RecheckVerdict::Lost;
  Timed.Kernels = {K};
  StoreOutcome Outcome{"/store", {}, {}};
  Outcome.add(Turn, Timed);
  ASSERT_EQ(Outcome.Untimed.size(), 2u);
  EXPECT_EQ(Outcome.Untimed[0].Why, "./app does not launch it as it was tuned");
  EXPECT_EQ(Outcome.Untimed[1].Why, "it was timed on NVIDIA A100, and this is NVIDIA H200");
  EXPECT_EQ(Outcome.count(RecheckVerdict::Lost), 1u);
  EXPECT_EQ(Outcome.count(RecheckVerdict::Untimed), 2u);
  std::string Text = printStoreText(Outcome);
  EXPECT_NE(Text.find("/store: 0 decision(s) hold, 1 lost, 0 uncertain, 2 untimed\n"),
            std::string::npos)
      << Text;
  auto Json = llvm::json::parse(printStoreJson(Outcome));
  ASSERT_TRUE(bool(Json));
  EXPECT_EQ(Json->getAsObject()->getArray("workloads")->size(), 1u);
  EXPECT_EQ(Json->getAsObject()->getArray("untimed")->size(), 2u);
}
