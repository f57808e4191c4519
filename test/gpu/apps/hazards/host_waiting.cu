// The hot kernel waits for a flag that the host raises after the launch.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, const volatile int *Flag, int Wanted) {
  while (*Flag < Wanted) {
  }
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  constexpr int Blocks = 32;
  float *Data = deviceFloats(Blocks * 256);
  int *Host = nullptr, *Mapped = mappedHost(Host, 1);
  volatile int *Flag = Host;
  *Flag = 0;
  hot<<<Blocks, 256>>>(Data, Mapped, 0);
  CHECK(cudaDeviceSynchronize());
  for (int Launch = 1; Launch <= 3 * Launches; ++Launch) {
    hot<<<Blocks, 256>>>(Data, Mapped, Launch);
    CHECK(cudaGetLastError());
    *Flag = Launch;
    CHECK(cudaDeviceSynchronize());
  }
  printChecksum("host_waiting", Data, Blocks * 256);
}
