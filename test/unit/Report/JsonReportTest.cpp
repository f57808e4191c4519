#include "Report/JsonReport.h"

#include "ReportTesting.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace carve;

static std::string failure(llvm::StringRef Text) {
  llvm::Expected<TuningReport> R = parseJsonReport(Text, "r.json");
  return R ? "" : llvm::toString(R.takeError());
}

/// Returns the sample's JSON, with the first \p From replaced by \p To.
static std::string changed(llvm::StringRef From, llvm::StringRef To) {
  std::string Text = printJsonReport(sampleReport());
  size_t At = Text.find(From.str());
  EXPECT_NE(At, std::string::npos) << From.str();
  return Text.replace(At, From.size(), To.str());
}

TEST(JsonReport, report_printedAndRead_isTheSame) {
  TuningReport R = sampleReport();
  R.UnstableLines = 3;
  R.Note = "a \"note\"";
  R.Unordered = true;
  R.Processes = 4;
  R.GraphShare = 0.25;
  R.Gpus = 2;
  R.Reruns = {"variant 3 of k ended the timing run: hung"};
  VariantReport Cut;
  Cut.Name = "r168-f255";
  Cut.Efficiency = 3.93e-12;
  Cut.Utilization = 227;
  Cut.Carved = "same code as r168";
  R.Kernels[0].Carved = {Cut};
  R.Kernels[0].Compiled = 9;
  R.Kernels[0].Entries = {
      {"parameter 2 = 8192", "known", std::nullopt, GuardHold{932, 900, 0.9, true}},
      {"parameter 2 = 16384", "known", std::nullopt, GuardHold{932, 32, 0.1}}};
  R.Kernels[0].Earlier = {
      {"parameter 2 = 4096", "known", GuardHold{932, 932, 1}, GuardHold{932, 0, 0}},
      {"threads <= 256", "r168", std::nullopt, GuardHold{932, 466, 0.5}}};
  R.VariantsCompiled = 40;
  R.OtherUsers = {{123, "python", 38}, {124, "", std::nullopt}};
  R.TimedOn = {"GPU 0", "GPU 2"};
  R.LeftGpus = {{"GPU 1", "it is busy: pid 3"}};
  R.GpuNote = "only GPU 0 is used";
  R.Kernels[0].InRun.Gpu = "GPU 2";
  std::string Text = printJsonReport(R);
  llvm::Expected<TuningReport> Again = parseJsonReport(Text, "r.json");
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(printJsonReport(*Again), Text);
  EXPECT_EQ(Again->TimedOn, R.TimedOn);
  EXPECT_EQ(Again->LeftGpus, R.LeftGpus);
  EXPECT_EQ(Again->GpuNote, R.GpuNote);
  EXPECT_EQ(Again->Kernels[0].InRun.Gpu, "GPU 2");
  EXPECT_EQ(Again->Workload, "./lulesh -s 90");
  EXPECT_EQ(Again->Runs, 42u);
  EXPECT_EQ(Again->RunsBeforeConfirmation, 2u);
  EXPECT_EQ(Again->Reruns, R.Reruns);
  EXPECT_EQ(Again->PairsMade, 13u);
  EXPECT_EQ(Again->Ended, "decided");
  EXPECT_EQ(Again->UnstableLines, 3u);
  EXPECT_TRUE(Again->Unordered);
  EXPECT_EQ(Again->Processes, 4u);
  EXPECT_EQ(Again->GraphShare, 0.25);
  EXPECT_EQ(Again->Gpus, 2u);
  ASSERT_EQ(Again->OtherUsers.size(), 2u);
  EXPECT_EQ(Again->OtherUsers[0].Pid, 123u);
  EXPECT_EQ(Again->OtherUsers[0].Name, "python");
  EXPECT_EQ(Again->OtherUsers[0].BusyPercent, 38u);
  EXPECT_EQ(Again->OtherUsers[1].BusyPercent, std::nullopt);
  EXPECT_EQ(Again->VariantsCompiled, 40u);
  ASSERT_EQ(Again->Kernels[0].Carved.size(), 1u);
  EXPECT_EQ(Again->Kernels[0].Carved[0].Carved, "same code as r168");
  EXPECT_EQ(Again->Kernels[0].Carved[0].Efficiency, 3.93e-12);
  EXPECT_EQ(Again->Kernels[0].Compiled, 9u);
  EXPECT_EQ(Again->Program.Low, 0.89);
  ASSERT_EQ(Again->Kernels.size(), 5u);
  const KernelReport &K = Again->Kernels[0];
  EXPECT_TRUE(K.Tuned);
  EXPECT_EQ(K.SpillBefore, 312u);
  EXPECT_EQ(K.Launches, 1000u);
  ASSERT_EQ(K.Variants.size(), 3u);
  EXPECT_EQ(K.Variants[2].Fault, "exit status 139 instead of 0");
  EXPECT_EQ(K.InRun.Mode, "replay");
  EXPECT_EQ(K.InRun.Verified, "bitwise");
  EXPECT_EQ(K.InRun.Rounds, 7u);
  EXPECT_EQ(K.InRun.Ratio.High, 0.763);
  EXPECT_EQ(K.InRun.WarmWeight, 0.67);
  EXPECT_EQ(Again->Kernels[2].InRun.Mode, "");
  EXPECT_EQ(K.Dropped, std::vector<std::string>{"r255: largest block would shrink"});
}

TEST(JsonReport, emptyReport_isReadBack) {
  std::string Text = printJsonReport({});
  llvm::Expected<TuningReport> Again = parseJsonReport(Text, "r.json");
  ASSERT_TRUE(bool(Again)) << llvm::toString(Again.takeError());
  EXPECT_EQ(printJsonReport(*Again), Text);
}

TEST(JsonReport, namesWithInvalidUtf8_giveValidJson) {
  TuningReport R = sampleReport();
  R.Workload = "./app-\xe9";
  EXPECT_TRUE(llvm::json::isUTF8(printJsonReport(R)));
  EXPECT_EQ(failure(printJsonReport(R)), "");
}

TEST(JsonReport, wrongText_isRefusedWithFileAndMember) {
  EXPECT_TRUE(llvm::StringRef(failure("{")).starts_with("r.json: not JSON: ")) << failure("{");
  for (llvm::StringRef Other : {"[]", "{}"})
    EXPECT_EQ(failure(Other),
              "r.json: not a report record: expected an object with 'carve-report': 1");
  EXPECT_EQ(failure("{\"carve-report\": 2}"), "r.json: report record of format 2, expected 1");
  EXPECT_EQ(failure(changed("\"runs\": 42", "\"runs\": \"many\"")),
            "r.json: expected integer in 0..4294967295 at report.runs");
  EXPECT_EQ(failure(changed("\"workload\"", "\"work\"")),
            "r.json: missing value at report.workload");
  EXPECT_EQ(failure(changed("\"tuned\": true", "\"tuned\": 1")),
            "r.json: expected boolean at report.kernels[0].tuned");
  EXPECT_EQ(failure(changed("\"median\": 0.75", "\"median\": null")),
            "r.json: expected number at report.kernels[0].ratio.median");
}
