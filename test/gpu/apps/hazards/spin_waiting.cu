// The hot kernel waits on the device for a kernel that the program launches later, in another
// stream.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, volatile int *Flag, int Wanted) {
  while (*Flag < Wanted) {
  }
  __threadfence();
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

__global__ void raise(volatile int *Flag, int Value) {
  *Flag = Value;
  __threadfence();
}

int main() {
  constexpr int Blocks = 32; // All of them run at once on any GPU, with room for the other kernel.
  float *Data = deviceFloats(Blocks * 256);
  int *Flag = nullptr;
  CHECK(cudaMalloc(&Flag, sizeof(int)));
  CHECK(cudaMemset(Flag, 0, sizeof(int)));
  cudaStream_t Waiting = newStream(), Raising = newStream();
  raise<<<1, 1, 0, Raising>>>(Flag, 0); // Loading code later would wait for the kernel that waits.
  CHECK(cudaDeviceSynchronize());
  for (int Launch = 1; Launch <= 3 * Launches; ++Launch) {
    hot<<<Blocks, 256, 0, Waiting>>>(Data, Flag, Launch);
    CHECK(cudaGetLastError());
    raise<<<1, 1, 0, Raising>>>(Flag, Launch);
    CHECK(cudaDeviceSynchronize());
  }
  printChecksum("spin_waiting", Data, Blocks * 256);
}
