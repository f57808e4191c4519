// ptxas and cicc take what the knobs write, for an older and a newer architecture, and the code
// differs where it should. EntryEditTest compares the older knobs with options of nvcc's tools.
#include "RealNvcc.h"

#include "Cubin/Assembler.h"
#include "Nvcc/FrontEnd.h"
#include "Nvcc/KeptCompile.h"
#include "Search/VariantEdit.h"
#include "Support/Error.h"

#include <re2/re2.h>

using namespace carve;
using namespace llvm;

namespace {

constexpr const char *Source = R"(
struct Record { float4 Place; double Mass; short Kind; char Flag; };
__device__ __noinline__ float far(const float *P, int I) { return P[I * 33] + P[I + 7]; }
extern "C" {
__global__ void plain(float *Y, unsigned char *B, double2 *D, Record *R, int N) {
  int I = threadIdx.x + blockIdx.x * blockDim.x;
  if (I < N)
    Y[I] += B[I + 3] + D[I].x * D[I].y + R[I].Place.x + R[I].Place.w + R[I].Mass + R[I].Kind + R[I].Flag;
}
__global__ void constant(const float4 *__restrict__ X, const short *__restrict__ S, float *__restrict__ Y) {
  int I = threadIdx.x;
  float4 V = X[I];
  Y[I] = V.x + V.y * V.z + V.w + S[I];
}
__global__ void calling(float *Y) { Y[threadIdx.x] = far(Y + 1, threadIdx.x); }
__global__ void stated(volatile float *V, float *Y, float4 *Z) {
  float4 A = __ldcs(Z + threadIdx.x);
  Y[threadIdx.x] = V[threadIdx.x] + __ldcg(Y + 64) + __ldca(Y + 65) + __ldcv(Y + 66) + A.x + A.y;
}
__global__ void stores(float *Y, Record R) { Y[threadIdx.x] = R.Place.x + R.Kind; }
}
)";

// Each kernel has what one knob of the front end changes: a loop with many instructions, a loop of
// unknown length, and values that are cheap to compute again but needed at many places.
constexpr const char *Loops = R"(
extern "C" {
__global__ void steps(float *Y, const float *X) {
  float S = 0;
  for (int I = 0; I < 60; ++I)
    S = S * X[I] + X[I + 100] * X[I + 200] - X[I + 300] / (X[I + 400] + 2);
  Y[threadIdx.x] = S;
}
__global__ void whole(int *Y, const int *X, int N) {
  int S = 0;
  for (int I = 0; I < N; ++I)
    S = (S ^ X[I]) * 3;
  Y[threadIdx.x] = S;
}
__global__ void indices(float *Y, const float *X, int A, int B, int C, int N) {
  int I = threadIdx.x + blockIdx.x * blockDim.x, J = I * A + B, K = J * C + A, L = K * B + C;
  float S[40];
  for (int M = 0; M < 40; ++M)
    S[M] = X[J + M * A] + X[K + M * B] + X[L + M * C];
  for (int R = 0; R < N; ++R)
    for (int M = 0; M < 40; ++M)
      S[M] = S[M] * X[J + R] + X[K + R] * S[(M + 1) % 40] + X[L + M];
  for (int M = 0; M < 40; ++M)
    Y[J + M * A] = Y[K + M * B] = Y[L + M * C] = S[M];
}
__global__ void spills(float *P, int N) {
  float A[48];
  for (int I = 0; I < 48; ++I)
    A[I] = P[I * threadIdx.x];
  for (int J = 0; J < N; ++J)
    for (int I = 0; I < 48; ++I)
      A[I] = A[(I + 3) % 48] * 1.25f + A[I];
  for (int I = 0; I < 48; ++I)
    P[I * 32 + threadIdx.x] = A[I];
}
}
)";

class KnobEdits : public RealNvccTest, public testing::WithParamInterface<const char *> {
protected:
  std::string architecture() const { return std::string("sm_") + GetParam(); }

  /// Returns the PTX that nvcc makes of \p Text with \p Options.
  PtxModule compiled(const char *Text, const Words &Options = {}) {
    write("keep/k", "");
    write("k.cu", Text);
    Words Arguments = {
        "-O3", "-arch=" + architecture(), "-c", "k.cu", "-o", "k.o", "--keep", "--keep-dir",
        "keep"};
    Arguments.insert(Arguments.end(), Options.begin(), Options.end());
    compile(Arguments);
    return cantFail(PtxModule::parse(read("keep/k.ptx")));
  }

