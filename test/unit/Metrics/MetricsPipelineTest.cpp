#include "Metrics/CountedMetrics.h"

#include "Support/Error.h"
#include "Support/Files.h"

#include <gtest/gtest.h>

using namespace carve;

namespace {

std::string wrong(std::vector<std::string> Args) {
  auto Options = parseMetricsOptions(Args);
  return Options ? "" : llvm::toString(Options.takeError());
}

/// Returns the metrics of the recorded cubin, and fails if nvcc is asked for.
llvm::Expected<MetricsReport> metricsOf(std::vector<std::string> Args) {
  MetricsOptions O = llvm::cantFail(parseMetricsOptions(Args));
  ProcessRunner Runner;
  auto NoTools = []() -> llvm::Expected<Toolchain> { return malformed("nvcc was asked for"); };
  return findMetrics(O, NoTools, Runner, CARVE_SOURCE_DIR "/share/carve-nvcc/devices");
}

const std::string Recorded = CARVE_TEST_INPUTS "/ptx/kernels.sm_90.cuda-13.0.88.cubin";

} // namespace

TEST(MetricsOptions, parse_validWords_setOptions) {
  MetricsOptions O = llvm::cantFail(parseMetricsOptions(
      {"--arch=sm_80,sm_90", "--block=32x8", "--grid=64x64", "--trips=20", "--trips=3=7",
       "--trips=a::scale:2=1.5", "--trips", "K:L83=128", "--dynamic-smem=64", "--format=json",
       "x.cu", "--", "-O3", "-lineinfo"}));
  EXPECT_EQ(O.Archs, (std::vector<std::string>{"sm_80", "sm_90"}));
  EXPECT_EQ(O.Block, (std::array<unsigned, 3>{32, 8, 1}));
  EXPECT_EQ(O.Grid, (std::array<unsigned, 3>{64, 64, 1}));
  EXPECT_EQ(O.AssumedTrips, 20);
  EXPECT_EQ(O.DynamicSmemBytes, 64u);
  EXPECT_TRUE(O.Json);
  EXPECT_EQ(O.File, "x.cu");
  EXPECT_EQ(O.NvccOptions, (std::vector<std::string>{"-O3", "-lineinfo"}));
  ASSERT_EQ(O.Trips.size(), 3u);

  TripCounts OfScale = tripCountsFor(O, "_ZN1a5scaleEPf");
  EXPECT_EQ(OfScale.ByNumber, (std::map<unsigned, double>{{3, 7}, {2, 1.5}}));
  EXPECT_TRUE(OfScale.ByLine.empty());
  TripCounts OfK = tripCountsFor(O, "K");
  EXPECT_EQ(OfK.ByNumber, (std::map<unsigned, double>{{3, 7}}));
  EXPECT_EQ(OfK.ByLine, (std::map<unsigned, double>{{83, 128}}));
}

TEST(MetricsOptions, parse_wrongWord_failsWithUsage) {
  EXPECT_EQ(wrong({}), "metrics: no file, expected one FILE.cu, FILE.ptx or FILE.cubin");
  EXPECT_EQ(wrong({"a.cu", "b.cu"}),
            "metrics: `a.cu b.cu`, expected one FILE.cu, FILE.ptx or FILE.cubin");
  EXPECT_EQ(wrong({"a.o"}), "metrics: `a.o`, expected one FILE.cu, FILE.ptx or FILE.cubin");
  for (const char *Trips : {"0", "-3", "x", "K:1=", "K:0=4", "K:=4", "1=0", "K:L=4", "nan"})
    EXPECT_EQ(wrong({std::string("--trips=") + Trips, "a.cu"}),
              std::string("--trips: `") + Trips +
                  "`, expected N, LOOP=N or LLINE=N, N above 0, optionally after `KERNEL:`");
  EXPECT_EQ(wrong({"--grid=0", "a.cu"}), "--grid: `0`, expected X, XxY or XxYxZ blocks");
  EXPECT_EQ(wrong({"--block=2048", "a.cu"}),
            "--block: `2048` exceeds 1024 in dimension 1, expected X, XxY or XxYxZ");
}

