// Two launches of the hot kernel run at once and pass a word back and forth.
#include "Hazard.cuh"

__global__ void PRESS hot(volatile float *Data, volatile int *Word, int Side, int Turns) {
  for (int Turn = 0; Turn < Turns; ++Turn) {
    if (threadIdx.x == 0)
      while (*Word % 2 != Side) {
      }
    __syncthreads();
    Data[threadIdx.x] = mixed(Data[threadIdx.x], Rounds);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
      ++*Word;
  }
}

int main() {
  float *Data = deviceFloats(256);
  int *Word = nullptr;
  CHECK(cudaMalloc(&Word, sizeof(int)));
  CHECK(cudaMemset(Word, 0, sizeof(int)));
  hot<<<1, 256>>>(Data, Word, 0, 0);
  CHECK(cudaDeviceSynchronize());
  cudaStream_t One = newStream(), Two = newStream();
  for (int Launch = 0; Launch < Launches; ++Launch) {
    hot<<<1, 256, 0, One>>>(Data, Word, 0, 20);
    hot<<<1, 256, 0, Two>>>(Data, Word, 1, 20);
    CHECK(cudaDeviceSynchronize());
  }
  printChecksum("talking", Data, 256);
}
