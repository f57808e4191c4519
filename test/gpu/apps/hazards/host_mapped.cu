// The hot kernel reads and writes memory of the host, in place.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds) + Data[globalThread()] * 0.25f;
}

int main() {
  constexpr int Few = 1 << 14;
  float *Host = nullptr, *Data = mappedHost(Host, Few);
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<Few / 256, 256>>>(Data);
  CHECK(cudaDeviceSynchronize());
  printHostChecksum("host_mapped", Host, Few * sizeof(float));
}
