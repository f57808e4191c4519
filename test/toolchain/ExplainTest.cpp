// `carve explain -- COMMAND` from a compile to its report. A recorded trace and recorded counts
// take the place of the GPU: a script leaves the files that the probe would leave of the program.
#include "BuiltTools.h"

#include "Explain/LimitsPipeline.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

constexpr char Chase[] = "_Z5chasePKjPji", Fill[] = "_Z4fillPj";

class ExplainTest : public BuiltToolsTest {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    build({"-O3", "-arch=sm_90", "-c",
           CARVE_SOURCE_DIR "/share/carve-nvcc/examples/limits/chase.cu", "-o", "c.o"});
    Trace = "carve-probe\t1\t1\t/app\n"
            "device\t0\tNVIDIA H200\tGPU-1\t9\t0\t132\t150000000000\t65536\t65536\t2048\t32\t"
            "233472\t232448\t49152\t1024\t13000\t580.159.03\t1980000\t3201000\t6144\t62914560\n"
            "span\t100\t107000000\t105100000\n";
    std::vector<Unit> Units = store().units();
    ASSERT_EQ(Units.size(), 1u) << log();
    for (const std::string &Container : Units.front().Containers)
      Trace += "container\t" + Container + "\t100\tcuLibraryLoadData\n";
    Trace += std::string("kernel\t") + Chase +
             "\t128,1,1\t32,1,1\t0\t0\t1,1,1\t0\t22\t0\t150\t105000000\t690000\t0\n" + "kernel\t" +
             Fill + "\t262144,1,1\t256,1,1\t0\t0\t1,1,1\t0\t8\t0\t1\t100000\t100000\t0\n";
    write("trace", Trace + "end\n");
    write("counts", Trace + "end\n");
    write("program.sh", "F=$CARVE_PROBE_DIR/$$-1.probe\n"
                        "if [ -z \"$CARVE_PROBE_COUNTERS\" ]; then cat trace > $F; else\n"
                        "cat counts > $F; fi\necho result\n");
  }

  llvm::Expected<LimitsReport> explain(Words Arguments = {}, const LimitSources &Sources = {},
                                       const TuningReport *Tuned = nullptr) {
    Arguments.insert(Arguments.end(), {"--", "/bin/sh", "program.sh"});
    ExplainOptions Options = llvm::cantFail(parseExplainOptions(Arguments));
    TuneRequest Request = explainRequest(Options);
    Request.Workload.Dir = Work.path();
    Request.Options.DevicesDir = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";
    Request.Gpus.ProcDir = Request.Gpus.DevDir = Request.Gpus.Nvml = path("none");
    Request.Gpus.LockDir = Work.path();
    UnitStore Store = store();
    return explainLimits(Options, Request, Tuned, Sources, Store, Tools, Runner);
  }

  /// Returns the report as a person sees it.
  std::string text(const LimitSources &Sources = {}) {
    auto Report = explain({}, Sources);
    if (Report)
      return printLimitsText(*Report);
    ADD_FAILURE() << llvm::toString(Report.takeError());
    return "";
  }

  std::string Trace;
};

/// The hardware counters that a GPU gives for a pointer chase.
LimitSources sources(std::string Refused = "") {
  LimitSources S;
  S.Counters = [Refused](TuneState &, const std::vector<TracedKernel> &Kernels) {
    CountedKernels C;
    C.Runs = 3;
    C.Refused = Refused;
    EXPECT_EQ(Kernels.size(), 1u);
    if (Refused.empty()) {
      C.Kernels[Chase].Launches = 2;
      C.Kernels[Chase].DramShare = 0.03;
      C.Kernels[Chase].IssueShare = 0.002;
      C.Kernels[Chase].ActiveWarpsPerSm = 1;
    }
    return llvm::Expected<CountedKernels>(std::move(C));
  };
  S.Modified = [](TuneState &, const ProbeRecord &, const JobContext &,
                  const std::vector<std::string> &Names) {
    std::map<std::string, ModifiedTimes> M;
    EXPECT_EQ(Names, std::vector<std::string>{Chase});
    M[Chase] = {700e3, 690e3, 20e3, ""};
    return llvm::Expected<std::map<std::string, ModifiedTimes>>(std::move(M));
  };
  return S;
}

} // namespace

