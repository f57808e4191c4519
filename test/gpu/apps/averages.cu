// The pressed kernel in a program that launches it thousands of times without waiting, and prints
// how long a launch took on average, by the host's clock and by events, with three digits each.
#include "Pressed.cuh"

#include <chrono>

int main() {
  using Clock = std::chrono::steady_clock;
  constexpr int Count = 1 << 20, Launches = 3000;
  float *Data = deviceFloats(Count);
  cudaEvent_t First, Last;
  CHECK(cudaEventCreate(&First));
  CHECK(cudaEventCreate(&Last));
  pressed<<<Count / 256, 256>>>(Data, Count, 40);
  CHECK(cudaDeviceSynchronize());
  auto Begin = Clock::now();
  CHECK(cudaEventRecord(First));
  for (int Launch = 0; Launch < Launches; ++Launch)
    pressed<<<Count / 256, 256>>>(Data, Count, 40);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(Last));
  CHECK(cudaDeviceSynchronize());
  double Us = std::chrono::duration<double, std::micro>(Clock::now() - Begin).count();
  float EventMs = 0;
  CHECK(cudaEventElapsedTime(&EventMs, First, Last));
  std::printf("host %.3g us\n", Us / Launches);
  std::printf("events %.3g us\n", EventMs * 1e3 / Launches);
  printChecksum("averages", Data, Count);
  CHECK(cudaEventDestroy(First));
  CHECK(cudaEventDestroy(Last));
  CHECK(cudaFree(Data));
}
