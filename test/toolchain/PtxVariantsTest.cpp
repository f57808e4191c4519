#include "Cubin/ExchangeNames.h"
#include "RealNvcc.h"

#include "Cubin/Assembler.h"
#include "Ptx/PtxModule.h"

using namespace carve;
using namespace llvm;

namespace {

// The kernels have everything that could make a clone differ from its original: static shared
// memory, banks of constants, printf, assert, callees that are not inlined, launch bounds, branch
// tables, names.
constexpr const char *Source = R"(
#include <cassert>
#include <cstdio>
__constant__ float Bank[64];
__device__ float Table[4] = {1, 2, 3, 4};
namespace {
__device__ __noinline__ double slow(double X) { return X > 2 ? sin(X) / X : pow(X, 3.5); }
__global__ void anonymous(double *P) { P[threadIdx.x] = slow(P[threadIdx.x]); }
}
extern "C" __global__ void init(float *P) {
  __shared__ float S[64];
  S[threadIdx.x] = Table[threadIdx.x & 3];
  __syncthreads();
  P[threadIdx.x] = S[63 - threadIdx.x] * Bank[threadIdx.x & 63];
}
__global__ void av(float *P, int N) {
  assert(N < 5);
  asm volatile("{ // a brace } in a comment\n\t}");
  if (P[0] > 3) printf("large %f\n", P[0]);
}
extern "C" __global__ void x_Z2avPfi(float *P) { P[0] = sinf(P[1]) * cosf(P[2]) * powf(P[3], P[4]); }
__global__ void __launch_bounds__(128, 4) bounded(double *P, int N) {
  double A[40];
  for (int I = 0; I < 40; ++I) A[I] = P[I * threadIdx.x];
  for (int J = 0; J < N; ++J)
    for (int I = 0; I < 40; ++I) A[I] = A[(I + 3) % 40] * 1.25 + A[I];
  for (int I = 0; I < 40; ++I) P[I + threadIdx.x] = A[I];
}
__global__ void texture(cudaTextureObject_t T, float *P) { P[0] = tex2D<float>(T, threadIdx.x, 3.f); }
__global__ void branches(int *P, int N) {
  switch (P[N]) {
  case 0: P[1] = __popc(N); break;
  case 1: P[2] = N * N; break;
  case 2: P[3] = N / 7; break;
  case 3: P[4] = N % 13; break;
  case 4: P[5] = __clz(N); break;
  default: P[0] = 3;
  }
}
void launch() { anonymous<<<1, 1>>>(nullptr); }
)";

class PtxVariants : public RealNvccTest, public testing::WithParamInterface<const char *> {
protected:
  PtxModule compiled(Words Options = {}) {
    write("variants.cu", Source);
    Words Arguments = {std::string("-arch=") + GetParam(), "-ptx", "variants.cu", "-o", "v.ptx"};
    Arguments.insert(Arguments.end(), Options.begin(), Options.end());
    compile(Arguments);
    return cantFail(PtxModule::parse(read("v.ptx")));
  }

  std::string assembledBytes(StringRef Text, Words Options) {
    Options.insert(Options.begin(), std::string("-arch=") + GetParam());
    auto A = assemble(Tools, Runner, Text, Options);
    if (A)
      return A->CubinBytes;
    ADD_FAILURE() << toString(A.takeError());
    return "";
  }

  static void expectSame(const Cubin &A, StringRef NameA, const Cubin &B, StringRef NameB) {
    const CubinKernel *X = find(A, NameA), *Y = find(B, NameB);
    ASSERT_TRUE(X && Y) << NameA.str() << " " << NameB.str();
    EXPECT_EQ(X->CodeDigest, Y->CodeDigest) << NameA.str();
    EXPECT_EQ(X->Resources.RegsPerThread, Y->Resources.RegsPerThread) << NameA.str();
    EXPECT_EQ(X->Resources.StackBytes, Y->Resources.StackBytes) << NameA.str();
    EXPECT_EQ(X->Resources.StaticSmemBytes, Y->Resources.StaticSmemBytes) << NameA.str();
  }

  static const CubinKernel *find(const Cubin &C, StringRef Name) {
    for (const CubinKernel &K : C.Kernels)
      if (K.Resources.Name == Name)
        return &K;
    return nullptr;
  }
};

} // namespace

