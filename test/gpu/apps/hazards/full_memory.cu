// Runs with almost none of the device's memory left.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  float *Data = deviceFloats(Count);
  size_t Free = 0, Total = 0;
  // The launch loads what it needs; after it the program takes the rest.
  hot<<<Count / 256, 256>>>(Data);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemGetInfo(&Free, &Total));
  constexpr size_t Left = size_t(64) << 20;
  char *Rest = nullptr;
  if (Free > Left)
    CHECK(cudaMalloc(&Rest, Free - Left));
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data);
  printChecksum("full_memory", Data, Count);
}
