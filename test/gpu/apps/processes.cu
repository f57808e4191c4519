// A program that starts itself twice: three processes, each of which must leave a file of its own.
#include "App.cuh"

#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void work(float *Data, int Count, float Add) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]) + Add;
}

int main(int Argc, char **Argv) {
  constexpr int Count = 1 << 16;
  bool IsChild = Argc > 1;
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < (IsChild ? 5 : 3); ++Launch)
    work<<<Count / 256, 256>>>(Data, Count, IsChild ? 2.0f : 1.0f);
  CHECK(cudaGetLastError());
  printChecksum(IsChild ? "child" : "parent", Data, Count);
  if (IsChild)
    return 0;
  for (int Child = 0; Child < 2; ++Child) {
    pid_t Pid = fork();
    if (Pid == 0) {
      execl("/proc/self/exe", Argv[0], "child", nullptr);
      _exit(91);
    }
    int Status = 0;
    waitpid(Pid, &Status, 0);
    if (Status != 0)
      return 92;
  }
  return 0;
}
