// The hot kernel is only ever a node of a graph.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  float *Data = deviceFloats(Count);
  cudaStream_t Stream = newStream();
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  cudaGraphNode_t Node;
  void *Arguments[] = {&Data};
  cudaKernelNodeParams Params{};
  Params.func = reinterpret_cast<void *>(hot);
  Params.gridDim = dim3(Count / 256);
  Params.blockDim = dim3(256);
  Params.kernelParams = Arguments;
  CHECK(cudaGraphCreate(&Graph, 0));
  CHECK(cudaGraphAddKernelNode(&Node, Graph, nullptr, 0, &Params));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (int Launch = 0; Launch < Launches; ++Launch)
    CHECK(cudaGraphLaunch(Exec, Stream));
  printChecksum("graph", Data, Count);
}
