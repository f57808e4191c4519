// Hardware counters of kernels for which the right values are known.
#include "GpuTesting.h"

#include "Explain/HardwareCounters.h"

using namespace carve;
using namespace carve::test;

namespace {

constexpr double CopiedBytes = 2.0 * 4 * (32 << 20);

class HardwareCounters : public GpuTest {
protected:
  /// The counters are read once for all tests.
  static void count() {
    TuneRequest Request;
    Request.Workload.Argv = {program("counters")};
    Request.Workload.Dir = workDir();
    Request.Workload.TimeoutS = 60;
    Request.Probe = machine().Probe;
    Trace = runProbed(Request.Workload.Argv).Probe;
    ProcessRunner Runner;
    Counted = valueOf(countHardware(Request, tracedKernels(Trace), Runner, /*Gpus=*/nullptr));
  }

  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped() || HasFailure())
      return;
    static const bool Made = [] {
      count();
      return true;
    }();
    (void)Made;
    // The machine decides whether they are permitted.
    if (!Counted.Refused.empty())
      GTEST_SKIP() << "no hardware counters: " << Counted.Refused;
  }

  KernelCounters of(const std::string &Name) const {
    for (const auto &[Kernel, C] : Counted.Kernels)
      if (llvm::StringRef(Kernel).contains(Name))
        return C;
    ADD_FAILURE() << Name << " was not counted";
    return {};
  }

  /// Returns everything that was counted, for a failure's message.
  static std::string text() {
    std::string All = std::to_string(Counted.Runs) + " runs\n";
    for (const auto &[Kernel, C] : Counted.Kernels) {
      All += Kernel + ": " + std::to_string(C.Launches) + " launches, pipe " + C.Pipe;
      for (const auto &[Name, Value] : {std::pair{"ns", C.DurationNs},
                                        {"DRAM", C.DramShare},
                                        {"L2", C.L2Share},
                                        {"L1", C.L1Share},
                                        {"shared", C.SharedShare},
                                        {"issue", C.IssueShare},
                                        {"pipe", C.PipeShare},
                                        {"warps", C.ActiveWarpsPerSm},
                                        {"DRAM bytes", C.DramBytes},
                                        {"L2 bytes", C.L2Bytes},
                                        {"instructions", C.Instructions},
                                        {"local", C.LocalInstructions}})
        All += std::string(", ") + Name + " " + (Value ? std::to_string(*Value) : "-");
      All += "\n";
    }
    return All;
  }

  double tracedNs(const std::string &Name) const {
    for (const KernelLaunches &K : Trace.Kernels)
      if (llvm::StringRef(K.Kernel).contains(Name))
        return double(K.TotalNs) / double(K.Launches);
    return 0;
  }

  static inline ProbeRecord Trace;
  static inline CountedKernels Counted;
};

} // namespace

TEST_F(HardwareCounters, counters_haveTheKnownValues) {
  SCOPED_TRACE(text());
  EXPECT_LE(Counted.Runs, 5u + 5u) << "one for the output, four passes; more to compare outputs";
  KernelCounters Copies = of("copies");
  EXPECT_EQ(Copies.Launches, 4u);
  EXPECT_GT(Copies.DramShare.value_or(0), 0.5);
  EXPECT_NEAR(Copies.DramBytes.value_or(0), CopiedBytes, 0.2 * CopiedBytes);
  EXPECT_GT(Copies.L2Bytes.value_or(0), 0.9 * CopiedBytes);
  EXPECT_LT(Copies.IssueShare.value_or(1), 0.3);
  EXPECT_EQ(Copies.LocalInstructions, 0);
  EXPECT_GT(Copies.ActiveWarpsPerSm.value_or(0), 32);

  KernelCounters Multiplies = of("multiplies");
  EXPECT_GT(Multiplies.IssueShare.value_or(0), 0.5);
  EXPECT_GT(Multiplies.PipeShare.value_or(0), 0.4);
  EXPECT_EQ(Multiplies.Pipe, "fma");
  EXPECT_LT(Multiplies.DramShare.value_or(1), 0.1);
  // The kernel does 8 multiplications in each of 4096 rounds, with 132 * 8 blocks of 8 warps.
  EXPECT_NEAR(Multiplies.Instructions.value_or(0), 8.0 * 4096 * 132 * 8 * 8,
              0.3 * 8 * 4096 * 132 * 64);

  KernelCounters Remembers = of("remembers");
  EXPECT_GT(Remembers.LocalInstructions.value_or(0), 0);
  EXPECT_LT(Remembers.LocalInstructions.value_or(0), Remembers.Instructions.value_or(0));
}

TEST_F(HardwareCounters, counters_areOfTheKernelAlone) {
  SCOPED_TRACE(text());
  // Otherwise each would contain 0.1 ms of CUPTI's own work.
  for (const char *Name : {"copies", "multiplies"}) {
    double Ns = of(Name).DurationNs.value_or(0);
    EXPECT_NEAR(Ns, tracedNs(Name), 0.3 * tracedNs(Name)) << Name;
  }
  EXPECT_LT(of("brief").DurationNs.value_or(1e9), 30'000);
  EXPECT_GT(of("brief").Instructions.value_or(0), 0);
}

TEST_F(HardwareCounters, launchOfAGraph_isCountedAsAnyOther) {
  SCOPED_TRACE(text());
  KernelCounters InGraph = of("inGraph"), Plain = of("brief");
  EXPECT_EQ(InGraph.Launches, 4u);
  EXPECT_GT(InGraph.Instructions.value_or(0), 0);
  EXPECT_LT(InGraph.DurationNs.value_or(1e9), 30'000);
  // Both do the same with other constants.
  EXPECT_NEAR(InGraph.Instructions.value_or(0), Plain.Instructions.value_or(0),
              0.2 * Plain.Instructions.value_or(0));
}
