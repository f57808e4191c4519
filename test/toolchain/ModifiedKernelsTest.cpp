// Modified versions of kernels: what ptxas makes of them, and how a timing run uses them. Recorded
// times take the place of the GPU: a script leaves the files that the probe would leave of the
// program.
#include "BuiltTools.h"

#include "Cubin/Assembler.h"
#include "Explain/Modified/ArithmeticOnly.h"
#include "Explain/Modified/MemoryOnly.h"
#include "Explain/Modified/ModifiedCode.h"
#include "Explain/Modified/ModifiedKernel.h"
#include "Explain/Modified/ModifiedKernels.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

namespace {

using Mix = std::vector<CodeMix>;

CodeMix sumOf(const Mix &M) {
  CodeMix Sum;
  for (const CodeMix &Depth : M) {
    Sum.Loads += Depth.Loads;
    Sum.Stores += Depth.Stores;
    Sum.Copies += Depth.Copies;
    Sum.Floats += Depth.Floats;
    Sum.Others += Depth.Others;
  }
  return Sum;
}

/// The recorded kernels with all their versions in one image.
class ModifiedCodeTest : public RealNvccTest {
protected:
  void SetUp() override {
    RealNvccTest::SetUp();
    if (IsSkipped())
      return;
    std::string Text = llvm::cantFail(readFile(CARVE_TEST_INPUTS "/ptx/modified.cuda-13.0.88.ptx"));
    PtxModule M = llvm::cantFail(PtxModule::parse(std::move(Text)));
    std::vector<ModifiedClone> Clones;
    for (const PtxEntry &E : M.entries())
      for (bool Rolled : {false, true}) {
        std::string Suffix = Rolled ? "_rolled" : "";
        add(Clones, E.Name, memoryOnly(M, E.Name, E.Name + "__memory" + Suffix), Rolled);
        add(Clones, E.Name, arithmeticOnly(M, E.Name, E.Name + "__arithmetic" + Suffix), Rolled);
      }
    auto Made = assemble(Tools, Runner, withModifiedClones(M, Clones), {"-arch=sm_90"});
    ASSERT_TRUE(bool(Made)) << llvm::toString(Made.takeError());
    Image = std::move(*Made);
  }

  static void add(std::vector<ModifiedClone> &Clones, const std::string &Entry,
                  llvm::Expected<std::string> Text, bool Rolled) {
    if (!Text)
      return llvm::consumeError(Text.takeError());
    Clones.push_back({Entry, Rolled ? llvm::cantFail(withoutUnrolling(*Text)) : *Text});
  }

  Mix mixOf(const std::string &Kernel) {
    auto M = codeMix(Image.CubinBytes, Kernel);
    if (M)
      return *M;
    ADD_FAILURE() << llvm::toString(M.takeError());
    return {};
  }
  KernelResources resources(const std::string &Kernel) {
    for (const KernelResources &R : Image.Kernels)
      if (R.Name == Kernel)
        return R;
    ADD_FAILURE() << "no " << Kernel;
    return {};
  }
  /// Returns the version of \p Kernel that keeps its loops.
  std::string memoryOf(const std::string &Kernel) {
    std::string Plain = Kernel + "__memory";
    return whyNotMemoryOnly(mixOf(Kernel), mixOf(Plain)).empty() ? Plain : Plain + "_rolled";
  }
  std::string arithmeticOf(const std::string &Kernel) {
    std::string Plain = Kernel + "__arithmetic";
    return whyNotArithmeticOnly(mixOf(Kernel), mixOf(Plain)).empty() ? Plain : Plain + "_rolled";
  }

  Assembled Image;
};

} // namespace

TEST_F(ModifiedCodeTest, modifiedVersions_haveTheirPartOfTheKernel) {
  for (const char *Kernel :
       {"copy", "fma_chain", "stencil", "matmul", "reduce", "gather", "spmv", "calls", "nbody",
        "halves", "staged", "ahead", "permuted", "table", "textured", "filled"}) {
    Mix Whole = mixOf(Kernel), Modified = mixOf(memoryOf(Kernel));
    EXPECT_EQ(whyNotMemoryOnly(Whole, Modified), "") << Kernel;
    EXPECT_LE(sumOf(Modified).Floats, sumOf(Whole).Floats / 10) << Kernel;
    EXPECT_EQ(resources(memoryOf(Kernel)).StaticSmemBytes, resources(Kernel).StaticSmemBytes)
        << Kernel;
  }
  CodeMix Stencil = sumOf(mixOf(memoryOf("stencil"))), Own = sumOf(mixOf("stencil"));
  EXPECT_LT(Stencil.Others, Own.Others);
  EXPECT_EQ(sumOf(mixOf(memoryOf("staged"))).Copies, sumOf(mixOf("staged")).Copies);
  EXPECT_GT(sumOf(mixOf("staged")).Copies, 0u);

  for (const char *Kernel : {"copy", "fma_chain", "stencil", "matmul", "reduce", "gather", "follow",
                             "calls", "nbody", "halves", "staged", "ahead", "filled"}) {
    Mix Whole = mixOf(Kernel), Modified = mixOf(arithmeticOf(Kernel));
    EXPECT_EQ(whyNotArithmeticOnly(Whole, Modified), "") << Kernel;
    EXPECT_EQ(sumOf(Modified).Loads + sumOf(Modified).Stores, 0u) << Kernel;
    EXPECT_EQ(resources(arithmeticOf(Kernel)).StaticSmemBytes, resources(Kernel).StaticSmemBytes)
        << Kernel;
  }

  // ptxas unrolls the remaining loop, but not the kernel's.
  EXPECT_NE(whyNotMemoryOnly(mixOf("nbody"), mixOf("nbody__memory")), "");
  EXPECT_EQ(memoryOf("nbody"), "nbody__memory_rolled");
  EXPECT_EQ(memoryOf("spmv"), "spmv__memory");
}