TEST_P(PtxVariants, clones_equalSeparateCompilations_andTakeTheNames) {
  for (const Words &Options : {Words{}, Words{"-lineinfo"}}) {
    PtxModule Module = compiled(Options);
    ASSERT_EQ(Module.entries().size(), 7u);
    std::vector<CloneRequest> Clones;
    std::vector<std::pair<std::string, std::string>> Pairs;
    StringMap<unsigned> Caps;
    for (const PtxEntry &E : Module.entries()) {
      Clones.push_back({E.Name, E.Name + "__same", {}});
      Clones.push_back({E.Name, E.Name + "__r40", {40}});
      Pairs.emplace_back(E.Name, E.Name + "__r40");
      Caps[E.Name] = 40;
    }
    std::string Image = assembledBytes(cantFail(Module.withClones(Clones)), Options);
    Cubin Default = cantFail(parseCubin(assembledBytes(Module.text(), Options)));
    Cubin Capped =
        cantFail(parseCubin(assembledBytes(cantFail(Module.withRegisterCaps(Caps)), Options)));
    Cubin Cloned = cantFail(parseCubin(Image));
    Cubin Exchanged = cantFail(parseCubin(cantFail(exchangeKernelNames(Image, Pairs))));
    for (const auto &[Name, Clone] : Pairs) {
      expectSame(Cloned, Name, Default, Name);
      expectSame(Cloned, Name + "__same", Default, Name);
      expectSame(Cloned, Clone, Capped, Name);
      expectSame(Exchanged, Name, Capped, Name);
      expectSame(Exchanged, Clone, Default, Name);
    }
    EXPECT_NE(find(Default, "_Z7boundedPdi")->CodeDigest, find(Capped, "_Z7boundedPdi")->CodeDigest)
        << "the cap must change code, or the comparison shows nothing";
  }
}

/// ptxas numbers the slots of its table of addresses by what it compiles, so the code is that of
/// the whole text with the same `--entry`, and not always that of the whole module.
TEST_P(PtxVariants, clonesAlone_haveTheCodeOfTheWholeText) {
  for (const Words &Options : {Words{}, Words{"-lineinfo"}}) {
    PtxModule Module = compiled(Options);
    for (const PtxEntry &E : Module.entries()) {
      const std::string Clone = E.Name + "__r40";
      const std::vector<CloneRequest> Clones = {{E.Name, Clone, {40}}};
      std::string Text = cantFail(Module.clonesAlone(Clones, {E.Name, Clone}));
      EXPECT_EQ(cantFail(PtxModule::parse(Text)).entries().size(), 2u);
      Words Named = Options;
      Named.insert(Named.end(), {"--entry", E.Name, "--entry", Clone});
      Cubin Alone = cantFail(parseCubin(assembledBytes(Text, Named)));
      Cubin Whole =
          cantFail(parseCubin(assembledBytes(cantFail(Module.withClones(Clones)), Named)));
      expectSame(Alone, E.Name, Whole, E.Name);
      expectSame(Alone, Clone, Whole, Clone);
    }
  }
}

TEST_P(PtxVariants, reportAndCubin_agree) {
  PtxModule Module = compiled();
  auto A = cantFail(assemble(Tools, Runner, Module.text(), {std::string("-arch=") + GetParam()}));
  Cubin C = cantFail(parseCubin(A.CubinBytes));
  ASSERT_EQ(A.Kernels.size(), C.Kernels.size());
  for (const KernelResources &K : A.Kernels) {
    const CubinKernel *InCubin = find(C, K.Name);
    ASSERT_TRUE(InCubin) << K.Name;
    EXPECT_EQ(InCubin->Resources.RegsPerThread, K.RegsPerThread) << K.Name;
    EXPECT_EQ(InCubin->Resources.StaticSmemBytes, K.StaticSmemBytes) << K.Name;
    EXPECT_EQ(InCubin->Resources.StackBytes, K.StackBytes) << K.Name;
    EXPECT_EQ(InCubin->Resources.Barriers, K.Barriers) << K.Name;
  }
}

INSTANTIATE_TEST_SUITE_P(, PtxVariants, testing::Values("sm_75", "sm_90", "sm_120"),
                         [](const auto &Info) { return std::string(Info.param); });
