// Ends in the way that its argument names, after all kernels. With `hang-kernel` it ends while one
// runs.
#include "App.cuh"

#include <csignal>
#include <cstring>
#include <unistd.h>

__global__ void work(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = Data[I] * 2.0f + 1.0f;
}

__global__ void wait(long long Cycles) {
  for (long long Begin = clock64(); clock64() - Begin < Cycles;)
    continue;
}

int main(int Argc, char **Argv) {
  constexpr int Count = 1 << 16;
  const char *How = Argc > 1 ? Argv[1] : "return";
  auto Is = [&](const char *Name) { return std::strcmp(How, Name) == 0; };
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < 7; ++Launch)
    work<<<Count / 256, 256>>>(Data, Count);
  printChecksum("endings", Data, Count);
  if (Is("hang-kernel")) {
    wait<<<1, 1>>>(400'000'000); // About a quarter of a second.
    _exit(3);
  }
  if (Is("sleep-kill")) {
    usleep(1'200'000); // This is longer than the probe's period, so the records must be there.
    raise(SIGKILL);
  }
  if (Is("exit"))
    std::exit(3);
  if (Is("_exit"))
    _exit(3);
  if (Is("_Exit"))
    std::_Exit(3);
  if (Is("quick_exit"))
    std::quick_exit(3);
  if (Is("abort"))
    std::abort();
  if (Is("term"))
    raise(SIGTERM);
  if (Is("segv"))
    *static_cast<volatile int *>(nullptr) = 1;
  if (Is("kill"))
    raise(SIGKILL);
  return 0;
}
