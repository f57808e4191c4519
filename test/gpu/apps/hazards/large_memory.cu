// Takes 60 % of the device's memory, runs, and takes 30 % more. What was set aside to save the
// first part must make room.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  float *Data = deviceFloats(Count);
  size_t Free = 0, Total = 0;
  CHECK(cudaMemGetInfo(&Free, &Total));
  char *First = nullptr, *Second = nullptr;
  CHECK(cudaMalloc(&First, Free / 10 * 6));
  CHECK(cudaMemset(First, 7, Free / 10 * 6));
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data);
  CHECK(cudaMalloc(&Second, Free / 10 * 3));
  CHECK(cudaMemset(Second, 9, Free / 10 * 3));
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data);
  printChecksum("data", Data, Count);
  printChecksum("first", reinterpret_cast<float *>(First), 4096);
  printChecksum("second", reinterpret_cast<float *>(Second), 4096);
}
