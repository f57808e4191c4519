// Threads that launch into their own default streams. Needs --default-stream=per-thread.
#include "Hazard.cuh"

#include <thread>

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  constexpr int Threads = 4;
  float *Data = deviceFloats(Threads * Count / 4);
  std::vector<std::thread> Running;
  for (int T = 0; T < Threads; ++T)
    Running.emplace_back([=] {
      for (int Launch = 0; Launch < Launches; ++Launch)
        hot<<<Count / 4 / 256, 256>>>(Data + T * Count / 4);
      CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    });
  for (std::thread &T : Running)
    T.join();
  printChecksum("per_thread_stream", Data, Threads * Count / 4);
}