TEST(MetricsOfCubin, cubin_needsNoNvcc) {
  MetricsReport R = llvm::cantFail(metricsOf({"--block=128", "--grid=4", Recorded}));
  auto Av = llvm::find_if(R.Kernels, [](const KernelMetrics &K) { return K.Kernel == "_Z2avPf"; });
  ASSERT_NE(Av, R.Kernels.end());
  EXPECT_EQ(Av->Arch, "sm_90");
  EXPECT_FALSE(Av->Ptx.has_value());
  ASSERT_TRUE(Av->Code.has_value());
  EXPECT_EQ(Av->Code->Counts.SharedAccesses, 2);
  EXPECT_EQ(Av->Metrics.WarpsPerBlock, 4u);
  EXPECT_DOUBLE_EQ(Av->Metrics.Efficiency.value(), 1 / (Av->Code->Counts.Instructions * 512));
  EXPECT_GT(Av->Metrics.Utilization.value(), 0);

  std::string Json = printMetricsJson(R), Text = printMetricsText(R);
  EXPECT_NE(Json.find("\"ptx\": null"), std::string::npos);
  EXPECT_NE(Json.find("\"shared_accesses\": 2"), std::string::npos);
  EXPECT_NE(Text.find("av(float*)  [sm_90]"), std::string::npos);
  EXPECT_NE(Text.find("(of the machine code)"), std::string::npos);
}

TEST(MetricsOfCubin, tripsOfAnUnknownLoop_fail) {
  auto R = metricsOf({"--trips=99=4", Recorded});
  ASSERT_FALSE(bool(R));
  EXPECT_EQ(llvm::toString(R.takeError()),
            "--trips: no loop 99 in " + Recorded + "; without --trips the report lists the loops");
}

TEST(MetricsOfCubin, tripsOfAnUnknownKernel_fail) {
  auto R = metricsOf({"--trips=none:1=4", Recorded});
  ASSERT_FALSE(bool(R));
  EXPECT_EQ(llvm::toString(R.takeError()), "--trips: no kernel `none` in " + Recorded);
}

TEST(MetricsOptions, count_takesAProgramAndNoFile) {
  MetricsOptions O = llvm::cantFail(
      parseMetricsOptions({"--count", "--kernel=a::scale", "--kernel=K", "--trips=K:3=7",
                           "--timeout=5", "--stdin=in", "--", "./app", "--count"}));
  EXPECT_TRUE(O.Count);
  EXPECT_EQ(O.Kernels, (std::vector<std::string>{"a::scale", "K"}));
  TuneRequest R = countRequest(O);
  EXPECT_EQ(R.Workload.Argv, (std::vector<std::string>{"./app", "--count"}));
  EXPECT_EQ(R.Workload.TimeoutS, 5);
  EXPECT_EQ(R.Workload.StdinPath, "in");
  EXPECT_EQ(R.Options.LeastShare, 0) << "a kernel that is named counts, however short it runs";
  EXPECT_GT(
      countRequest(llvm::cantFail(parseMetricsOptions({"--count", "--", "a"}))).Options.LeastShare,
      0);
  EXPECT_TRUE(isNameOf("a::scale", "_ZN1a5scaleEPf"));
  EXPECT_TRUE(isNameOf("a::scale(float*)", "_ZN1a5scaleEPf"));
  EXPECT_FALSE(isNameOf("scale", "_ZN1a5scaleEPf"));

  EXPECT_EQ(wrong({"--count"}),
            "metrics: no command, expected: carve metrics --count [options] -- COMMAND...");
  EXPECT_EQ(wrong({"--count", "x.cu", "--", "./app"}),
            "metrics: `x.cu`, expected: carve metrics --count [options] -- COMMAND...");
  for (const char *OfFiles : {"--arch=sm_90", "--block=32", "--grid=8", "--dynamic-smem=8"})
    EXPECT_EQ(wrong({"--count", OfFiles, "--", "./app"}),
              "metrics: --count takes architecture and launch from the program, expected no "
              "--arch, --block, --grid or --dynamic-smem");
  EXPECT_EQ(wrong({"--kernel=K", "x.cu"}), "metrics: --kernel, --timeout and --stdin need --count");
}
