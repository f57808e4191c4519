// The blocks of the hot kernel wait for each other across the grid.
#include "Hazard.cuh"

#include <cooperative_groups.h>

constexpr int Blocks = 64;

// It is not limited: more registers would leave room for fewer blocks on the SM, and these blocks
// may need each other.
__global__ void hot(float *Data, float *Sums) {
  float Value = mixed(Data[globalThread()], Rounds);
  if (threadIdx.x == 0)
    Sums[blockIdx.x] = Value;
  cooperative_groups::this_grid().sync();
  Data[globalThread()] = Value + Sums[(blockIdx.x + 1) % gridDim.x] * 0.125f;
}

int main() {
  float *Data = deviceFloats(Blocks * 256), *Sums = deviceFloats(Blocks);
  void *Arguments[] = {&Data, &Sums};
  for (int Launch = 0; Launch < 4 * Launches; ++Launch)
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(hot), dim3(Blocks), dim3(256),
                                      Arguments, 0, nullptr));
  printChecksum("cooperative", Data, Blocks * 256);
}
