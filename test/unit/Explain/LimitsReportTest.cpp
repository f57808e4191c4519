#include "Explain/LimitsReport.h"
#include "Explain/ExplainReport.h"
#include "Explain/LimitsJson.h"

#include "unit/Report/Golden.h"
#include "unit/Report/ReportTesting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace carve;

namespace {

DeviceBalance h200() {
  DeviceModel Model =
      llvm::cantFail(loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_90"));
  return balanceOf(Model, {"NVIDIA H200", 132, 1980000, 3201000, 6144});
}

KernelEvidence evidence(const std::string &Kernel, double Share, double MeanNs) {
  KernelEvidence E;
  E.Kernel = Kernel;
  E.Share = Share;
  E.Launches = 400;
  E.MeanNs = MeanNs;
  E.Shape.Grid = {65536, 1, 1};
  E.Shape.Block = {256, 1, 1};
  E.RegsPerThread = 72;
  return E;
}

KernelCounts counts(double Instructions, double Bytes) {
  KernelCounts C;
  C.Instructions = Instructions;
  C.Regions = 2;
  C.GlobalLoads = C.GlobalStores = 1;
  C.GlobalLoadBytes = C.GlobalStoreBytes = Bytes / 2;
  C.LeastMovedBytes = C.MostMovedBytes = Bytes;
  C.CoalescedShare = 1;
  C.Pipes.Integer = 4;
  return C;
}

/// A report on three kernels: a copy with counters, a spilling kernel that was tuned, and one from
/// a library.
LimitsReport sample() {
  LimitsReport R;
  R.Workload = "./app 5";
  R.Balance = h200();
  R.Program = {220e6, 210e6, 900};
  R.TunedOn = "2026-11-20T10:00:00Z";
  R.Runs = 6;
  R.ModifiedRefused = "the program's output changes from run to run";

  KernelLimits Copy{evidence("_Z4copyPK4int4PS_", 0.62, 130e3), {}, {}};
  Copy.Evidence.Counts = counts(14, 32);
  Copy.Evidence.OfCode = Copy.Evidence.TripsKnown = true;
  Copy.Evidence.Counters = KernelCounters();
  Copy.Evidence.Counters->Launches = 2;
  Copy.Evidence.Counters->DramShare = 0.91;
  Copy.Evidence.Counters->L2Share = 0.48;
  Copy.Evidence.Counters->IssueShare = 0.04;
  Copy.Evidence.Counters->ActiveWarpsPerSm = 20.5;

  KernelLimits Spill{evidence("_Z5spillPKiPii", 0.3, 400e3), {}, {}};
  Spill.Evidence.Shape.Grid = {1024, 1, 1};
  Spill.Evidence.Counts = counts(19000, 2200);
  Spill.Evidence.Counts->LocalAccesses = 6400;
  Spill.Evidence.Counts->LocalLoadBytes = Spill.Evidence.Counts->LocalStoreBytes = 12800;
  Spill.Evidence.TripsKnown = true;
  Spill.Evidence.Tried = TriedVariants();
  Spill.Evidence.Tried->Compiled = 14;
  Spill.Evidence.Tried->Timed = 9;
  Spill.Evidence.Tried->Best = TriedVariant{"r72", 0.5, 0.49, 0.51, 72, 0};
  Spill.Evidence.Tried->LeastSpilled = Spill.Evidence.Tried->Best;
  Spill.Evidence.Tried->Chosen = "r72";

  KernelLimits Library{evidence("_Z4gemmPf", 0.08, 40e3), {}, {}};
  Library.Evidence.CountsReason = "not compiled by carve-nvcc";
  for (KernelLimits *K : {&Copy, &Spill, &Library}) {
    K->Limit = findLimit(K->Evidence, R.Balance, R.Program);
    K->Findings = limitFindings(K->Evidence, R.Balance, R.Program, K->Limit);
    R.Kernels.push_back(*K);
  }
  return R;
}

} // namespace

TEST(LimitsReport, text_ofSampleReport_matchesGolden) {
  expectGolden(printLimitsText(sample()), "explain-limits.txt");
}

TEST(LimitsReport, json_ofSampleReport_matchesGolden) {
  std::string Text = printLimitsJson(sample());
  expectGolden(Text, "explain-limits.json");
  llvm::Expected<llvm::json::Value> Value = llvm::json::parse(Text);
  ASSERT_TRUE(bool(Value)) << llvm::toString(Value.takeError());
  EXPECT_EQ(Value->getAsObject()->getInteger("carve-explain"), 1);
}

TEST(LimitsReport, text_linesFitATerminal) {
  std::string Text = printLimitsText(sample());
  for (llvm::StringRef Line : llvm::split(llvm::StringRef(Text), '\n'))
    EXPECT_LE(Line.size(), 100u) << Line.str();
}

TEST(LimitsReport, furtherEntry_hasTheShareThatItHeldFor) {
  LimitsReport R = sample();
  R.Kernels[0].Evidence.Entries = {
      {"parameter 1 = 4096", "known", GuardHold{400, 400, 1}, GuardHold{400, 40, 0.125}}};
  std::string Text = printLimitsText(R);
  EXPECT_NE(
      Text.find("  further entry known for launches with parameter 1 = 4096: its guard held at "
                "40 of 400 launches,"),
      std::string::npos)
      << Text;
  EXPECT_NE(
      Text.find("  warning       the further entry for launches with parameter 1 = 4096 was "),
      std::string::npos)
      << Text;
  llvm::Expected<llvm::json::Value> Value = llvm::json::parse(printLimitsJson(R));
  ASSERT_TRUE(bool(Value)) << llvm::toString(Value.takeError());
  const llvm::json::Object &Kernel = *(*Value->getAsObject()->getArray("kernels"))[0].getAsObject();
  const llvm::json::Object &Entry = *(*Kernel.getArray("entries"))[0].getAsObject();
  EXPECT_EQ(Entry.getObject("held")->getNumber("share"), 0.125);
  EXPECT_EQ(Entry.getObject("held-when-tuned")->getNumber("share"), 1);
}

TEST(LimitsReport, triedVariants_areThoseOfTheReport) {
  TuningReport R = sampleReport();
  TriedVariants T = triedVariants(R.Kernels[0]);
  EXPECT_EQ(T.Chosen, "r168");
  ASSERT_TRUE(T.Best);
  EXPECT_EQ(T.Best->Name, "r168");
  EXPECT_EQ(T.Best->Ratio, R.Kernels[0].Ratio.Median) << "the confirmation's";
  EXPECT_EQ(T.Timed, 2u) << "the faulty one does not count";
}

TEST(LimitsReport, reportWithoutRun_givesFindings) {
  TuningReport R = sampleReport();
  KernelReport &K = R.Kernels[0];
  K.Tuned = false;
  K.RegsBefore = 72;
  K.OccupancyBefore = 0.375;
  K.SpillBefore = 64;
  K.LeastRegs = 40;
  K.Levels = {{80, 3, 0.375}, {64, 4, 0.5}, {48, 5, 0.625}};
  std::vector<Finding> Findings = reportFindings(K);
  ASSERT_EQ(Findings.size(), 3u);
  EXPECT_EQ(Findings[0].Text, "72 registers a thread, 38 % of the warps that an SM holds");
  EXPECT_EQ(Findings[1].Text, "4 blocks an SM (50 % of what it holds) with at most 64 registers a "
                              "thread");
  EXPECT_EQ(Findings[2].Topic, "spills");
  std::string Text = printExplanation(R, "CalcFB");
  EXPECT_NE(Text.find("  next level: 4 blocks an SM"), std::string::npos) << Text;
  std::string Json = printExplanationJson(R, "CalcFB");
  llvm::Expected<llvm::json::Value> Value = llvm::json::parse(Json);
  ASSERT_TRUE(bool(Value)) << llvm::toString(Value.takeError());
  const llvm::json::Array *Kernels = Value->getAsObject()->getArray("kernels");
  ASSERT_TRUE(Kernels && Kernels->size() == 1);
  EXPECT_EQ((*Kernels)[0].getAsObject()->getArray("findings")->size(), 3u);
  EXPECT_EQ(printExplanationJson(R, "nobody"), "");
}
