// Kernels in graphs: one graph is captured from a stream, one is built node by node, and each is
// launched many times.
#include "App.cuh"

__global__ void captured(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]);
}

__global__ void added(float *Data, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Data[I] = churned(Data[I]) + 0.75f;
}

int main() {
  int Count = 1 << 16;
  float *Data = deviceFloats(Count);
  cudaStream_t Stream;
  CHECK(cudaStreamCreate(&Stream));

  cudaGraph_t Captured, Explicit;
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  for (int Launch = 0; Launch < 3; ++Launch)
    captured<<<Count / 256, 256, 0, Stream>>>(Data, Count);
  CHECK(cudaStreamEndCapture(Stream, &Captured));

  CHECK(cudaGraphCreate(&Explicit, 0));
  void *Args[] = {&Data, &Count};
  cudaKernelNodeParams Params{};
  Params.func = reinterpret_cast<void *>(added);
  Params.gridDim = dim3(Count / 128);
  Params.blockDim = dim3(128);
  Params.kernelParams = Args;
  cudaGraphNode_t Node;
  CHECK(cudaGraphAddKernelNode(&Node, Explicit, nullptr, 0, &Params));

  cudaGraphExec_t CapturedExec, ExplicitExec;
  CHECK(cudaGraphInstantiate(&CapturedExec, Captured, 0));
  CHECK(cudaGraphInstantiate(&ExplicitExec, Explicit, 0));
  for (int Launch = 0; Launch < 10; ++Launch) {
    CHECK(cudaGraphLaunch(CapturedExec, Stream));
    CHECK(cudaGraphLaunch(ExplicitExec, Stream));
  }
  printChecksum("graph", Data, Count);
}
