// The program of relocatable device code. Link it with linked_hot.cu and linked_shared.cu. Its own
// kernel calls a function of another file and cannot be tuned.
#include "linked.cuh"

__global__ void calling(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  float Value = Data[I];
#pragma unroll 1
  for (int Round = 0; Round < 200; ++Round)
    Value = adjusted(Value);
  Data[I] = Value;
}

int main() {
  constexpr int Count = 1 << 20;
  const float NewBias = 0.25f, NewWeights[8] = {0.5f,  0.25f, 0.375f, 0.75f,
                                                0.125f, 0.5f,  0.25f,  0.375f};
  CHECK(cudaMemcpyToSymbol(Bias, &NewBias, sizeof NewBias));
  CHECK(cudaMemcpyToSymbol(Weights, NewWeights, sizeof NewWeights));
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < 20; ++Launch) {
    runPressedLinked(Data, Count);
    calling<<<Count / 256, 256>>>(Data, Count);
  }
  CHECK(cudaGetLastError());
  printChecksum("linked", Data, Count);
}
