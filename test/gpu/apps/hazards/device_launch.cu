// The hot kernel launches another kernel from the device. Needs -rdc=true.
#include "Hazard.cuh"

__global__ void child(float *Data) { Data[threadIdx.x] += 1; }

__global__ void PRESS hot(float *Data, float *Counted) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
  if (globalThread() == 0)
    child<<<1, 32>>>(Counted);
}

int main() {
  float *Data = deviceFloats(Count), *Counted = deviceFloats(32);
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data, Counted);
  printChecksum("data", Data, Count);
  printChecksum("counted", Counted, 32);
}
