// ptxas accepts PTX with counters for whatever nvcc makes, and nothing else of the PTX changes.
#include "RealNvcc.h"

#include "Cubin/Assembler.h"
#include "Ptx/BlockCounters.h"

using namespace carve;
using namespace llvm;

namespace {

// The kernels have jump tables, scopes of calls and of inline assembly, barriers, functions that
// are called by several kernels and by address, nested loops, and loops at the start of a function.
constexpr const char *Source = R"(
#include <cstdio>
typedef int (*Function)(int);
__device__ __noinline__ int twice(int X) { while (X & 1) X = X * 3 + 1; return X; }
__device__ __noinline__ int thrice(int X) { return X > 9 ? twice(X) + X : X * 3; }
__device__ Function Table[2] = {twice, thrice};
__global__ void jumps(int *P, int N) {
  for (int I = threadIdx.x; I < N; ++I)
    switch (P[I]) {
    case 0: P[I] = twice(N); break;
    case 1: P[I] = __popc(N) + P[I + 1]; break;
    case 2: P[I] = P[2 * I]; break;
    case 3: __threadfence(); P[I] = 7; break;
    case 4: P[I] = Table[N & 1](I); break;
    case 5: atomicAdd(P, thrice(I)); break;
    case 6: printf("%d\n", P[I]); break;
    case 7: P[I] = P[3 * I] / N; break;
    }
}
__global__ void __launch_bounds__(1024) shared(float *P, int N) {
  __shared__ float S[1024];
  S[threadIdx.x] = P[threadIdx.x];
  __syncthreads();
  for (int J = 0; J < N; ++J) {
    float Sum = 0;
    for (int I = 0; I < blockDim.x; ++I)
      if (S[I] > Sum) Sum += S[I] * J;
    asm volatile("{ .reg .pred p; setp.eq.s32 p, %1, 3; @p add.f32 %0, %0, %0; }" : "+f"(Sum) : "r"(J));
    __syncthreads();
    S[threadIdx.x] = __shfl_xor_sync(~0u, Sum, 1);
    __syncthreads();
  }
  P[threadIdx.x] = S[threadIdx.x ^ 1];
}
)";

class BlockCountersTest : public RealNvccTest {};

} // namespace

TEST_F(BlockCountersTest, counters_inNvccsPtx_areAssembled) {
  write("k.cu", Source);
  for (const Words &Options :
       {Words{"-O3"}, Words{"-O1", "-lineinfo"}, Words{"-rdc=true"}, Words{"-G"}})
    for (const char *Arch : {"sm_75", "sm_90"}) {
      SCOPED_TRACE(testing::PrintToString(Options) + Arch);
      Words Command = {"-ptx", std::string("-arch=") + Arch, "k.cu", "-o", "k.ptx"};
      Command.insert(Command.end(), Options.begin(), Options.end());
      compile(Command);
      PtxModule M = cantFail(PtxModule::parse(read("k.ptx")));
      std::vector<std::string> Names;
      for (const PtxEntry &E : M.entries())
        Names.push_back(E.Name);
      ASSERT_EQ(Names.size(), 2u);
      CountingPtx Made = cantFail(withBlockCounters(M, Names, "__carve_counts_0", 64));
      EXPECT_EQ(Made.FirstOf.count("_Z5twicei") + Made.FirstOf.count("_Z6thricei"), 2u);
      Words Ptxas = {std::string("-arch=") + Arch, "-c"};
      if (Options.front() == "-G")
        Ptxas.insert(Ptxas.end(), {"-g", "-O0"});
      auto Plain = assemble(Tools, Runner, M.text(), Ptxas);
      auto Counting = assemble(Tools, Runner, Made.Text, Ptxas);
      ASSERT_TRUE(bool(Plain)) << toString(Plain.takeError());
      ASSERT_TRUE(bool(Counting)) << toString(Counting.takeError());
      for (size_t K = 0; K < 2; ++K) {
        EXPECT_EQ(Counting->Kernels[K].Name, Plain->Kernels[K].Name);
        EXPECT_EQ(Counting->Kernels[K].StaticSmemBytes, Plain->Kernels[K].StaticSmemBytes);
      }
      EXPECT_NE(Counting->CubinBytes.find("__carve_counts_0"), std::string::npos);
    }
}
