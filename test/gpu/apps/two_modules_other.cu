// The second module of two_modules_main.cu, with a variable that only its own code sees.
#include "App.cuh"

__constant__ float Factor;

__global__ void second(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]) * Factor;
}

void runOther(float *Data, int Count) {
  float Value = 1.125f;
  CHECK(cudaMemcpyToSymbol(Factor, &Value, sizeof Value));
  second<<<Count / 128, 128>>>(Data, Count);
}
