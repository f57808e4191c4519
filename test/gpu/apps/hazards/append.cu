// The hot kernel appends to a list: the same elements in another order each time. They are printed
// in order.
#include "Hazard.cuh"

#include <algorithm>

__global__ void PRESS hot(const float *Data, float *List, unsigned *Length) {
  float Value = mixed(Data[globalThread()], Rounds);
  if (globalThread() % 3 == 0)
    List[atomicAdd(Length, 1u)] = Value;
}

int main() {
  const float *Data = deviceFloats(Count);
  float *List = deviceFloats(Count);
  unsigned *Length = nullptr, Found = 0;
  CHECK(cudaMalloc(&Length, sizeof(unsigned)));
  for (int Launch = 0; Launch < Launches; ++Launch) {
    CHECK(cudaMemset(Length, 0, sizeof(unsigned)));
    hot<<<Count / 256, 256>>>(Data, List, Length);
  }
  CHECK(cudaMemcpy(&Found, Length, sizeof Found, cudaMemcpyDeviceToHost));
  std::vector<float> Host(Found);
  CHECK(cudaMemcpy(Host.data(), List, Found * sizeof(float), cudaMemcpyDeviceToHost));
  std::sort(Host.begin(), Host.end());
  std::printf("%u elements\n", Found);
  printHostChecksum("append", Host.data(), Found * sizeof(float));
}
