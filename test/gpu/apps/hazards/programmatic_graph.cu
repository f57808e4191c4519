// The same as programmatic.cu in a captured graph: an edge by which the hot kernel may begin before
// the kernel ahead of it has ended.
#include "Hazard.cuh"

__global__ void first(float *Data) {
  cudaGridDependencySynchronize();
  Data[globalThread()] = Data[globalThread()] * 0.5f + 0.25f;
  cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void PRESS hot(float *Data, const float *Other) {
  float Value = mixed(Other[globalThread()], Rounds);
  cudaGridDependencySynchronize();
  Data[globalThread()] += Value;
  cudaTriggerProgrammaticLaunchCompletion();
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
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  for (int Pair = 0; Pair < 2; ++Pair) {
    CHECK(cudaLaunchKernelEx(&Config, first, Data));
    CHECK(cudaLaunchKernelEx(&Config, hot, Data, Other));
  }
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (int Launch = 0; Launch < Launches; ++Launch)
    CHECK(cudaGraphLaunch(Exec, Stream));
  printChecksum("programmatic_graph", Data, Count);
}