TEST_F(ExplainTest, traceAndCode_giveAGuess) {
  auto Report = explain();
  ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
  ASSERT_EQ(Report->Kernels.size(), 1u) << "the other one takes 1/1000 of the time";
  const KernelLimits &K = Report->Kernels.front();
  EXPECT_EQ(K.Evidence.Kernel, Chase);
  EXPECT_EQ(K.Evidence.MeanNs, 700e3);
  EXPECT_EQ(K.Limit.Kind, Limit::Latency);
  EXPECT_EQ(K.Limit.Basis, LimitBasis::Counts);
  EXPECT_EQ(K.Limit.Sure, Certainty::Guessed) << "nothing ran with counters: trips are assumed";
  EXPECT_FALSE(K.Evidence.TripsKnown);
  ASSERT_TRUE(Report->Program.busyShare());
  EXPECT_NEAR(*Report->Program.busyShare(), 0.98, 0.01);
  EXPECT_EQ(Report->Runs, 2u);
  EXPECT_NE(printLimitsText(*Report).find("(counts and timing, a guess)"), std::string::npos);

  // The report shows what the last tuning tried, too.
  {
    TuningReport Tuned;
    Tuned.Date = "2026-11-20T10:00:00Z";
    Tuned.Device = "NVIDIA H200";
    Tuned.Kernels.emplace_back();
    Tuned.Kernels[0].Mangled = Chase;
    Tuned.Kernels[0].Compiled = 3;
    Tuned.Kernels[0].RegsBefore = 22;
    VariantReport V;
    V.Name = "r24";
    V.Ratio = 1.01;
    Tuned.Kernels[0].Variants = {V};
    auto Report = explain({}, {}, &Tuned);
    ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
    EXPECT_NE(printLimitsText(*Report).find("none is faster than the default"), std::string::npos);
    // The last tuning was of other code, or on another GPU.
    Tuned.Kernels[0].RegsBefore = 40;
    Report = explain({}, {}, &Tuned);
    ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
    EXPECT_FALSE(Report->Kernels.front().Evidence.Tried);
    ASSERT_FALSE(Report->Notes.empty());
    EXPECT_NE(Report->Notes.back().find("had 40 registers in the last tuning and now has 22"),
              std::string::npos)
        << Report->Notes.back();
    Tuned.Kernels[0].RegsBefore = 22;
    Tuned.Device = "NVIDIA A100";
    Report = explain({}, {}, &Tuned);
    ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
    EXPECT_FALSE(Report->Kernels.front().Evidence.Tried);
    EXPECT_NE(Report->Notes.back().find("was on NVIDIA A100"), std::string::npos);
  }
}

TEST_F(ExplainTest, programWithoutKernels_fails) {
  write("trace", llvm::StringRef(Trace).split("kernel\t").first.str() + "end\n");
  auto Report = explain();
  ASSERT_FALSE(bool(Report));
  std::string Message = llvm::toString(Report.takeError());
  EXPECT_NE(Message.find("launched no kernel"), std::string::npos) << Message;
  EXPECT_EQ(Message.find("''"), std::string::npos) << Message;
}

TEST_F(ExplainTest, countedTrips_areKnown) {
  // The blocks of `chase` are start, test, four steps at once, the rest, and store. Each runs in
  // 4096 threads.
  std::string Text = Trace;
  for (unsigned Block = 0; Block < 12; ++Block)
    Text += "counted\t__carve_counts_0\t" + std::to_string(Block) + "\t" +
            std::to_string(Block == 3 ? 4096 * 250 * 150 : 4096 * 150) + "\n";
  write("counts", Text + "end\n");
  auto Report = explain();
  ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
  const KernelLimits &K = Report->Kernels.front();
  EXPECT_TRUE(K.Evidence.TripsKnown);
  EXPECT_EQ(K.Limit.Sure, Certainty::Derived);
  EXPECT_EQ(K.Limit.Kind, Limit::Latency);
  EXPECT_GT(K.Evidence.Counts->GlobalLoads, 250);

  // Lost counts give a note.
  {
    write("counts", Trace + "uncounted\ta kernel failed\nend\n");
    auto Report = explain();
    ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
    EXPECT_TRUE(Report->Kernels.front().Evidence.Counts);
    ASSERT_FALSE(Report->Notes.empty());
    EXPECT_NE(Report->Notes.front().find("a kernel failed"), std::string::npos);
  }
}

TEST_F(ExplainTest, countersAndModifiedKernels_giveAMeasurement) {
  auto Report = explain({}, sources());
  ASSERT_TRUE(bool(Report)) << llvm::toString(Report.takeError());
  const KernelLimits &K = Report->Kernels.front();
  EXPECT_EQ(K.Limit.Sure, Certainty::Measured);
  EXPECT_EQ(K.Limit.Basis, LimitBasis::Counters);
  EXPECT_EQ(Report->Runs, 6u);
  EXPECT_TRUE(llvm::any_of(K.Findings, [](const Finding &F) { return F.Topic == "overlap"; }));
  std::string Refused = text(sources("ERR_NVGPUCTRPERM"));
  EXPECT_NE(Refused.find("no hardware counters: ERR_NVGPUCTRPERM"), std::string::npos) << Refused;
  EXPECT_NE(Refused.find("limited by latency"), std::string::npos) << Refused;
  // Counters that are off are not even tried.
  LimitSources Never = sources();
  Never.Counters = [](TuneState &, const std::vector<TracedKernel> &) {
    ADD_FAILURE() << "counted";
    return llvm::Expected<CountedKernels>(CountedKernels());
  };
  auto Off = explain({"--counters=off"}, Never);
  ASSERT_TRUE(bool(Off)) << llvm::toString(Off.takeError());
  EXPECT_EQ(Off->Kernels.front().Limit.Basis, LimitBasis::Counts);

  // Kernels can be given by name.
  {
    auto Both = explain({"fill"});
    ASSERT_TRUE(bool(Both)) << llvm::toString(Both.takeError());
    ASSERT_EQ(Both->Kernels.size(), 1u) << "a named kernel counts, no matter how short it runs";
    EXPECT_EQ(Both->Kernels.front().Evidence.Kernel, Fill);
    auto None = explain({"nobody"});
    ASSERT_FALSE(bool(None));
    EXPECT_EQ(llvm::toString(None.takeError()),
              "carve explain: the program launched no kernel 'nobody', expected one of "
              "chase(unsigned int const*, unsigned int*, int), fill(unsigned int*)");
  }
}
