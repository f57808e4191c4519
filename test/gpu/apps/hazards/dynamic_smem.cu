// The hot kernel uses more dynamic shared memory than a kernel gets without asking.
#include "Hazard.cuh"

constexpr int SmemBytes = 96 << 10;

__global__ void PRESS hot(float *Out, const float *In) {
  extern __shared__ float Tile[];
  for (int I = threadIdx.x; I < SmemBytes / 4; I += blockDim.x)
    Tile[I] = In[(blockIdx.x * 1024 + I) % Count];
  __syncthreads();
  Out[globalThread()] = mixed(Tile[threadIdx.x * 37 % (SmemBytes / 4)], Rounds);
}

int main() {
  float *One = deviceFloats(Count), *Two = deviceFloats(Count);
  CHECK(cudaFuncSetAttribute(hot, cudaFuncAttributeMaxDynamicSharedMemorySize, SmemBytes));
  for (int Launch = 0; Launch < Launches / 2; ++Launch) {
    hot<<<Count / 256, 256, SmemBytes>>>(Two, One);
    hot<<<Count / 256, 256, SmemBytes>>>(One, Two);
  }
  CHECK(cudaGetLastError());
  printChecksum("dynamic_smem", One, Count);
}
