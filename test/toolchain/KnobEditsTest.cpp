// ptxas and cicc take what the knobs write, for an older and a newer architecture, and the code
// differs where it should. EntryEditTest compares the older knobs with options of nvcc's tools.
#include "RealNvcc.h"

#include "Cubin/Assembler.h"
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

class KnobEdits : public RealNvccTest, public testing::WithParamInterface<const char *> {
protected:
  std::string architecture() const { return std::string("sm_") + GetParam(); }

  /// Returns the PTX that nvcc makes of \p Text.
  PtxModule compiled(const char *Text) {
    write("keep/k", "");
    write("k.cu", Text);
    compile({"-O3", "-arch=" + architecture(), "-c", "k.cu", "-o", "k.o", "--keep", "--keep-dir",
             "keep"});
    return cantFail(PtxModule::parse(read("keep/k.ptx")));
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

INSTANTIATE_TEST_SUITE_P(Architectures, KnobEdits, testing::Values("80", "90"),
                         [](const auto &Info) { return std::string("sm_") + Info.param; });