namespace {

/// A program of the recorded kernels' source. Everything but its launches is simulated.
class ModifiedKernelsTest : public BuiltToolsTest {
protected:
  void SetUp() override {
    BuiltToolsTest::SetUp();
    if (IsSkipped())
      return;
    build({"-O2", "-arch=sm_90", "-c", CARVE_TEST_INPUTS "/ptx/modified.cu", "-o", "m.o"});
    Trace =
        "carve-probe\t1\t1\t/app\n"
        "device\t0\tNVIDIA H200\tGPU-1\t9\t0\t132\t150000000000\t65536\t65536\t2048\t32\t233472\t"
        "232448\t49152\t1024\t13000\t580.159.03\t0\t0\t0\t0\n";
    std::vector<Unit> Units = store().units();
    ASSERT_EQ(Units.size(), 1u) << log();
    for (const std::string &Container : Units.front().Containers)
      Trace += "container\t" + Container + "\t100\tcuLibraryLoadData\n";
    for (const char *Kernel : {"matmul", "nbody", "histogram", "relax", "staged"})
      Trace += std::string("kernel\t") + Kernel + "\t64,64,1\t16,16,1\t2048\t0\t1,1,1\t0\t32\t0\t" +
               "10\t10000000\t900000\t0\n";
    write("trace", Trace + "end\n");
    write("program.sh", "F=$CARVE_PROBE_DIR/$$-1.probe\n"
                        "if [ -z \"$CARVE_PROBE_PLAN\" ]; then cat trace > $F; else\n"
                        "cat times > $F; cat $CARVE_PROBE_PLAN > plan\n"
                        "cat $(cut -f2 $CARVE_PROBE_IMAGES) > image; cat said; exit; fi\n"
                        "echo result\n");
    write("said", "result\n");
  }

  /// Returns the times in us of \p Kernel's variants in one replay. Warm times are half of these.
  static std::string replay(const std::string &Kernel, const std::vector<double> &Us,
                            const std::string &Verdict = "differs") {
    const std::string Place = Kernel + "\t64,64,1\t16,16,1\t0\t1,1,1\t0\t";
    std::string Text = "replayed\t" + Place + "1\t1\t100\t100\t1\t5\t5\t5\t5000\n";
    static const std::string Names[] = {"default", "control", "memory-only", "arithmetic-only"};
    for (size_t V = 1; V < Us.size(); ++V)
      Text += "verified\t" + Place + Names[V] + "\t" + (V > 1 ? Verdict : "equal") + "\twords 4\n";
    for (unsigned Round = 0; Round < 8 && Verdict != "stray"; ++Round)
      for (size_t V = 0; V < Us.size(); ++V)
        Text += "timed\t" + Place + (Round < 3 ? "screen\t" : "confirm\t") +
                std::to_string(Round < 3 ? Round : Round - 3) + "\t" + Names[V] + "\t" +
                std::to_string(unsigned(1000 * Us[V])) + "\t" +
                std::to_string(unsigned(500 * Us[V])) + "\n";
    return Text;
  }

  llvm::Expected<std::map<std::string, ModifiedTimes>>
  time(const std::string &Times, const std::vector<std::string> &Kernels = {}) {
    write("times", Trace + Times + "end\n");
    TuneRequest Request;
    Request.Workload.Argv = {"/bin/sh", "program.sh"};
    Request.Workload.Dir = Work.path();
    Request.Options.DevicesDir = CARVE_SOURCE_DIR "/share/carve-nvcc/devices";
    Request.Gpus.ProcDir = Request.Gpus.DevDir = Request.Gpus.Nvml = path("none");
    Request.Gpus.LockDir = Work.path();
    ProbeRecord Traced;
    if (llvm::Error E = readProbeFile(Trace + "end\n", "trace", Traced))
      return E;
    UnitStore Store = store();
    return timeModified(Request, Traced, Store, Tools, Runner, Kernels);
  }

  std::string Trace;
};

} // namespace

