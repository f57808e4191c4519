// The hot kernel changes a managed variable of another file. A kernel of that file has left its
// address in memory, and between launches the host changes it.
#include "Hazard.cuh"

#include "managed_variable.cuh"

__global__ void PRESS hot(float *Data, Place *Where) {
  float *Shared = Where->address();
  int I = globalThread();
  Shared[I] += 1; // The value shows how many times it ran.
  Data[I] = mixed(Data[I], Rounds);
}

int main() {
  float *Data = deviceFloats(SharedCount);
  Place *Where = nullptr;
  CHECK(cudaMalloc(&Where, sizeof(Place)));
  tellPlace(Where);
  for (int Launch = 0; Launch < 2 * Launches; ++Launch) {
    hot<<<SharedCount / 256, 256>>>(Data, Where);
    CHECK(cudaDeviceSynchronize());
    changeShared(Launch);
  }
  printChecksum("device", Data, SharedCount);
  printShared();
}
