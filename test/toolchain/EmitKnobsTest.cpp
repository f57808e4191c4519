// Decisions of every knob in one image. A decision that holds gives the code of its edit. One that
// may not be applied leaves the default, with a reason. The other kernels do not change.
#include "RealNvcc.h"

#include "Cubin/Assembler.h"
#include "Emit/UnitEmitter.h"
#include "Nvcc/KeptCompile.h"
#include "Search/VariantEdit.h"
#include "Support/Error.h"

#include <map>
#include <set>

using namespace carve;

namespace {

constexpr const char *Kernels = R"(
#include <cstdio>
extern "C" {
__global__ void spills(float *P, int N) {
  float A[48];
  for (int I = 0; I < 48; ++I) A[I] = P[I * threadIdx.x];
  for (int J = 0; J < N; ++J)
    for (int I = 0; I < 48; ++I) A[I] = A[(I + 3) % 48] * 1.25f + A[I] * P[J];
  for (int I = 0; I < 48; ++I) P[I * 32 + threadIdx.x] = A[I];
}
__global__ void sines(double *P, int N) {
  double A[24];
  for (int I = 0; I < 24; ++I) A[I] = P[I * threadIdx.x];
  for (int J = 0; J < N; ++J)
    for (int I = 0; I < 24; ++I) A[I] = A[(I + 3) % 24] + sin(A[I]);
  for (int I = 0; I < 24; ++I) P[I + threadIdx.x] = A[I];
}
__global__ void loads(float *P) { P[threadIdx.x] = P[threadIdx.x + 7] * P[threadIdx.x + 64]; }
__global__ void prints(float *P) { printf("%f\n", P[threadIdx.x]); }
__global__ void other(float *P) { P[threadIdx.x] *= 3; }
}
)";

// At register-usage level 10, ptxas 13.0 gives tile 96 registers instead of 118, narrow 56 instead
// of 40, and wide 72 instead of 64, so that wide's blocks of 1024 threads no longer fit.
constexpr const char *Tiles = R"(
template <int TM, int TN, int Q>
__device__ __forceinline__ void multiply(const float *A, const float *B, float *C, int N) {
  __shared__ float As[Q][64], Bs[Q][64];
  float c[TM][TN] = {};
  int tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  for (int k = 0; k < N; k += Q) {
    for (int i = 0; i < Q; ++i) {
      As[i][threadIdx.x] = A[(k + i) * N + threadIdx.x];
      Bs[i][threadIdx.x] = B[(k + i) * N + threadIdx.x];
    }
    __syncthreads();
    #pragma unroll
    for (int q = 0; q < Q; ++q)
      #pragma unroll
      for (int i = 0; i < TM; ++i)
        #pragma unroll
        for (int j = 0; j < TN; ++j) c[i][j] += As[q][ty * TM + i] * Bs[q][tx * TN + j];
    __syncthreads();
  }
  for (int i = 0; i < TM; ++i)
    for (int j = 0; j < TN; ++j) C[(ty * TM + i) * N + tx * TN + j] = c[i][j];
}
#define KERNEL(NAME, TM, TN, Q)                                                                    \
  extern "C" __global__ void NAME(const float *A, const float *B, float *C, int N) {               \
    multiply<TM, TN, Q>(A, B, C, N);                                                               \
  }
KERNEL(tile, 8, 8, 32)
KERNEL(narrow, 4, 4, 8)
#ifdef WIDE
KERNEL(wide, 4, 8, 16)
#endif
)";

using Kernel = std::map<std::string, CubinKernel>;

class EmitKnobs : public RealNvccTest {
protected:
  void compileUnit(const char *Text, Words Options = {}) {
    write("u.cu", Text);
    write("keep/there", "");
    Words Arguments = {"-O3", "-arch=sm_90", "-c", "u.cu", "-o", "u.o"};
    Arguments.insert(Arguments.end(), Options.begin(), Options.end());
    KeptCompile Kept = llvm::cantFail(
        compileKeeping(Tools, Runner, Arguments, Work.path(), path("keep"), /*Quiet=*/true));
    ASSERT_TRUE(Kept.Nvcc.succeeded()) << Kept.Nvcc.Stderr;
    ASSERT_EQ(Kept.Plan.Units.size(), 1u) << Kept.NoPlan.value_or("");
    Unit = Kept.Plan.Units.front();
    Ptx.emplace(llvm::cantFail(PtxModule::parse(llvm::cantFail(readFile(image().PtxPath)))));
    Default = kernelsOf(llvm::cantFail(readFile(image().CubinPath)));
    Context.emplace(
        EmitContext{Tools, Runner, "13.0.88", CARVE_SOURCE_DIR "/share/carve-nvcc/devices"});
    Context->FlavourPtx = [this](const DeviceImage &, const FrontEndSetting &S) {
      return flavour(S);
    };
    Decisions = Profile();
  }

