// The hot kernel prints. Every launch must print exactly once.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, int Launch) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
  if (globalThread() == 0)
    printf("launch %d\n", Launch);
}

int main() {
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data, Launch);
  printChecksum("device_printf", Data, Count);
}