  /// Compiles Loops, and keeps what cicc needs to make its PTX again.
  void compileLoops() {
    write("kept/k", "");
    write("k.cu", Loops);
    Words Arguments = {"-O3", "-arch=" + architecture(), "-c", "k.cu", "-o", "k.o"};
    KeptCompile Kept = cantFail(
        compileKeeping(Tools, Runner, Arguments, Work.path(), path("kept"), /*Quiet=*/true));
    ASSERT_EQ(Kept.Plan.Units.size(), 1u) << Kept.Nvcc.Stderr;
    ASSERT_EQ(Kept.Plan.Units[0].FrontEnds.size(), 1u);
    Step = Kept.Plan.Units[0].FrontEnds[0];
    Original = read("kept/k.ptx");
  }

  /// Returns the PTX of Loops as cicc makes it with \p Setting.
  Expected<std::string> flavour(const FrontEndSetting &Setting) {
    std::string Text = read("kept/" + Step.InputName), Id = read("kept/" + Step.ModuleIdName);
    return compileFlavour({Step, Text, Id, Original, Work.path(), Setting}, Tools, Runner);
  }

  std::map<std::string, CubinKernel> assembled(StringRef Text) {
    std::map<std::string, CubinKernel> Kernels;
    auto A = assemble(Tools, Runner, Text, {"-arch=" + architecture()});
    if (!A) {
      ADD_FAILURE() << toString(A.takeError());
      return Kernels;
    }
    for (const CubinKernel &K : cantFail(parseCubin(A->CubinBytes)).Kernels)
      Kernels[K.Resources.Name] = K;
    return Kernels;
  }

  static Expected<EntryEdit> editOf(const char *Variant, const PtxEntry &Entry) {
    return entryEdit(
        cantFail(parseVariantName(Variant)), Entry, 256,
        [](const FrontEndSetting &) -> Expected<const PtxModule *> { return nullptr; });
  }

  FrontEndStep Step;
  std::string Original; ///< The PTX of Loops that the compile made.
};

/// Writes a load hint as a person would do with an editor: \p Rewrite gets `.nc` or nothing as \1,
/// and vector and type as \2.
std::string rewritten(std::string Text, const char *Rewrite) {
  RE2::GlobalReplace(&Text, R"(\bld\.global(\.nc)?((?:\.v[248])?\.[bufs]\d+)\b)", Rewrite);
  return Text;
}

} // namespace

TEST_P(KnobEdits, loadHints_areTakenAndChangeTheCodeOfLoads) {
  PtxModule Base = compiled(Source);
  auto Default = assembled(Base.text());
  std::map<std::string, std::set<std::string>> Codes;
  for (auto [Variant, Rewrite] :
       {std::pair("cs", R"(ld.global.cs\1\2)"), {"noalloc", R"(ld.global\1.L1::no_allocate\2)"}}) {
    SCOPED_TRACE(Variant);
    StringMap<EntryEdit> Edits;
    std::vector<CloneRequest> Clones;
    for (const char *Kernel : {"plain", "constant", "calling"}) {
      Edits[Kernel] = cantFail(editOf(Variant, *Base.find(Kernel)));
      Clones.push_back({Kernel, std::string(Kernel) + "__hint", Edits[Kernel]});
    }
    auto InPlace = assembled(cantFail(Base.withEdits(Edits)));
    auto Cloned = assembled(cantFail(Base.withClones(Clones)));
    auto Wanted = assembled(rewritten(Base.text(), Rewrite));
    for (const char *Kernel : {"plain", "constant", "calling"}) {
      SCOPED_TRACE(Kernel);
      const std::string &Code = Wanted[Kernel].CodeDigest;
      EXPECT_EQ(InPlace[Kernel].CodeDigest, Code);
      EXPECT_EQ(Cloned[std::string(Kernel) + "__hint"].CodeDigest, Code);
      EXPECT_NE(Default[Kernel].CodeDigest, Code);
      EXPECT_EQ(Cloned[Kernel].CodeDigest, Default[Kernel].CodeDigest) << "the original stays";
      EXPECT_EQ(InPlace[Kernel].Resources.RegsPerThread, Default[Kernel].Resources.RegsPerThread)
          << "a hint changes nothing but the loads";
      Codes[Kernel].insert({Code, Default[Kernel].CodeDigest});
    }
    for (const char *Kernel : {"stated", "stores"}) {
      EXPECT_EQ(InPlace[Kernel].CodeDigest, Default[Kernel].CodeDigest) << Kernel;
      Error Refused = editOf(Variant, *Base.find(Kernel)).takeError();
      EXPECT_TRUE(Refused.isA<Unsupported>()) << Kernel;
      EXPECT_TRUE(StringRef(toString(std::move(Refused))).starts_with("no-plain-global-loads"));
    }
  }
  for (const auto &[Kernel, Digests] : Codes)
    EXPECT_EQ(Digests.size(), 3u) << Kernel << ": each hint is code of its own";
}