TEST_F(ModifiedKernelsTest, modifiedVersions_areTimedWithTheKernels) {
  auto Times =
      time(replay("matmul", {1500, 1500, 900, 750}) + replay("nbody", {1500, 1500, 150, 1425}));
  ASSERT_TRUE(bool(Times)) << llvm::toString(Times.takeError());
  ASSERT_EQ(Times->size(), 5u);
  const ModifiedTimes &Matmul = Times->at("matmul"), &Nbody = Times->at("nbody");
  EXPECT_EQ(Matmul.Reason, "");
  // The 1 ms in the trace is between 1.5 ms cold and 0.75 ms warm.
  EXPECT_NEAR(Matmul.WholeNs, 1e6, 1);
  EXPECT_NEAR(Matmul.MemoryNs, 0.6e6, 1);
  EXPECT_NEAR(Matmul.ArithmeticNs, 0.5e6, 1);
  ASSERT_TRUE(Matmul.overlap());
  EXPECT_NEAR(*Matmul.overlap(), 0.2, 1e-4);
  EXPECT_NEAR(Nbody.ArithmeticNs, 0.95e6, 1);
  EXPECT_NEAR(*Nbody.overlap(), 0.5, 1e-4);
  EXPECT_EQ(Times->at("histogram").Reason,
            "memory-only: it uses atomic operations on global memory; arithmetic-only: it uses "
            "atomic operations on global memory");
  EXPECT_EQ(Times->at("histogram").WholeNs, 0);
  EXPECT_FALSE(Times->at("relax").overlap());
  EXPECT_EQ(Times->at("staged").Reason,
            "memory-only: it was not timed; arithmetic-only: it was not timed");

  std::string Plan = read("plan");
  EXPECT_NE(Plan.find("\nkernel\tnbody\treplay\tnone\n"
                      "variant\tnbody\tcontrol\tnbody__carve_control\t0\n"
                      "variant\tnbody\tmemory-only\tnbody__carve_memory_rolled\t0\n"
                      "variant\tnbody\tarithmetic-only\tnbody__carve_arithmetic\t0\n"
                      "shape\tnbody\t"),
            std::string::npos)
      << Plan;
  for (const char *Kernel : {"matmul", "nbody"})
    for (const char *Variant : {"memory-only", "arithmetic-only"})
      EXPECT_NE(Plan.find(std::string("measure\t") + Kernel + "\t" + Variant + "\n"),
                std::string::npos)
          << Plan;
  EXPECT_EQ(Plan.find("histogram"), std::string::npos);

  // With fewer registers more of their blocks would be resident.
  auto Image = parseCubin(read("image"));
  ASSERT_TRUE(bool(Image)) << llvm::toString(Image.takeError());
  std::map<std::string, KernelResources> Of;
  for (const CubinKernel &K : Image->Kernels)
    Of[K.Resources.Name] = K.Resources;
  for (const char *Kernel : {"matmul", "staged"})
    for (const char *Version : {"__carve_memory", "__carve_arithmetic"}) {
      const KernelResources &Its = Of[std::string(Kernel) + Version];
      EXPECT_EQ(Its.RegsPerThread, Of[Kernel].RegsPerThread) << Kernel << Version;
      EXPECT_EQ(Its.StaticSmemBytes, Of[Kernel].StaticSmemBytes) << Kernel << Version;
    }
}

TEST_F(ModifiedKernelsTest, unsoundVersions_haveNoTimes) {
  // The version writes elsewhere.
  auto Times = time(replay("matmul", {1500, 1500, 900, 750}, "stray"), {"matmul"});
  ASSERT_TRUE(bool(Times)) << llvm::toString(Times.takeError());
  const ModifiedTimes &T = Times->at("matmul");
  EXPECT_EQ(T.MemoryNs, 0);
  EXPECT_EQ(T.Reason, "memory-only: it wrote where the kernel does not (words 4); "
                      "arithmetic-only: it wrote where the kernel does not (words 4)");
  EXPECT_FALSE(T.overlap());

  // The program prints something else.
  write("said", "another result\n");
  auto Printed = time(replay("matmul", {1500, 1500, 900, 750}), {"matmul"});
  ASSERT_TRUE(bool(Printed)) << llvm::toString(Printed.takeError());
  const ModifiedTimes &P = Printed->at("matmul");
  EXPECT_EQ(P.WholeNs, 0);
  EXPECT_EQ(P.MemoryNs, 0);
  EXPECT_NE(P.Reason.find("the output of the timing run differs: "), std::string::npos) << P.Reason;

  // The kernel cannot be replayed.
  llvm::sys::fs::remove(path("plan"));
  Trace += "hazard\tipc\tcuIpcGetMemHandle\n";
  auto Shared = time("", {"matmul"});
  ASSERT_TRUE(bool(Shared)) << llvm::toString(Shared.takeError());
  EXPECT_EQ(Shared->at("matmul").Reason,
            "it cannot be replayed: the program shares memory with other processes");
  EXPECT_FALSE(exists("plan")) << "no run is needed";
}
