// Limited by memory, as the kernel of the example `copy` is. Only a graph launches it.
#include "App.cuh"

__global__ void graph_copy(float4 *Out, const float4 *In, size_t Count) {
  for (size_t I = blockIdx.x * size_t(blockDim.x) + threadIdx.x; I < Count;
       I += size_t(gridDim.x) * blockDim.x)
    Out[I] = In[I];
}

int main() {
  const size_t Count = size_t(32) << 20;
  float *From = deviceFloats(Count), *To = deviceFloats(Count);
  cudaStream_t Stream;
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamCreate(&Stream));
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  for (int Node = 0; Node < 2; ++Node)
    graph_copy<<<132 * 8, 256, 0, Stream>>>(reinterpret_cast<float4 *>(To),
                                            reinterpret_cast<const float4 *>(From), Count / 4);
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (int Launch = 0; Launch < 20; ++Launch)
    CHECK(cudaGraphLaunch(Exec, Stream));
  CHECK(cudaStreamSynchronize(Stream));
  printChecksum("copied", To, Count);
}
