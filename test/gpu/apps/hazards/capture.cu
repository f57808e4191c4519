// The hot kernel runs from a graph that was captured from a stream, and also without a graph.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds);
}

int main() {
  float *Data = deviceFloats(Count);
  cudaStream_t Stream = newStream();
  for (int Launch = 0; Launch < Launches; ++Launch) {
    cudaGraph_t Graph;
    cudaGraphExec_t Exec;
    CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
    hot<<<Count / 256, 256, 0, Stream>>>(Data);
    hot<<<Count / 256, 256, 0, Stream>>>(Data);
    CHECK(cudaStreamEndCapture(Stream, &Graph));
    CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
    CHECK(cudaGraphLaunch(Exec, Stream));
    hot<<<Count / 256, 256, 0, Stream>>>(Data);
    CHECK(cudaStreamSynchronize(Stream));
    CHECK(cudaGraphExecDestroy(Exec));
    CHECK(cudaGraphDestroy(Graph));
  }
  printChecksum("capture", Data, Count);
}