  const DeviceImage &image() const { return Unit.Images.front(); }

  llvm::Expected<std::string> flavour(const FrontEndSetting &Setting) {
    write("flavour/there", "");
    Words Arguments = {"-O3",         "-arch=sm_90", "-c",         "u.cu",   "-o",
                       "flavour/u.o", "--keep",      "--keep-dir", "flavour"};
    if (Setting.Cap)
      Arguments.insert(Arguments.end(),
                       {"-Xcicc", "-maxreg", "-Xcicc", std::to_string(*Setting.Cap)});
    for (llvm::StringRef Argument : ciccArguments(Setting.Knob))
      Arguments.insert(Arguments.end(), {"-Xcicc", Argument.str()});
    compile(Arguments);
    return readFile(path("flavour/u.ptx"));
  }

  static Kernel kernelsOf(llvm::StringRef CubinBytes) {
    Kernel Found;
    for (CubinKernel &K : llvm::cantFail(parseCubin(CubinBytes)).Kernels)
      Found[K.Resources.Name] = K;
    return Found;
  }

  /// Returns the kernels of the unit, assembled with \p Options in addition to its own.
  Kernel assembledWith(llvm::StringRef Text, Words Options = {}) {
    Options.insert(Options.end(), image().PtxasOptions.begin(), image().PtxasOptions.end());
    return kernelsOf(llvm::cantFail(assemble(Tools, Runner, Text, Options, "u.ptx")).CubinBytes);
  }

  Decision &pin(const std::string &Name, llvm::StringRef Variant) {
    Decision D;
    D.Kernel = Name;
    D.Variant = llvm::cantFail(parseVariantName(Variant));
    Decisions.put(D);
    return Decisions.Kernels.back();
  }

  /// Adds a pin that says which code was timed.
  void timed(const std::string &Name, llvm::StringRef Variant, const std::string &CodeDigest) {
    pin(Name, Variant).Basis.emplace().CodeDigest = CodeDigest;
  }

  /// Emits the unit, and returns the kernels of the new image, or nvcc's if there is none.
  Kernel emit() {
    Reasons.clear();
    llvm::sys::fs::remove(path("tuned.sm_90.cubin"));
    EmittedUnit Emitted = llvm::cantFail(emitUnit(Unit, {&Decisions}, *Context, Work.path()));
    EXPECT_EQ(Emitted.Container.empty(), !exists("tuned.sm_90.cubin"));
    for (const EmittedKernel &K : Emitted.Kernels)
      Reasons[K.Kernel] = K.Reason.empty() ? variantName(K.Variant) : K.Reason;
    return Emitted.Container.empty() ? Default : kernelsOf(read("tuned.sm_90.cubin"));
  }

  /// Checks that the outcome for \p Name contains \p Text.
  void expectSaid(const std::string &Name, llvm::StringRef Text) {
    EXPECT_NE(Reasons[Name].find(Text), std::string::npos) << Name << ": " << Reasons[Name];
  }

  static void expectSame(Kernel A, Kernel B, const Words &Names) {
    for (const std::string &Name : Names)
      EXPECT_EQ(A[Name].CodeDigest, B[Name].CodeDigest) << Name;
  }

  DeviceUnit Unit;
  std::optional<PtxModule> Ptx;
  Kernel Default;
  std::optional<EmitContext> Context;
  Profile Decisions;
  std::map<std::string, std::string> Reasons;
};

} // namespace

TEST_F(EmitKnobs, everyKnob_inOneImage_isEmitted) {
  compileUnit(Kernels);
  pin("sines", "r64-f32");
  pin("loads", "cg");
  pin("spills", "r40-smem");
  Kernel New = emit();
  expectSaid("sines", "r64-f32");
  expectSaid("loads", "cg");
  expectSaid("spills", "r40-smem");
  expectSame(New, Default, {"prints", "other"});

  PtxModule Flavour = llvm::cantFail(PtxModule::parse(llvm::cantFail(flavour({32}))));
  llvm::StringMap<unsigned> Cap;
  Cap["sines"] = 64;
  expectSame(New, assembledWith(llvm::cantFail(Flavour.withRegisterCaps(Cap))), {"sines"});
  expectSame(New, assembledWith(Ptx->text(), {"-dlcm=cg"}), {"loads"});
  llvm::StringMap<EntryEdit> Spilling;
  Spilling["spills"].RegisterCap = 40;
  Spilling["spills"].SmemSpillingMaxThreads = 1024;
  expectSame(New, assembledWith(llvm::cantFail(Ptx->withEdits(Spilling))), {"spills"});
  EXPECT_GT(New["spills"].Resources.StaticSmemBytes, Default["spills"].Resources.StaticSmemBytes);
}

