/// \file
/// A kernel that is limited to fewer registers than it needs, and spills, so that more registers
/// are certain to be faster. By default the limit is 32 registers, with blocks of any size. With
/// -DWIDE it is the 64 registers that blocks of 1024 threads allow, although only 256 are launched:
/// there only the traced launch domain can gain.
#include "App.cuh"

#ifdef WIDE
#define PRESS __launch_bounds__(1024)
constexpr int Width = 96;
#else
#define PRESS __maxnreg__(32)
constexpr int Width = 48;
#endif

/// The work that needs many registers: \p Rounds over Width values at once.
__device__ __forceinline__ float mixed(float Value, int Rounds) {
  float Values[Width];
#pragma unroll
  for (int K = 0; K < Width; ++K)
    Values[K] = Value * (K + 1) * 0.03125f + 0.0625f * K;
#pragma unroll 1
  for (int Round = 0; Round < Rounds; ++Round)
#pragma unroll
    for (int K = 0; K < Width; ++K)
      Values[K] = Values[K] * 0.5f + Values[(K + 29) % Width] * 0.375f + 0.125f;
  float Sum = 0;
#pragma unroll
  for (int K = 0; K < Width; ++K)
    Sum += Values[K];
  return Sum * 0.01f;
}

__global__ void PRESS pressed(float *Data, int Count, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = mixed(Data[I], Rounds);
}
