// Asks for a kernel's attributes and occupancy, and launches a grid of the size that the answer
// gives.
#include "App.cuh"

__global__ void queried(float *Data, int Count) {
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Count; I += gridDim.x * blockDim.x)
    Data[I] = churned(Data[I]);
}

__global__ void notQueried(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]) + 0.5f;
}

int main() {
  constexpr int Count = 1 << 18;
  float *Data = deviceFloats(Count);
  int GridSize = 0, BlockSize = 0;
  cudaFuncAttributes Attributes;
  CHECK(cudaOccupancyMaxPotentialBlockSize(&GridSize, &BlockSize, queried));
  CHECK(cudaFuncGetAttributes(&Attributes, queried));
  for (int Launch = 0; Launch < 10; ++Launch) {
    queried<<<GridSize, BlockSize>>>(Data, Count);
    notQueried<<<Count / 256, 256>>>(Data, Count);
  }
  CHECK(cudaGetLastError());
  printChecksum("occupancy", Data, Count);
}
