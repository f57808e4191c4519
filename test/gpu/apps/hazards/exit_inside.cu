// The program ends while another of its threads is still launching.
#include "Hazard.cuh"

#include <chrono>
#include <thread>

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  float *Data = deviceFloats(Count), *Other = deviceFloats(Count);
  for (int Launch = 0; Launch < Launches; ++Launch)
    hot<<<Count / 256, 256>>>(Data);
  printChecksum("exit_inside", Data, Count);
  std::thread([Other] {
    cudaStream_t Stream = newStream();
    // Errors are expected: the driver is being shut down.
    while (true)
      hot<<<Count / 256, 256, 0, Stream>>>(Other);
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  std::exit(5);
}
