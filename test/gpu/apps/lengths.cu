// A kernel that is launched in one shape with short and with long work in turn, as the products
// with matrices of two widths in a language model are. The short launches follow links through
// memory, so they are fastest if as many warps as possible wait at once, which takes 32 registers.
// The long ones mix more values than 64 registers hold. They have most of the time, but both the
// first launch and the one in the middle are short. With the argument `graph` the launches are nodes
// of a graph, and with `many` there are more of them.
#include "Walked.cuh"

#include <cstring>

constexpr int Grid = 1024, Block = 256, Pairs = 60, PairsOfGraph = 10;

__global__ void __maxnreg__(64) product(float *Out, const unsigned *Next, int Steps, int Rounds) {
  Out[blockIdx.x * blockDim.x + threadIdx.x] = walkAndMix(Next, Steps, Rounds);
}

static void launchPairs(float *Short, float *Long, const unsigned *Next, int Count,
                        cudaStream_t Stream) {
  for (int Pair = 0; Pair < Count; ++Pair) {
    product<<<Grid, Block, 0, Stream>>>(Short, Next, 800, 0);
    product<<<Grid, Block, 0, Stream>>>(Long, Next, 0, 12);
  }
}

static void launchGraph(float *Short, float *Long, const unsigned *Next) {
  cudaStream_t Stream = nullptr;
  cudaGraph_t Graph = nullptr;
  cudaGraphExec_t Executable = nullptr;
  CHECK(cudaStreamCreate(&Stream));
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  launchPairs(Short, Long, Next, PairsOfGraph, Stream);
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Executable, Graph, 0));
  for (int Launch = 0; Launch < Pairs / PairsOfGraph; ++Launch)
    CHECK(cudaGraphLaunch(Executable, Stream));
  CHECK(cudaStreamSynchronize(Stream));
  CHECK(cudaGraphExecDestroy(Executable));
  CHECK(cudaGraphDestroy(Graph));
  CHECK(cudaStreamDestroy(Stream));
}

int main(int Argc, char **Argv) {
  float *Short = deviceFloats(Grid * Block), *Long = deviceFloats(Grid * Block);
  unsigned *Next = deviceLinks();
  if (Argc > 1 && std::strcmp(Argv[1], "graph") == 0)
    launchGraph(Short, Long, Next);
  else
    launchPairs(Short, Long, Next,
                Argc > 1 && std::strcmp(Argv[1], "many") == 0 ? 10 * Pairs : Pairs, nullptr);
  CHECK(cudaGetLastError());
  printChecksum("short", Short, Grid * Block);
  printChecksum("long", Long, Grid * Block);
  CHECK(cudaFree(Next));
  CHECK(cudaFree(Short));
  CHECK(cudaFree(Long));
}
