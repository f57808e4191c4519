// Opens the shared object that its argument names after the driver has been initialised, so that
// its module is loaded late. The plugin: nvcc -shared -Xcompiler -fPIC plugin.cu. Link with -ldl.
#include "App.cuh"

#include <dlfcn.h>

__global__ void host(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] += 1.0f;
}

int main(int Argc, char **Argv) {
  constexpr int Count = 1 << 16;
  float *Data = deviceFloats(Count);
  host<<<Count / 256, 256>>>(Data, Count);
  void *Plugin = Argc > 1 ? dlopen(Argv[1], RTLD_NOW) : nullptr;
  if (!Plugin)
    return 91;
  auto Run = reinterpret_cast<void (*)(float *, int)>(dlsym(Plugin, "runPlugin"));
  for (int Launch = 0; Run && Launch < 8; ++Launch)
    Run(Data, Count);
  CHECK(cudaGetLastError());
  printChecksum("plugin", Data, Count);
}
