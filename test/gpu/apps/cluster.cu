// A launch in clusters of four blocks that read each other's shared memory; sm_90 and newer.
#include "App.cuh"

#include <cooperative_groups.h>

__global__ void rotate(float *Data) {
  __shared__ float Mine[128];
  auto Cluster = cooperative_groups::this_cluster();
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  Mine[threadIdx.x] = Data[I];
  Cluster.sync();
  unsigned Next = (Cluster.block_rank() + 1) % Cluster.num_blocks();
  float Value = Cluster.map_shared_rank(Mine, Next)[threadIdx.x];
  Cluster.sync();
  Data[I] = Value * 1.25f;
}

int main() {
  constexpr int Count = 1 << 15;
  float *Data = deviceFloats(Count);
  cudaLaunchAttribute Attribute{};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim.x = 4;
  Attribute.val.clusterDim.y = Attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t Config{};
  Config.gridDim = dim3(Count / 128);
  Config.blockDim = dim3(128);
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  for (int Launch = 0; Launch < 5; ++Launch)
    CHECK(cudaLaunchKernelEx(&Config, rotate, Data));
  printChecksum("cluster", Data, Count);
}
