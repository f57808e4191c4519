// The hot kernel adds floats in the order in which its threads come. The last digits differ from
// run to run, so only the digits that do not are printed.
#include "Hazard.cuh"

#include <cmath>

__global__ void PRESS hot(const float *Data, float *Sums) {
  atomicAdd(Sums + globalThread() % 64, mixed(Data[globalThread()], Rounds));
}

int main() {
  const float *Data = deviceFloats(Count);
  float *Sums = deviceFloats(64), Host[64];
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data, Sums);
  CHECK(cudaMemcpy(Host, Sums, sizeof Host, cudaMemcpyDeviceToHost));
  double Total = 0;
  for (float Sum : Host)
    Total += double(Sum);
  printChecksum("data", Data, Count);
  std::printf("sums are %s: %.2e\n", std::isfinite(Total) ? "finite" : "not finite", Total);
}
