#include "RealNvcc.h"

#include "Ptx/KernelHazards.h"
#include "Ptx/PtxModule.h"

using namespace carve;

namespace {

// There is one kernel for each hazard, and as many that only look like one.
constexpr const char *Source = R"(
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda/atomic>
__managed__ int Shared;
__device__ int Own;
__device__ __noinline__ void say(int X) { printf("%d\n", X); }
extern "C" {
__global__ void prints(int *P) { printf("%d\n", P[0]); }
__global__ void printsBelow(int *P) { say(P[0]); }
__global__ void asserts(int *P) { assert(P[0]); }
__global__ void allocates(int **P) { P[threadIdx.x] = new int[P[1][0]]; }
__global__ void frees(int **P) { delete[] P[threadIdx.x]; }
__global__ void writesSurface(cudaSurfaceObject_t S) { surf2Dwrite(1.f, S, 4 * threadIdx.x, 0); }
__global__ void readsSurface(cudaSurfaceObject_t S, float *P) {
  P[0] = surf2Dread<float>(S, 4 * threadIdx.x, 0);
}
__global__ void fencesSystem(int *P) { P[0] = 1; __threadfence_system(); P[1] = 1; }
__global__ void fences(int *P) { P[0] = 1; __threadfence(); P[1] = 1; }
__global__ void addsSystem(int *P) { atomicAdd_system(P, 1); }
__global__ void adds(int *P, double *D) { atomicAdd(P, 1); atomicAdd(D, 1.0); }
__global__ void storesSystem(int *P) { cuda::atomic_ref<int>(*P).store(1); }
__global__ void storesDevice(int *P) {
  cuda::atomic_ref<int, cuda::thread_scope_device>(*P).store(1);
}
__global__ void managed() { ++Shared; }
__global__ void own() { ++Own; }
__global__ void depends(int *P) { cudaGridDependencySynchronize(); P[0] = 1; }
__global__ void waitsForFlag(volatile int *Flag, int *P) { while (!*Flag) {} P[0] = 1; }
__global__ void takesLock(int *Lock, int *P) {
  while (atomicCAS(Lock, 0, 1)) {}
  P[0] += 1;
  __threadfence();
  atomicExch(Lock, 0);
}
__global__ void maxOfFloats(int *P, float X) {
  int Old = *P, Assumed;
  do {
    Assumed = Old;
    Old = atomicCAS(P, Assumed, __float_as_int(fmaxf(X, __int_as_float(Assumed))));
  } while (Assumed != Old);
}
__global__ void sums(const float *P, float *Q, int N) {
  float Sum = 0;
  for (int I = threadIdx.x; I < N; I += blockDim.x) Sum += P[I];
  __shared__ float S[256];
  S[threadIdx.x] = Sum;
  __syncthreads();
  if (!threadIdx.x) for (int I = 0; I < 256; ++I) Q[blockIdx.x] += S[I];
}
__global__ void syncsGrid(int *P) {
  P[threadIdx.x] = 1;
  cooperative_groups::this_grid().sync();
  P[threadIdx.x + 1] = 2;
}
}
)";

class KernelHazardsOf : public RealNvccTest {
protected:
  void compileAll(const std::string &Arch) {
    write("hazards.cu", Source);
    compile({"-arch=" + Arch, "-ptx", "hazards.cu", "-o", "hazards.ptx"});
    Module.emplace(llvm::cantFail(PtxModule::parse(read("hazards.ptx"))));
  }
  KernelHazards of(const std::string &Kernel) {
    llvm::Expected<KernelHazards> H = Module->kernelHazards(Kernel);
    if (H)
      return *H;
    ADD_FAILURE() << Kernel << ": " << llvm::toString(H.takeError());
    return {};
  }
  void expectOnly(const std::string &Kernel, bool KernelHazards::*Member) {
    KernelHazards Wanted;
    Wanted.*Member = true;
    EXPECT_EQ(of(Kernel), Wanted) << Kernel;
  }

  std::optional<PtxModule> Module;
};

} // namespace

TEST_F(KernelHazardsOf, hazards_ofNvccsPtx_areFound) {
  for (const char *Arch : {"sm_75", "sm_90"}) {
    SCOPED_TRACE(Arch);
    compileAll(Arch);
    expectOnly("prints", &KernelHazards::Printf);
    expectOnly("printsBelow", &KernelHazards::Printf);
    expectOnly("asserts", &KernelHazards::Asserts);
    expectOnly("allocates", &KernelHazards::DeviceHeap);
    expectOnly("frees", &KernelHazards::DeviceHeap);
    expectOnly("writesSurface", &KernelHazards::SurfaceWrites);
    expectOnly("fencesSystem", &KernelHazards::SystemScope);
    expectOnly("addsSystem", &KernelHazards::SystemScope);
    expectOnly("storesSystem", &KernelHazards::SystemScope);
    expectOnly("managed", &KernelHazards::ManagedVariable);
    expectOnly("waitsForFlag", &KernelHazards::SpinWait);
    expectOnly("takesLock", &KernelHazards::SpinWait);
    expectOnly("syncsGrid", &KernelHazards::SpinWait);
    for (const char *Kernel :
         {"readsSurface", "fences", "adds", "storesDevice", "own", "maxOfFloats", "sums"})
      EXPECT_EQ(of(Kernel), KernelHazards()) << Kernel;
    EXPECT_TRUE(Module->usesDeviceHeap());
  }
  expectOnly("depends", &KernelHazards::Programmatic);
}

TEST_F(KernelHazardsOf, hazards_multimemAndDeviceLaunches_areFound) {
  write("more.cu", "extern \"C\" __global__ void child() {}\n"
                   "extern \"C\" __global__ void parent() { child<<<1, 1>>>(); }\n"
                   "extern \"C\" __global__ void reduces(float *P) {\n"
                   "  asm volatile(\"multimem.red.relaxed.gpu.global.add.f32 [%0], %1;\"\n"
                   "               :: \"l\"(P), \"f\"(1.f) : \"memory\");\n}\n");
  compile({"-arch=sm_90", "-rdc=true", "-ptx", "more.cu", "-o", "more.ptx"});
  Module.emplace(llvm::cantFail(PtxModule::parse(read("more.ptx"))));
  expectOnly("parent", &KernelHazards::DeviceLaunch);
  expectOnly("reduces", &KernelHazards::Multimem);
  EXPECT_EQ(of("child"), KernelHazards());
  EXPECT_FALSE(Module->usesDeviceHeap());
}
