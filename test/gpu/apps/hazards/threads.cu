// Eight threads that allocate, copy, launch and free all the time, each in a stream of its own.
#include "Hazard.cuh"

#include <thread>

__global__ void PRESS hot(float *Out, const float *In) {
  Out[globalThread()] = mixed(In[globalThread()], Rounds);
}

static void work(int Thread, std::vector<float> &Result) {
  constexpr int Few = 1 << 15;
  cudaStream_t Stream = newStream();
  std::vector<float> Host(Few);
  for (int I = 0; I < Few; ++I)
    Host[size_t(I)] = float((I + Thread) % 1009) / 1009;
  for (int Launch = 0; Launch < Launches; ++Launch) {
    float *In = nullptr, *Out = nullptr;
    CHECK(cudaMalloc(&In, Few * sizeof(float)));
    CHECK(cudaMalloc(&Out, Few * sizeof(float)));
    CHECK(cudaMemcpyAsync(In, Host.data(), Few * sizeof(float), cudaMemcpyHostToDevice, Stream));
    for (int Turn = 0; Turn < 3; ++Turn) {
      hot<<<Few / 256, 256, 0, Stream>>>(Out, In);
      hot<<<Few / 256, 256, 0, Stream>>>(In, Out);
    }
    CHECK(cudaMemcpyAsync(Host.data(), In, Few * sizeof(float), cudaMemcpyDeviceToHost, Stream));
    CHECK(cudaStreamSynchronize(Stream));
    CHECK(cudaFree(In));
    CHECK(cudaFree(Out));
  }
  Result = Host;
}

int main() {
  std::vector<std::vector<float>> Results(8);
  std::vector<std::thread> Threads;
  for (int T = 0; T < 8; ++T)
    Threads.emplace_back([&, T] { work(T, Results[size_t(T)]); });
  for (std::thread &T : Threads)
    T.join();
  for (const std::vector<float> &Result : Results)
    printHostChecksum("thread", Result.data(), Result.size() * sizeof(float));
}
