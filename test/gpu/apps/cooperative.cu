// A cooperative launch whose grid is as large as the occupancy query allows.
#include "App.cuh"

#include <cooperative_groups.h>

__global__ void relax(float *Data, int Count, int Rounds) {
  auto Grid = cooperative_groups::this_grid();
  for (int Round = 0; Round < Rounds; ++Round) {
    for (int I = int(Grid.thread_rank()); I < Count; I += int(Grid.size()))
      Data[Count + I] = 0.5f * (Data[I] + Data[(I + 1) % Count]);
    Grid.sync();
    for (int I = int(Grid.thread_rank()); I < Count; I += int(Grid.size()))
      Data[I] = Data[Count + I];
    Grid.sync();
  }
}

int main() {
  int Count = 1 << 16, Rounds = 10, Device = 0, Processors = 0, Blocks = 0;
  float *Data = deviceFloats(2 * Count);
  CHECK(cudaGetDevice(&Device));
  CHECK(cudaDeviceGetAttribute(&Processors, cudaDevAttrMultiProcessorCount, Device));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Blocks, relax, 256, 0));
  void *Args[] = {&Data, &Count, &Rounds};
  for (int Launch = 0; Launch < 5; ++Launch)
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void *>(relax), dim3(Blocks * Processors),
                                      dim3(256), Args, 0, nullptr));
  printChecksum("cooperative", Data, Count);
}
