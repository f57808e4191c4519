// Very many launches that each take a few microseconds.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], 2);
}

int main() {
  float *Data = deviceFloats(1024);
  for (int Launch = 0; Launch < 50000; ++Launch)
    hot<<<4, 256>>>(Data);
  CHECK(cudaGetLastError());
  printChecksum("short_launches", Data, 1024);
}
