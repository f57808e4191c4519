// The hot kernel begins before the kernel ahead of it has ended (programmatic dependent launch).
#include "Hazard.cuh"

__global__ void first(float *Data) {
  Data[globalThread()] = Data[globalThread()] * 0.5f + 0.25f;
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void PRESS hot(float *Data, const float *Other) {
  float Value = mixed(Other[globalThread()], Rounds);
  cudaGridDependencySynchronize();
  Data[globalThread()] += Value;
}

int main() {
  float *Data = deviceFloats(Count);
  const float *Other = deviceFloats(Count);
  cudaStream_t Stream = newStream();
  cudaLaunchAttribute Attribute{};
  Attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  Attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t Config{};
  Config.gridDim = dim3(Count / 256);
  Config.blockDim = dim3(256);
  Config.stream = Stream;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  for (int Launch = 0; Launch < Launches; ++Launch) {
    first<<<Count / 256, 256, 0, Stream>>>(Data);
    CHECK(cudaLaunchKernelEx(&Config, hot, Data, Other));
  }
  printChecksum("programmatic", Data, Count);
}
