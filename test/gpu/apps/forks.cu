// Forks as its argument says. `before`: before the first call of CUDA, so that three processes use
// it. `after`: the children do nothing with CUDA. `daemon`: a child of a child goes on after
// everybody has waited. `busy SECONDS`: it does not fork and keeps the GPU at work.
#include "App.cuh"

#include <ctime>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void work(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]);
}

constexpr int Count = 1 << 18;

static float *launch(float *Data, int Launches) {
  for (int Launch = 0; Launch < Launches; ++Launch)
    work<<<Count / 256, 256>>>(Data, Count);
  CHECK(cudaDeviceSynchronize());
  return Data;
}

/// Waits for children that do \p Work and end.
template <typename Function> static void forkTwo(Function Work) {
  for (int Child = 0; Child < 2; ++Child)
    if (fork() == 0) {
      Work();
      _exit(0);
    }
  while (wait(nullptr) > 0) {
  }
}

int main(int Argc, char **Argv) {
  std::string How = Argc > 1 ? Argv[1] : "";
  if (How == "before")
    forkTwo([] { launch(deviceFloats(Count), 5); });
  float *Data = launch(deviceFloats(Count), 7);
  if (How == "after")
    forkTwo([] { usleep(100000); });
  if (How == "daemon" && fork() == 0) {
    setsid();
    if (fork() == 0)
      usleep(1500000);
    _exit(0);
  }
  if (How == "daemon")
    wait(nullptr);
  for (std::time_t End = std::time(nullptr) + (How == "busy" && Argc > 2 ? std::atoi(Argv[2]) : 0);
       std::time(nullptr) < End;)
    launch(Data, 1000);
  if (How != "busy")
    printChecksum("forks", Data, Count);
}
