// Kernels that run at the same time in several streams, launched by several host threads.
#include "App.cuh"

#include <thread>

__global__ void work(float *Data, int Count, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  float Value = Data[I];
  for (int Round = 0; Round < Rounds; ++Round)
    Value = Value * 0.999f + 0.001f;
  Data[I] = Value;
}

int main() {
  constexpr int Streams = 4, Count = 1 << 14;
  float *Data = deviceFloats(Streams * Count);
  std::vector<std::thread> Threads;
  for (int S = 0; S < Streams; ++S)
    Threads.emplace_back([=] {
      cudaStream_t Stream;
      CHECK(cudaStreamCreate(&Stream));
      for (int Launch = 0; Launch < 25; ++Launch)
        work<<<Count / 128, 128, 0, Stream>>>(Data + S * Count, Count, 2000);
      CHECK(cudaStreamSynchronize(Stream));
    });
  for (std::thread &T : Threads)
    T.join();
  printChecksum("streams", Data, Streams * Count);
}
