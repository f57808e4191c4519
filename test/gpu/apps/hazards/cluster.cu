// Clusters of four blocks that read each other's shared memory; sm_90 and newer.
#include "Hazard.cuh"

#include <cooperative_groups.h>

// It is not limited: more registers would leave room for fewer blocks on the SM, and these blocks
// may need each other.
__global__ void hot(float *Data) {
  __shared__ float Mine[256];
  auto Cluster = cooperative_groups::this_cluster();
  Mine[threadIdx.x] = mixed(Data[globalThread()], Rounds);
  Cluster.sync();
  unsigned Next = (Cluster.block_rank() + 1) % Cluster.num_blocks();
  float Value = Cluster.map_shared_rank(Mine, Next)[threadIdx.x];
  Cluster.sync();
  Data[globalThread()] = Value * 1.25f;
}

int main() {
  float *Data = deviceFloats(Count);
  cudaLaunchAttribute Attribute{};
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim.x = 4;
  Attribute.val.clusterDim.y = Attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t Config{};
  Config.gridDim = dim3(Count / 256);
  Config.blockDim = dim3(256);
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  for (int Launch = 0; Launch < Launches; ++Launch)
    CHECK(cudaLaunchKernelEx(&Config, hot, Data));
  printChecksum("cluster", Data, Count);
}
