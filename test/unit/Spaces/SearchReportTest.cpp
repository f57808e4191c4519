#include "Spaces/SearchReport.h"

#include "Spaces/SearchJson.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

SearchRecord searched() {
  SearchRecord R;
  R.Date = "2026-11-22T00:00:00Z";
  R.Command = "carve-nvcc -O3 mm.cu -o mm";
  R.Space = "TILE=8,16,32";
  R.Where = "TILE < 64";
  R.NvccVersion = "13.0.88";
  R.Arch = "sm_90";
  R.Device = "NVIDIA H200";
  R.Sms = 132;
  R.Metric = "GPU time";
  R.Combinations = 4;
  R.Inputs = {{"/x/mm.cu", "0123"}};
  R.Output = "mm";
  R.OutputDigest = "4567";
  R.Exhaustive = true;
  for (const char *Tile : {"8", "16", "32"}) {
    SearchedConfiguration C;
    C.Macros.Macros = {{"TILE", Tile}};
    C.Efficiency = 1e-12;
    C.Utilization = 20;
    C.Counted = true;
    SearchedKernel K;
    K.Name = "_Z2mmPf";
    K.Launch.Shape.Block = {16, 16, 1};
    K.Launch.Block = LaunchSource::Configuration;
    K.Launch.Grid = LaunchSource::Trace;
    K.Launch.Launches = 3;
    K.Metrics.RegsPerThread = 40;
    K.Metrics.BlocksPerSm = 6;
    K.Metrics.Counts.emplace();
    K.Metrics.Counts->Instructions = 1000;
    K.Metrics.Counts->Regions = 10;
    K.Metrics.Efficiency = 1e-12;
    C.Kernels = {K};
    C.Times.Costs = {2e6, 2e6};
    C.Times.Screened = {1};
    R.Configurations.push_back(C);
  }
  R.Configurations[1].Times.Screened = {0.8};
  R.Configurations[1].Times.Confirmed = {0.75, 0.75};
  R.Configurations[2] = {};
  R.Configurations[2].Macros.Macros = {{"TILE", "32"}};
  R.Configurations[2].Invalid = "does not compile: too much shared data";
  R.Configurations[2].Verdict = {CarvedBy::Invalid, R.Configurations[2].Invalid};
  R.Reference = 0;
  R.Winner = 1;
  R.WinnerRatio = {0.75, 0.74, 0.76};
  R.Compiled = 3;
  R.Timed = 2;
  R.Runs = 20;
  return R;
}

void expectParts(const std::string &Text, std::initializer_list<const char *> Parts) {
  for (const char *Part : Parts)
    EXPECT_NE(Text.find(Part), std::string::npos) << Part << " is not in:\n" << Text;
}

} // namespace

TEST(SearchReport, text_hasCountsReasonsTimesAndTables) {
  expectParts(printSearchText(searched()),
              {"space TILE=8,16,32 where TILE < 64\n", "metrics for sm_90, nvcc 13.0.88",
               "times on NVIDIA H200", "     3 enumerated of 4 combinations\n", "     2 valid\n",
               "     1 invalid\n", "1 times: does not compile: too much shared data\n",
               "     2 selected\n", "* TILE=16", "  first\n",
               "winner: TILE=16, 0.750 of the first one's cost (0.740 to 0.760)\n",
               "mm is built with it\n", "best selected / best", "100.0 %"});
}

TEST(SearchReport, recalledSearch_saysThatNothingWasDone) {
  SearchRecord R = searched();
  R.Compiled = R.Timed = 0;
  R.Runs = 0;
  R.OutputKept = true;
  expectParts(printSearchText(R),
              {"mm is already built with it\n", "nothing was compiled or timed"});
}

TEST(SearchReport, textWithoutTimes_hasNoTimeColumns) {
  SearchRecord R = searched();
  R.NotTimed = "no GPU is present";
  for (SearchedConfiguration &C : R.Configurations)
    C.Times = {};
  R.Winner = R.Reference = std::nullopt;
  std::string Text = printSearchText(R);
  EXPECT_EQ(Text.find(" ratio"), std::string::npos) << Text;
  EXPECT_EQ(Text.find("winner"), std::string::npos) << Text;
}

TEST(SearchReport, json_isReadBack) {
  SearchRecord R = searched();
  std::string Json = printSearchJson(R);
  llvm::Expected<SearchRecord> Read = parseSearchJson(Json, "it");
  ASSERT_TRUE(bool(Read)) << llvm::toString(Read.takeError());
  EXPECT_EQ(Read->Inputs, R.Inputs);
  EXPECT_EQ(Read->Reference, R.Reference);
  EXPECT_EQ(Read->Winner, R.Winner);
  EXPECT_EQ(Read->Configurations[2].Invalid, R.Configurations[2].Invalid);
  EXPECT_EQ(Read->Configurations[1].Times.Confirmed, R.Configurations[1].Times.Confirmed);
  const SearchedKernel &K = Read->Configurations[0].Kernels.front();
  EXPECT_EQ(K.Launch.Shape, R.Configurations[0].Kernels.front().Launch.Shape);
  EXPECT_EQ(K.Launch.Block, LaunchSource::Configuration);
  EXPECT_EQ(K.Launch.Grid, LaunchSource::Trace);
  EXPECT_EQ(K.Launch.Launches, 3);
  EXPECT_EQ(K.Metrics.Counts->Instructions, 1000);
  EXPECT_FALSE(K.Metrics.Utilization);
  // Verdicts follow from the metrics and are not read.
  for (size_t I = 0; I < R.Configurations.size(); ++I)
    Read->Configurations[I].Verdict = R.Configurations[I].Verdict;
  Read->Carving = R.Carving;
  Read->Compiled = R.Compiled;
  Read->Timed = R.Timed;
  Read->Runs = R.Runs;
  EXPECT_EQ(printSearchJson(*Read), Json);
}

TEST(SearchReport, plot_hasTheValidConfigurations) {
  std::string Svg = printSearchPlot(searched());
  expectParts(Svg, {"<svg", "TILE=8", "TILE=16"});
  EXPECT_EQ(Svg.find("TILE=32"), std::string::npos);
}

TEST(SearchReport, otherJson_isRefused) {
  EXPECT_EQ(llvm::toString(parseSearchJson("{\"carve-search\": 2}", "it").takeError()),
            "it: expected a search of format 1 (\"carve-search\": 1)");
}
