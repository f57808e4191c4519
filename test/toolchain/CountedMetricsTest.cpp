// `carve metrics --count` from a compile to its report. Recorded counts take the place of the GPU:
// a script leaves the files that the probe would leave of the program.
#include "BuiltTools.h"

#include "Metrics/CountedMetrics.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

constexpr char Steps[] = "_Z5stepsPKiPi", Walks[] = "_Z5walksPKiPi";

class CountedMetricsTest : public BuiltToolsTest {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    build({"-O2", "-arch=sm_90", "-c", CARVE_SOURCE_DIR "/test/gpu/apps/counted.cu", "-o", "c.o"});
    // The second kernel takes 1/200 of the time.
    Trace =
        "carve-probe\t1\t1\t/app\n"
        "device\t0\tNVIDIA H200\tGPU-1\t9\t0\t132\t150000000000\t65536\t65536\t2048\t32\t233472\t"
        "232448\t49152\t1024\t13000\t580.159.03\t0\t0\t0\t0\n";
    std::vector<Unit> Units = store().units();
    ASSERT_EQ(Units.size(), 1u) << log();
    for (const std::string &Container : Units.front().Containers)
      Trace += "container\t" + Container + "\t100\tcuLibraryLoadData\n";
    auto Kernel = [](const std::string &Name, const std::string &Grid, const std::string &Ns) {
      return "kernel\t" + Name + "\t" + Grid + ",1,1\t256,1,1\t0\t0\t1,1,1\t0\t16\t0\t10\t" + Ns +
             "\t1\t0\n";
    };
    Trace += Kernel(Steps, "150", "995000") + Kernel(Walks, "148", "5000");
    write("trace", Trace + "end\n");
    write("program.sh", "F=$CARVE_PROBE_DIR/$$-1.probe\n"
                        "if [ -z \"$CARVE_PROBE_COUNTERS\" ]; then cat trace > $F; else\n"
                        "cat counts > $F; echo $CARVE_PROBE_COUNTERS > counters\n"
                        "cat $(cut -f2 $CARVE_PROBE_IMAGES) > image; fi\n"
                        "echo result\n");
  }

  /// Writes counts for the blocks of `steps`: guard, start, before the loop, loop, store, end.
  void writeCounts(const std::string &More = "") {
    std::string Text = Trace;
    const uint64_t Counts[] = {38400, 37888, 36864, 681984, 37888, 38400};
    for (auto [Block, Count] : llvm::enumerate(Counts))
      Text += "counted\t__carve_counts_0\t" + std::to_string(Block) + "\t" + std::to_string(Count) +
              "\n";
    // This is how often the loop was left.
    Text += "counted\t__carve_counts_0\t10\t36864\n";
    write("counts", Text + More + "end\n");
  }

  llvm::Expected<MetricsReport> count(Words Arguments = {}) {
    Arguments.insert(Arguments.begin(), "--count");
    Arguments.insert(Arguments.end(), {"--", "/bin/sh", "program.sh"});
    MetricsOptions Options = llvm::cantFail(parseMetricsOptions(Arguments));
    TuneRequest Request = countRequest(Options);
    Request.Workload.Dir = Work.path();
    Request.Options.DevicesDir = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";
    Request.Gpus.ProcDir = Request.Gpus.DevDir = Request.Gpus.Nvml = path("none");
    Request.Gpus.LockDir = Work.path();
    UnitStore Store = store();
    return countMetrics(Options, Request, Store, Tools, Runner);
  }

  std::string Trace;
};

} // namespace

TEST_F(CountedMetricsTest, hotKernel_isCounted) {
  writeCounts();
  auto Report = count();
  ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
  EXPECT_EQ(read("counters"), "__carve_counts_0\n");
  EXPECT_NE(read("image").find("__carve_counts_0"), std::string::npos);
  EXPECT_TRUE(Report->Warnings.empty() && Report->Left.empty());
  ASSERT_EQ(Report->Kernels.size(), 1u) << "the other one takes too little time";
  const KernelMetrics &K = Report->Kernels.front();
  EXPECT_EQ(K.Kernel, Steps);
  EXPECT_EQ(K.CountedThreads, 38400u);
  EXPECT_EQ(K.Shape.Grid[0], 150u);
  ASSERT_EQ(K.Ptx->Loops.size(), 1u);
  EXPECT_EQ(K.Ptx->Loops[0].Trips, 18.5);
  EXPECT_EQ(K.Ptx->Loops[0].Source, TripSource::Counted);
  EXPECT_DOUBLE_EQ(K.Ptx->Counts.GlobalLoads, 681984 / 38400.);
  ASSERT_TRUE(K.Code && K.Metrics.Efficiency);
  EXPECT_EQ(K.Code->Loops[0].Source, TripSource::Matched);
  EXPECT_DOUBLE_EQ(*K.Metrics.Efficiency, efficiency(K.Ptx->Counts.Instructions, 38400));
  EXPECT_NE(printMetricsText(*Report).find("as counted over 38400 threads"), std::string::npos);
}

TEST_F(CountedMetricsTest, namedKernel_thatDidNotRun_isLeftOut) {
  write("counts", Trace + "end\n");
  auto Report = count({"--kernel=walks"});
  ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
  EXPECT_TRUE(Report->Kernels.empty());
  ASSERT_EQ(Report->Left.size(), 1u);
  EXPECT_EQ(Report->Left[0].Kernel, Walks);
  EXPECT_EQ(Report->Left[0].Reason.text(), "did not run with counters");
  auto None = count({"--kernel=none"});
  ASSERT_FALSE(bool(None));
  EXPECT_EQ(llvm::toString(None.takeError()), "--kernel: the program launched no kernel `none`");
}

TEST_F(CountedMetricsTest, lostCounts_fail) {
  writeCounts("uncounted\ta kernel failed\n");
  auto Report = count();
  ASSERT_FALSE(bool(Report));
  EXPECT_EQ(llvm::toString(Report.takeError()), "not counted: a kernel failed");
}
