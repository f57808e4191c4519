// Work of two kinds that want other register counts, for kernels that do both or one of them.
#pragma once

#include "App.cuh"

constexpr int Width = 96, Links = 1 << 20;

/// Follows \p Steps links through \p Next, which is fastest if as many warps as possible wait at
/// once, and then mixes many values \p Rounds times, which is fastest if each has a register.
__device__ __forceinline__ float walkAndMix(const unsigned *Next, int Steps, int Rounds) {
  unsigned At = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  // All lanes of a warp read the same word, so what counts is how long it takes to arrive.
  for (int Step = 0; Step < Steps; ++Step)
    At = Next[At];
  float Sum = float(At & 1023);
  // Nothing is spilled where there is nothing to mix.
  if (Rounds > 0) {
    float Values[Width];
#pragma unroll
    for (int K = 0; K < Width; ++K)
      Values[K] = Sum * (K + 1) * 0.0009765625f + 0.0625f * K;
#pragma unroll 1
    for (int Round = 0; Round < Rounds; ++Round)
#pragma unroll
      for (int K = 0; K < Width; ++K)
        Values[K] = Values[K] * 0.5f + Values[(K + 29) % Width] * 0.375f + 0.125f;
#pragma unroll
    for (int K = 0; K < Width; ++K)
      Sum += Values[K];
  }
  return Sum;
}

/// Returns the table of links, in the memory of the device.
inline unsigned *deviceLinks() {
  std::vector<unsigned> Host(Links);
  for (unsigned I = 0; I < Links; ++I)
    Host[I] = (I * 1664525u + 1013904223u) % Links;
  unsigned *Next = nullptr;
  CHECK(cudaMalloc(&Next, Links * sizeof(unsigned)));
  CHECK(cudaMemcpy(Next, Host.data(), Links * sizeof(unsigned), cudaMemcpyHostToDevice));
  return Next;
}
