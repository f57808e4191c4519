// KERNELS kernels (60), each pressed and with code of its own, so that a tuning has much to share
// out. The argument is how often each is launched (20).
#include "Pressed.cuh"

#include <cstdlib>
#include <utility>

#ifndef KERNELS
#define KERNELS 60
#endif

template <int Number> __global__ void PRESS pressedOf(float *Data, int Count, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = mixed(Data[I] + Number * 0.001f, Rounds) * (1 + Number * 0.01f);
}

template <int... Numbers>
void launchAll(float *Data, int Count, std::integer_sequence<int, Numbers...>) {
  (pressedOf<Numbers><<<Count / 256, 256>>>(Data, Count, 40), ...);
}

int main(int Argc, char **Argv) {
  constexpr int Count = 1 << 20;
  const int Launches = Argc > 1 ? std::atoi(Argv[1]) : 20;
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < Launches; ++Launch)
    launchAll(Data, Count, std::make_integer_sequence<int, KERNELS>());
  CHECK(cudaGetLastError());
  printChecksum("many", Data, Count);
}
