// Two simple kernels. Build it with static and with shared cudart, and run it with
// CUDA_MODULE_LOADING=LAZY and EAGER.
#include "App.cuh"

__global__ void scale(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = Data[I] * 1.5f + 0.25f;
}

// Has enough live values that its register count can be lowered.
__global__ void mix(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  float Values[24];
#pragma unroll
  for (int K = 0; K < 24; ++K)
    Values[K] = Data[(I + K * 37) % Count];
#pragma unroll 1
  for (int Round = 0; Round < 8; ++Round)
#pragma unroll
    for (int K = 0; K < 24; ++K)
      Values[K] = Values[K] * Values[(K + 5) % 24] + 0.1f;
  float Sum = 0;
#pragma unroll
  for (int K = 0; K < 24; ++K)
    Sum += Values[K];
  Data[Count + I] = Sum;
}

int main() {
  constexpr int Count = 1 << 18;
  float *Data = deviceFloats(2 * Count);
  for (int Launch = 0; Launch < 20; ++Launch) {
    scale<<<Count / 256, 256>>>(Data, Count);
    mix<<<Count / 128, 128>>>(Data, Count);
  }
  CHECK(cudaGetLastError());
  printChecksum("basic", Data, 2 * Count);
}
