// All memory comes from the stream-ordered pool and is freed between the launches.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Out, const float *In) {
  Out[globalThread()] = mixed(In[globalThread()], Rounds);
}

int main() {
  cudaStream_t Stream = newStream();
  float *Data = nullptr;
  CHECK(cudaMallocAsync(&Data, Count * sizeof(float), Stream));
  CHECK(cudaMemsetAsync(Data, 0, Count * sizeof(float), Stream));
  for (int Launch = 0; Launch < Launches; ++Launch) {
    float *Next = nullptr;
    CHECK(cudaMallocAsync(&Next, Count * sizeof(float), Stream));
    hot<<<Count / 256, 256, 0, Stream>>>(Next, Data);
    CHECK(cudaFreeAsync(Data, Stream));
    Data = Next;
  }
  printChecksum("pool", Data, Count);
  CHECK(cudaFreeAsync(Data, Stream));
  CHECK(cudaStreamSynchronize(Stream));
}