TEST_F(EmitKnobs, frontEndKnobsAndLoadHints_areEmitted) {
  compileUnit(Kernels);
  pin("spills", "r40-unroll2");
  pin("sines", "noremat");
  pin("loads", "noalloc");
  pin("other", "cs");
  Kernel New = emit();
  for (const Decision &D : Decisions.Kernels)
    EXPECT_EQ(Reasons[D.Kernel], variantName(D.Variant));
  expectSame(New, Default, {"prints"});
  for (const char *Changed : {"spills", "loads", "other"})
    EXPECT_NE(New[Changed].CodeDigest, Default[Changed].CodeDigest) << Changed;
  PtxModule Unrolled =
      llvm::cantFail(PtxModule::parse(llvm::cantFail(flavour({{}, FrontEndKnob::UnrollByTwo}))));
  llvm::StringMap<unsigned> Cap;
  Cap["spills"] = 40;
  expectSame(New, assembledWith(llvm::cantFail(Unrolled.withRegisterCaps(Cap))), {"spills"});
  expectSame(New, assembledWith(llvm::cantFail(flavour({{}, FrontEndKnob::NoRematerialization}))),
             {"sines"});
}

TEST_F(EmitKnobs, decisionThatCannotBeApplied_leavesTheOthers) {
  compileUnit(Kernels);
  pin("prints", "r24-smem");
  pin("sines", "f48");
  pin("loads", "f32");
  pin("spills", "r40");
  timed("other", "cg", "of another day");
  Context->Ceiling = 40;
  Context->FlavourPtx = nullptr;
  Kernel New = emit();
  expectSaid("prints", "smem-spilling: abi-calls");
  expectSaid("sines", "frontend-cap 48 is above the command's own -maxrregcount=40");
  expectSaid("loads", "no-front-end");
  expectSaid("other", "the code would not be the code that was timed");
  EXPECT_EQ(Reasons["spills"], "r40");
  EXPECT_EQ(New["spills"].Resources.RegsPerThread, 40u);
  expectSame(New, Default, {"prints", "sines", "loads", "other"});
}

TEST_F(EmitKnobs, flavour_thatDoesNotMatchOrAssemble_isLeft) {
  compileUnit(Kernels);
  pin("sines", "f32");
  pin("loads", "f40");
  pin("spills", "r40");
  Context->FlavourPtx = [this](const DeviceImage &,
                               const FrontEndSetting &S) -> llvm::Expected<std::string> {
    std::string Text = Ptx->text();
    if (S.Cap == 32u) // As if it came from another source.
      return Text.replace(Text.find(".entry sines"), 12, ".entry cosines");
    size_t Body = Text.find("{", Text.find(".entry loads"));
    return Text.insert(Body + 1, "\n\tno.such.instruction %r1;\n");
  };
  Kernel New = emit();
  expectSaid("sines", "front-end-declarations");
  expectSaid("loads", "ptxas");
  EXPECT_EQ(Reasons["spills"], "r40");
  expectSame(New, Default, {"sines", "loads", "prints", "other"});
}

namespace {
/// Counts how often ptxas runs.
class PtxasCounter final : public CommandRunner {
public:
  explicit PtxasCounter(CommandRunner &Inner) : Inner(Inner) {}
  llvm::Expected<CommandResult> run(const Command &C) override {
    Runs += llvm::StringRef(C.Argv.front()).ends_with("ptxas");
    return Inner.run(C);
  }
  unsigned Runs = 0;

private:
  CommandRunner &Inner;
};
} // namespace

/// 16 kernels have decisions. With two flavours, ptxas fails.
TEST_F(EmitKnobs, fewRefusedDecisionsOfMany_areFoundInFewRuns) {
  std::string Text;
  std::vector<std::string> Names;
  for (char Letter = 'a'; Letter < 'q'; ++Letter) {
    Names.push_back(std::string("kernel_") + Letter);
    Text += "extern \"C\" __global__ void " + Names.back() +
            "(float *P) { P[threadIdx.x] = P[threadIdx.x + " + std::to_string(Names.size()) +
            "] * 2; }\n";
  }
  compileUnit(Text.c_str());
  PtxasCounter Counting(Runner);
  Context.emplace(
      EmitContext{Tools, Counting, "13.0.88", CARVE_SOURCE_DIR "/share/carve-nvcc/devices"});
  Context->FlavourPtx = [this](const DeviceImage &, const FrontEndSetting &) {
    std::string Broken = Ptx->text();
    for (size_t At = 0; (At = Broken.find("{", Broken.find(".entry", At))) != Broken.npos; ++At)
      Broken.insert(At + 1, "\n\tno.such.instruction %r1;\n");
    return Broken;
  };
  auto Emit = [&](const std::set<std::string> &Refused) {
    for (const std::string &Name : Names)
      pin(Name, Refused.count(Name) ? "f40" : "cg");
    Counting.Runs = 0;
    Kernel New = emit();
    for (const std::string &Name : Names)
      if (Refused.count(Name)) {
        expectSaid(Name, "ptxas");
        expectSame(New, Default, {Name});
      } else {
        EXPECT_EQ(Reasons[Name], "cg") << Name;
        EXPECT_NE(New[Name].CodeDigest, Default[Name].CodeDigest) << Name;
      }
    return Counting.Runs;
  };
  EXPECT_EQ(Emit({}), 1u);
  // The first and the last run, and at most two halves at each of four levels.
  for (const char *Refused : {"kernel_a", "kernel_k", "kernel_p"})
    EXPECT_LE(Emit({Refused}), 10u) << Refused;
  EXPECT_LE(Emit({"kernel_b", "kernel_n"}), 16u);
  Emit({Names.begin(), Names.end()});
}

