// The hot kernel runs from a graph that allocates its memory, which has an address of its own.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  float *Data = deviceFloats(Count), *Own;
  cudaStream_t Stream = newStream();
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMallocAsync(&Own, Count * sizeof(float), Stream));
  CHECK(cudaMemcpyAsync(Own, Data, Count * sizeof(float), cudaMemcpyDeviceToDevice, Stream));
  hot<<<Count / 256, 256, 0, Stream>>>(Own);
  CHECK(cudaMemcpyAsync(Data, Own, Count * sizeof(float), cudaMemcpyDeviceToDevice, Stream));
  CHECK(cudaFreeAsync(Own, Stream));
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (int Launch = 0; Launch < Launches; ++Launch)
    CHECK(cudaGraphLaunch(Exec, Stream));
  CHECK(cudaStreamSynchronize(Stream));
  printChecksum("graph_memory", Data, Count);
}
