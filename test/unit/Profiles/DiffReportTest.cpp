#include "Profiles/DiffReport.h"

#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace carve;

static Decision tuned(std::string Kernel, unsigned Cap, double Ratio) {
  Decision D;
  D.Kernel = std::move(Kernel);
  D.Arch = "sm_90";
  D.Variant.Cap = Cap;
  D.Digest = "d";
  Evidence &E = D.Basis.emplace();
  E.Device = "NVIDIA H200";
  E.Driver = "580.159";
  E.Toolkit = "13.0.88";
  E.Options = {"-arch=sm_90", "-m64"};
  E.Source = "src/k.cu";
  E.Date = "2026-11-03T12:00:00Z";
  E.Workload = "./app";
  E.Ratio = Ratio;
  E.RatioLow = Ratio - 0.05;
  E.RatioHigh = Ratio + 0.05;
  E.Pairs = 9;
  E.DefaultRegs = 88;
  E.TunedRegs = Cap;
  E.DefaultSpillBytes = 0;
  E.TunedSpillBytes = 16;
  E.DefaultOccupancy = 0.25;
  E.TunedOccupancy = 0.5;
  E.LaunchNs = 100000;
  return D;
}

static ProfileDiff sampleDiff() {
  Profile A, B;
  A.Kernels = {tuned("changed(int)", 64, 0.8), tuned("same()", 64, 0.8)};
  B.Kernels = {tuned("changed(int)", 80, 0.5), tuned("same()", 64, 0.8), tuned("new()", 40, 0.8)};
  B.Kernels[0].Basis->Device = "NVIDIA H100";
  B.Kernels[0].Basis->TunedOccupancy = 0.25;
  B.Kernels[2].Digest.reset();
  B.Kernels[2].Basis.reset();
  B.Kernels[2].Arch.clear();
  B.FileCap = 40;
  return diffProfiles(A, B);
}

TEST(DiffReport, text_showsWhatDiffers) {
  EXPECT_EQ(printDiffText(sampleDiff()),
            "file-cap none -> 40\n"
            "changed    changed(int) on sm_90\n"
            "    setting      cap 64 -> cap 80\n"
            "    registers    88 > 64 -> 88 > 80\n"
            "    occupancy    25 > 50 % -> 25 %\n"
            "    launch       100 > 80 us -> 100 > 50 us\n"
            "    speedup      1.250 [1.176,1.333] of 9 pairs -> 2.000 [1.818,2.222] of 9 pairs\n"
            "    device       NVIDIA H200 -> NVIDIA H100\n"
            "added      new() on any architecture\n"
            "    setting      cap 40, pinned by hand\n"
            "1 added, 0 removed, 1 changed, 0 remeasured, 1 equal\n");
  EXPECT_EQ(printDiffText({}), "0 added, 0 removed, 0 changed, 0 remeasured, 0 equal\n");
}

TEST(DiffReport, entryOfOneSide_isShownCompletely) {
  Profile A, None;
  A.Kernels = {tuned("k()", 64, 0.8)};
  EXPECT_EQ(printDiffText(diffProfiles(A, None)),
            "removed    k() on sm_90\n"
            "    setting      cap 64\n"
            "    registers    88 > 64\n"
            "    spill bytes  0 > 16\n"
            "    occupancy    25 > 50 %\n"
            "    launch       100 > 80 us\n"
            "    speedup      1.250 [1.176,1.333] of 9 pairs\n"
            "    device       NVIDIA H200\n"
            "    toolkit      13.0.88\n"
            "    source       src/k.cu\n"
            "    workload     ./app\n"
            "    date         2026-11-03T12:00:00Z\n"
            "0 added, 1 removed, 0 changed, 0 remeasured, 0 equal\n");
}

TEST(DiffReport, everyKnob_isShown) {
  Profile A, B;
  A.Kernels = {tuned("k()", 64, 0.8)};
  B.Kernels = A.Kernels;
  VariantSetting &V = B.Kernels[0].Variant;
  V.Cap.reset();
  V.FrontEndCap = 32;
  V.FrontEnd = FrontEndKnob::UnrollMore;
  V.SmemSpilling = true;
  V.Loads = LoadCaching::L2Only;
  V.RegisterUsageLevel = 10;
  ProfileDiff Diff = diffProfiles(A, B);
  EXPECT_NE(printDiffText(Diff).find(
                "    setting      cap 64 -> frontend-cap 32, frontend-knob "
                "unroll, smem-spilling true, load-cache cg, register-usage-level 10\n"),
            std::string::npos)
      << printDiffText(Diff);
  llvm::json::Value Value = llvm::cantFail(llvm::json::parse(printDiffJson(Diff)));
  const llvm::json::Object &Change =
      *Value.getAsObject()->getArray("differences")->front().getAsObject();
  const llvm::json::Object &Before = *Change.getObject("before"),
                           &After = *Change.getObject("after");
  EXPECT_EQ(After.get("cap")->kind(), llvm::json::Value::Null);
  EXPECT_EQ(After.getInteger("frontend-cap"), 32);
  EXPECT_EQ(After.getBoolean("smem-spilling"), true);
  EXPECT_EQ(After.getString("load-cache"), "cg");
  EXPECT_EQ(After.getString("frontend-knob"), "unroll");
  EXPECT_EQ(Before.get("frontend-knob")->kind(), llvm::json::Value::Null);
  EXPECT_EQ(After.getInteger("register-usage-level"), 10);
  EXPECT_EQ(Before.get("load-cache")->kind(), llvm::json::Value::Null);
  EXPECT_EQ(Before.getBoolean("smem-spilling"), false);
}

TEST(DiffReport, json_hasBothSides) {
  llvm::Expected<llvm::json::Value> Value = llvm::json::parse(printDiffJson(sampleDiff()));
  ASSERT_TRUE(bool(Value)) << llvm::toString(Value.takeError());
  const llvm::json::Object &O = *Value->getAsObject();
  EXPECT_EQ(O.getInteger("carve-diff"), 1);
  EXPECT_EQ(O.getInteger("file-cap-after"), 40);
  EXPECT_EQ(O.get("file-cap-before")->kind(), llvm::json::Value::Null);
  EXPECT_EQ(O.getInteger("changed"), 1);
  EXPECT_EQ(O.getInteger("added"), 1);
  EXPECT_EQ(O.getInteger("removed"), 0);
  EXPECT_EQ(O.getInteger("equal"), 1);
  const llvm::json::Array &List = *O.getArray("differences");
  ASSERT_EQ(List.size(), 2u);
  const llvm::json::Object &Changed = *List[0].getAsObject(), &Added = *List[1].getAsObject();
  EXPECT_EQ(Changed.getString("change"), "changed");
  EXPECT_EQ(Changed.getObject("before")->getInteger("cap"), 64);
  EXPECT_EQ(Changed.getObject("after")->getInteger("cap"), 80);
  const llvm::json::Object &Evidence = *Changed.getObject("after")->getObject("evidence");
  EXPECT_EQ(Evidence.getNumber("ratio"), 0.5);
  EXPECT_EQ(Evidence.getString("device"), "NVIDIA H100");
  EXPECT_EQ(Evidence.getInteger("tuned-spill-bytes"), 16);
  EXPECT_EQ(Added.get("before")->kind(), llvm::json::Value::Null);
  EXPECT_EQ(Added.getObject("after")->getBoolean("pinned"), true);
}
