// A thread of the host writes page-locked memory now and then, which the hot kernel never sees.
// Everything that it writes must stay.
#include "Hazard.cuh"

#include <atomic>
#include <chrono>
#include <thread>

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], 4 * Rounds);
}

int main() {
  float *Data = deviceFloats(Count);
  unsigned *Host = nullptr;
  mappedHost(Host, 1 << 20);
  std::atomic<bool> Stop{false};
  unsigned Lost = 0;
  std::thread Writer([&] {
    for (unsigned Turn = 1; !Stop; ++Turn) {
      volatile unsigned *Word = Host + Turn % 1024 * 1024;
      *Word = Turn;
      std::this_thread::sleep_for(std::chrono::milliseconds(1 + Turn % 13));
      Lost += *Word != Turn;
    }
  });
  for (int Launch = 0; Launch < 5 * Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data);
  CHECK(cudaDeviceSynchronize());
  Stop = true;
  Writer.join();
  printChecksum("device", Data, Count);
  std::printf("words lost: %u\n", Lost);
}
