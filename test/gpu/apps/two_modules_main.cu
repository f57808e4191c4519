// One program of two translation units, each of which is a module. Link it with
// two_modules_other.cu.
#include "App.cuh"

void runOther(float *Data, int Count);

__global__ void first(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]);
}

int main() {
  constexpr int Count = 1 << 16;
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < 10; ++Launch) {
    first<<<Count / 256, 256>>>(Data, Count);
    runOther(Data, Count);
  }
  CHECK(cudaGetLastError());
  printChecksum("two_modules", Data, Count);
}
