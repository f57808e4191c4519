// Loads the cubin or fatbinary that its argument names through the driver's own calls. The image:
//   nvcc -cubin -arch=sm_90 driver_module_kernel.cu -o FILE. Link with -lcuda.
#include "App.cuh"

#include <cstring>
#include <cuda.h>
#include <fstream>
#include <iterator>

static void checkDriver(CUresult Status, const char *Call) {
  if (Status == CUDA_SUCCESS)
    return;
  std::fprintf(stderr, "%s: %d\n", Call, int(Status));
  std::exit(90);
}
#define CHECK_DRIVER(Call) checkDriver((Call), #Call)

int main(int Argc, char **Argv) {
  if (Argc < 2)
    return 91;
  int Count = 1 << 16;
  float *Data = deviceFloats(Count); // This call also makes the context current.
  CUmodule Module;
  if (Argc > 2 && !std::strcmp(Argv[2], "file")) {
    CHECK_DRIVER(cuModuleLoad(&Module, Argv[1]));
  } else {
    std::ifstream In(Argv[1], std::ios::binary);
    std::vector<char> Image{std::istreambuf_iterator<char>(In), std::istreambuf_iterator<char>()};
    CHECK_DRIVER(cuModuleLoadData(&Module, Image.data()));
  }
  CUfunction Function;
  CHECK_DRIVER(cuModuleGetFunction(&Function, Module, "driverKernel"));
  void *Args[] = {&Data, &Count};
  for (int Launch = 0; Launch < 6; ++Launch)
    CHECK_DRIVER(cuLaunchKernel(Function, Count / 256, 1, 1, 256, 1, 1, 0, nullptr, Args, nullptr));
  printChecksum("driver_module", Data, Count);
}
