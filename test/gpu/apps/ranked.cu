// One of several ranks, which the launcher (ranks.cpp) numbers. It uses the GPU of its number, and
// prints a line when it reaches its end. With `hang` it stays there.
#include "Pressed.cuh"

#include <cstring>
#include <string>
#include <unistd.h>

int main(int Argc, char **Argv) {
  const char *Text = std::getenv("RANK");
  int Rank = Text ? std::atoi(Text) : 0, Gpus = 0;
  CHECK(cudaGetDeviceCount(&Gpus));
  CHECK(cudaSetDevice(Rank % Gpus));
  int Count = (Rank + 1) << 18;
  float *Data = deviceFloats(size_t(Count));
  for (int Launch = 0; Launch < 20; ++Launch)
    pressed<<<Count / 256, 256>>>(Data, Count, 40);
  CHECK(cudaGetLastError());
  printChecksum(("rank " + std::to_string(Rank)).c_str(), Data, size_t(Count));
  if (Argc > 1 && !std::strcmp(Argv[1], "hang"))
    sleep(60);
  return 0;
}
