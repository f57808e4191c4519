// The shared object that plugin_main.cu opens.
#include "App.cuh"

__global__ void pluginKernel(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = Data[I] * 0.25f + 2.0f;
}

extern "C" void runPlugin(float *Data, int Count) {
  pluginKernel<<<Count / 128, 128>>>(Data, Count);
  CHECK(cudaGetLastError());
}
