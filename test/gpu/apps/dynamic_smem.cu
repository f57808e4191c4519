// Uses more dynamic shared memory than a kernel gets without asking.
#include "App.cuh"

__global__ void reverse(float *Data, int PerBlock) {
  extern __shared__ float Tile[];
  float *Mine = Data + size_t(blockIdx.x) * PerBlock;
  for (int I = threadIdx.x; I < PerBlock; I += blockDim.x)
    Tile[I] = Mine[I];
  __syncthreads();
  for (int I = threadIdx.x; I < PerBlock; I += blockDim.x)
    Mine[I] = churned(Tile[PerBlock - 1 - I]);
}

int main() {
  constexpr int PerBlock = 20'000, Blocks = 64; // 80,000 bytes; sm_86 and newer allow 101,376.
  float *Data = deviceFloats(size_t(PerBlock) * Blocks);
  int Bytes = PerBlock * int(sizeof(float));
  CHECK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, Bytes));
  for (int Launch = 0; Launch < 5; ++Launch)
    reverse<<<Blocks, 1024, Bytes>>>(Data, PerBlock);
  CHECK(cudaGetLastError());
  printChecksum("dynamic_smem", Data, size_t(PerBlock) * Blocks);
}
