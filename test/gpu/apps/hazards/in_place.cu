// The hot kernel updates its data in place, so no run of it is like the one before.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, unsigned *Runs) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds) + float(*Runs % 5);
  if (globalThread() == 0)
    Runs[1] += 1;
}

__global__ void count(unsigned *Runs) { Runs[0] += Runs[1]; }

int main() {
  float *Data = deviceFloats(Count), *Runs = deviceFloats(2);
  CHECK(cudaMemset(Runs, 0, 2 * sizeof(float)));
  for (int Launch = 0; Launch < Launches; ++Launch) {
    hot<<<Count / 256, 256>>>(Data, reinterpret_cast<unsigned *>(Runs));
    count<<<1, 1>>>(reinterpret_cast<unsigned *>(Runs));
  }
  printChecksum("data", Data, Count);
  printChecksum("runs", Runs, 2);
}