TEST_P(KnobEdits, frontEndKnobs_areTakenAndChangeTheCodeOfTheirLoops) {
  compileLoops();
  PtxModule Base = cantFail(PtxModule::parse(Original));
  auto Default = assembled(Base.text());
  for (auto [Knob, Kernel] : {std::pair(FrontEndKnob::NewerLlvm, "steps"),
                              {FrontEndKnob::NewerLlvmRolled, "steps"},
                              {FrontEndKnob::UnrollMore, "steps"},
                              {FrontEndKnob::UnrollByTwo, "whole"},
                              {FrontEndKnob::NoRematerialization, "indices"}}) {
    SCOPED_TRACE(nameOf(Knob).str());
    PtxModule Flavour = cantFail(PtxModule::parse(cantFail(flavour({{}, Knob}))));
    VariantSetting V;
    V.FrontEnd = Knob;
    auto Flavoured = [&](const FrontEndSetting &S) -> Expected<const PtxModule *> {
      EXPECT_EQ(S.Knob, Knob);
      return &Flavour;
    };
    StringMap<EntryEdit> Edits;
    for (const PtxEntry &E : Base.entries())
      Edits[E.Name] = cantFail(entryEdit(V, E, 256, Flavoured));
    auto Edited = assembled(cantFail(Base.withEdits(Edits)));
    auto Wanted = assembled(Flavour.text());
    for (const auto &[Name, Own] : Wanted)
      EXPECT_EQ(Edited[Name].CodeDigest, Own.CodeDigest) << Name;
    EXPECT_NE(Edited[Kernel].CodeDigest, Default[Kernel].CodeDigest) << Kernel;
    // nvcc passes the same options, but only one architecture.
    Words Options;
    for (StringRef Argument : ciccArguments(Knob))
      Options.insert(Options.end(), {"-Xcicc", Argument.str()});
    if (!usesNewerLlvm(Knob)) {
      EXPECT_TRUE(compiled(Loops, Options).text() == Flavour.text());
    }
    // Beside a cap it is a flavour of its own.
    EXPECT_FALSE(cantFail(flavour({32, Knob})) == cantFail(flavour({32})));
  }
}

TEST_P(KnobEdits, frontEndKnob_refusedByCicc_isAReason) {
  compileLoops();
  // As a cicc that does not know the knob's option.
  for (const char *Argument : {"--Xopt", "-no-such-option"})
    Step.Arguments.push_back(Argument);
  EXPECT_TRUE(static_cast<bool>(flavour({})));
  Error Refused = flavour({{}, FrontEndKnob::UnrollByTwo}).takeError();
  ASSERT_TRUE(Refused.isA<Unsupported>());
  EXPECT_TRUE(StringRef(toString(std::move(Refused))).starts_with("front-end-option: cicc"));
}

TEST_P(KnobEdits, smemSpilling_besideEachCap_movesSpills) {
  PtxModule Base = compiled(Loops);
  auto Default = assembled(Base.text());
  for (const char *Cap : {"r24", "r32", "r40"}) {
    SCOPED_TRACE(Cap);
    StringMap<EntryEdit> Capped, Spilling;
    Capped["spills"] = cantFail(editOf(Cap, *Base.find("spills")));
    Spilling["spills"] =
        cantFail(editOf((std::string(Cap) + "-smem").c_str(), *Base.find("spills")));
    auto Local = assembled(cantFail(Base.withEdits(Capped)));
    auto Shared = assembled(cantFail(Base.withEdits(Spilling)));
    EXPECT_EQ(Local["spills"].Resources.StaticSmemBytes, 0u);
    EXPECT_GT(Shared["spills"].Resources.StaticSmemBytes, 0u);
    EXPECT_LT(Shared["spills"].Resources.StackBytes, Local["spills"].Resources.StackBytes);
    EXPECT_NE(Shared["spills"].CodeDigest, Local["spills"].CodeDigest);
    EXPECT_EQ(Shared["whole"].CodeDigest, Default["whole"].CodeDigest) << "it has no such edit";
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, KnobEdits, testing::Values("80", "90"),
                         [](const auto &Info) { return std::string("sm_") + Info.param; });
