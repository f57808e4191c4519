// Measures, with graph-cost.sh, what the probe costs a program that launches graphs: a chain of
// short kernels is launched again and again.
//
//   graph_cost [NODES [LAUNCHES]]
#include "Pressed.cuh"

int main(int Count, char **Arguments) {
  int Nodes = Count > 1 ? std::atoi(Arguments[1]) : 1000,
      Launches = Count > 2 ? std::atoi(Arguments[2]) : 1000;
  constexpr int Elements = 1 << 14, Threads = 256;
  float *Data = deviceFloats(Elements);
  cudaStream_t Stream;
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  for (int Node = 0; Node < Nodes; ++Node)
    pressed<<<Elements / Threads, Threads, 0, Stream>>>(Data, Elements, /*Rounds=*/4);
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (int Launch = 0; Launch < Launches; ++Launch)
    CHECK(cudaGraphLaunch(Exec, Stream));
  CHECK(cudaStreamSynchronize(Stream));
  printChecksum("graph_cost", Data, Elements);
}
