// The pressed kernel in a shared object, for a host that is not a CUDA program: Python, or
// plugin_main.
#include "Pressed.cuh"

extern "C" void runPlugin(float *Data, int Count) {
  pressed<<<Count / 256, 256>>>(Data, Count, 40);
  CHECK(cudaGetLastError());
}

extern "C" int runLibrary(int Launches) {
  constexpr int Count = 1 << 20;
  float *Data = deviceFloats(Count);
  for (int Launch = 0; Launch < Launches; ++Launch)
    runPlugin(Data, Count);
  printChecksum("library", Data, Count);
  CHECK(cudaFree(Data));
  return 0;
}
