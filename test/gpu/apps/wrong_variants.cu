// Kernels with clones of their own, as a multi-version module has them, some of which are wrong.
// `<kernel>__control` and `__right` do what the kernel does, `__wrong` computes something else in a
// few places, and `__stray` also writes memory that the kernel never uses. Without the probe no
// clone is ever launched.
#include "hazards/Hazard.cuh"

enum class Kind { Right, Wrong, Stray };

template <Kind K> __device__ void writeAstray(float *Other) {
  if (K == Kind::Stray && globalThread() == 77)
    Other[5] = 42;
}

/// Gives the same in every run, and works in place.
template <Kind K> __device__ void update(float *Data, float *Other) {
  float Value = mixed(Data[globalThread()], Rounds);
  if (K == Kind::Wrong && globalThread() == 12345)
    Value = Value * 1.0001f + 1e-4f;
  Data[globalThread()] = Value;
  writeAstray<K>(Other);
}

/// Adds in the order in which threads come, so the last digits differ from run to run.
template <Kind K> __device__ void sum(float *Data, float *Other) {
  float Value = mixed(Data[globalThread()], Rounds);
  if (K == Kind::Wrong && globalThread() % 64 == 3)
    Value *= 1.01f;
  atomicAdd(Data + Count + globalThread() % 64, Value);
  writeAstray<K>(Other);
}

/// Writes the same elements in any order; Data[Count] counts them.
template <Kind K> __device__ void append(float *Data, float *Other) {
  float Value = mixed(Data[globalThread()], Rounds);
  if (K == Kind::Wrong && globalThread() == 12345)
    Value += 0.5f;
  unsigned At = atomicAdd(reinterpret_cast<unsigned *>(Data + Count), 1u);
  Data[Count + 64 + At % Count] = Value;
  writeAstray<K>(Other);
}

#define FAMILY(Name)                                                                               \
  extern "C" __global__ void PRESS Name##Kernel(float *Data, float *Other) {                       \
    Name<Kind::Right>(Data, Other);                                                                \
  }                                                                                                \
  extern "C" __global__ void PRESS Name##Kernel__control(float *Data, float *Other) {              \
    Name<Kind::Right>(Data, Other);                                                                \
  }                                                                                                \
  extern "C" __global__ void Name##Kernel__right(float *Data, float *Other) {                      \
    Name<Kind::Right>(Data, Other);                                                                \
  }                                                                                                \
  extern "C" __global__ void Name##Kernel__wrong(float *Data, float *Other) {                      \
    Name<Kind::Wrong>(Data, Other);                                                                \
  }                                                                                                \
  extern "C" __global__ void Name##Kernel__stray(float *Data, float *Other) {                      \
    Name<Kind::Stray>(Data, Other);                                                                \
  }
FAMILY(update)
FAMILY(sum)
FAMILY(append)

int main() {
  float *Updated = deviceFloats(Count), *Summed = deviceFloats(Count + 64);
  float *List = deviceFloats(2 * Count + 64), *Other = deviceFloats(64);
  for (int Launch = 0; Launch < Launches; ++Launch) {
    CHECK(cudaMemset(Summed + Count, 0, 64 * sizeof(float)));
    CHECK(cudaMemset(List + Count, 0, 64 * sizeof(float)));
    updateKernel<<<Count / 256, 256>>>(Updated, Other);
    sumKernel<<<Count / 256, 256>>>(Summed, Other);
    appendKernel<<<Count / 256, 256>>>(List, Other);
  }
  CHECK(cudaGetLastError());
  printChecksum("updated", Updated, Count);
  printChecksum("other", Other, 64);
  float Sum = 0;
  CHECK(cudaMemcpy(&Sum, Summed + Count, sizeof Sum, cudaMemcpyDeviceToHost));
  std::printf("first sum %.3e\n", double(Sum));
  unsigned Length = 0;
  CHECK(cudaMemcpy(&Length, List + Count, sizeof Length, cudaMemcpyDeviceToHost));
  std::printf("%u elements\n", Length);
}
