// A kernel as in pressed.cu. Except for variables of another file it is complete within this file,
// so it can be tuned.
#include "linked.cuh"

constexpr int Width = 48;

__global__ void __maxnreg__(32) pressedLinked(float *Data, int Count, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  float Values[Width];
#pragma unroll
  for (int K = 0; K < Width; ++K)
    Values[K] = Data[I] * (K + 1) * 0.03125f + 0.0625f * K;
#pragma unroll 1
  for (int Round = 0; Round < Rounds; ++Round)
#pragma unroll
    for (int K = 0; K < Width; ++K)
      Values[K] = Values[K] * 0.5f + Values[(K + 29) % Width] * Weights[K % 8] + Bias;
  float Sum = 0;
#pragma unroll
  for (int K = 0; K < Width; ++K)
    Sum += Values[K];
  Data[I] = Sum * 0.01f;
}

void runPressedLinked(float *Data, int Count) {
  pressedLinked<<<Count / 256, 256>>>(Data, Count, 40);
}