TEST_F(EmitKnobs, smemSpilling_commandHasACap_keepsIt) {
  compileUnit(Kernels, {"-maxrregcount=32"});
  ASSERT_EQ(Default["spills"].Resources.RegsPerThread, 32u);
  Context->Ceiling = 32;
  pin("spills", "smem");
  Kernel New = emit();
  expectSaid("spills", "smem");
  EXPECT_EQ(New["spills"].Resources.RegsPerThread, 32u);
  EXPECT_GT(New["spills"].Resources.StaticSmemBytes, Default["spills"].Resources.StaticSmemBytes);
}

TEST_F(EmitKnobs, smemSpilling_tracedDomain_usesTheBoundThatWasTimed) {
  compileUnit(Kernels);
  pin("spills", "r40-smem").Basis.emplace().SmemSpillingThreads = 128;
  llvm::StringMap<EntryEdit> Spilling;
  Spilling["spills"].RegisterCap = 40;
  Spilling["spills"].SmemSpillingMaxThreads = 128;
  Kernel Wanted = assembledWith(llvm::cantFail(Ptx->withEdits(Spilling)));
  Context->Domain = LaunchDomain::Traced;
  expectSame(emit(), Wanted, {"spills", "other"});
  Context->Domain = LaunchDomain::Preserve;
  EXPECT_NE(emit()["spills"].CodeDigest, Wanted["spills"].CodeDigest);
}

TEST_F(EmitKnobs, assemblerSettings_eachKernelHasItsOwn) {
  compileUnit(Tiles, {"-DWIDE"});
  Kernel AtTen = assembledWith(Ptx->text(), {"--register-usage-level=10"});
  Kernel Less = assembledWith(Ptx->text(), {"--opt-level=1"});
  ASSERT_NE(Default["tile"].CodeDigest, AtTen["tile"].CodeDigest);
  ASSERT_NE(Default["narrow"].CodeDigest, Less["narrow"].CodeDigest);
  timed("tile", "l10", AtTen["tile"].CodeDigest);
  timed("narrow", "o1", Less["narrow"].CodeDigest);
  Kernel New = emit();
  EXPECT_EQ(Reasons["tile"], "l10");
  EXPECT_EQ(Reasons["narrow"], "o1");
  expectSame(New, AtTen, {"tile"});
  expectSame(New, Less, {"narrow"});
  expectSame(New, Default, {"wide"});

  // Beside a cap, and beside a decision for other PTX.
  pin("narrow", "r32-l10");
  pin("tile", "f255");
  New = emit();
  EXPECT_EQ(New["narrow"].Resources.RegsPerThread, 32u);
  EXPECT_EQ(Reasons["narrow"], "r32-l10");
  EXPECT_EQ(Reasons["tile"], "f255");
  expectSame(New, Default, {"wide"});
}

TEST_F(EmitKnobs, assemblerSetting_ofOtherCode_isRefusedAlone) {
  compileUnit(Tiles, {"-DWIDE"});
  timed("tile", "l10", "the code of another compile");
  pin("wide", "l10");
  pin("narrow", "r32");
  Kernel New = emit();
  expectSaid("tile", "the code would not be the code that was timed");
  expectSaid("wide", "72 registers would shrink the largest block from 1024 to 896 threads");
  EXPECT_EQ(Reasons["narrow"], "r32");
  EXPECT_EQ(New["narrow"].Resources.RegsPerThread, 32u);
  expectSame(New, Default, {"tile", "wide"});
}

TEST_F(EmitKnobs, assemblerSetting_unitWithLineInformation_isRefused) {
  compileUnit(Tiles, {"-lineinfo"});
  pin("tile", "o1");
  pin("narrow", "r32");
  Kernel New = emit();
  expectSaid("tile", "optimization-level: line-information");
  EXPECT_EQ(New["narrow"].Resources.RegsPerThread, 32u);
  expectSame(New, Default, {"tile"});
}
