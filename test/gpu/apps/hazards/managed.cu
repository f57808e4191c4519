// Uses managed memory, which the host writes between the launches.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  float *Data = nullptr;
  CHECK(cudaMallocManaged(&Data, Count * sizeof(float)));
  for (int I = 0; I < Count; ++I)
    Data[I] = float(I % 1009) / 1009;
  for (int Launch = 0; Launch < Launches; ++Launch) {
    hot<<<Count / 256, 256>>>(Data);
    CHECK(cudaDeviceSynchronize());
    Data[Launch] += 1;
  }
  printHostChecksum("managed", Data, Count * sizeof(float));
}
