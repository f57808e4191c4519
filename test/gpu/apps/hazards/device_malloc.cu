// The hot kernel allocates memory from the device's heap and frees it in the next launch.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, float **Kept) {
  float Value = mixed(Data[globalThread()], Rounds);
  if (threadIdx.x == 0) {
    if (float *Old = Kept[blockIdx.x]) {
      Value += Old[0];
      free(Old);
    }
    auto *New = static_cast<float *>(malloc(64 * sizeof(float)));
    if (New)
      New[0] = Value * 0.125f;
    Kept[blockIdx.x] = New;
  }
  Data[globalThread()] = Value;
}

int main() {
  float *Data = deviceFloats(Count), **Kept = nullptr;
  CHECK(cudaMalloc(&Kept, Count / 256 * sizeof(float *)));
  CHECK(cudaMemset(Kept, 0, Count / 256 * sizeof(float *)));
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data, Kept);
  printChecksum("device_malloc", Data, Count);
}
