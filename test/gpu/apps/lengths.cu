// A kernel that is launched in one shape with short and with long work in turn, as the products
// with matrices of two widths in a language model are. The short launches follow links through
// memory, so they are fastest if as many warps as possible wait at once, which takes 32 registers.
// The long ones mix more values than 64 registers hold. They have most of the time, but both the
// first launch and the one in the middle are short. With the argument `graph` the launches are nodes
// of a graph, and with `many` there are more of them.
#include "App.cuh"

#include <cstring>

constexpr int Width = 96, Grid = 1024, Block = 256, Links = 1 << 20, Pairs = 60, PairsOfGraph = 10;

__global__ void __maxnreg__(64) product(float *Out, const unsigned *Next, int Steps, int Rounds) {
  unsigned At = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  // All lanes of a warp read the same word, so what counts is how long it takes to arrive.
  for (int Step = 0; Step < Steps; ++Step)
    At = Next[At];
  float Sum = float(At & 1023);
  // Nothing is spilled where there is nothing to mix.
  if (Rounds > 0) {
    float Values[Width];
#pragma unroll
    for (int K = 0; K < Width; ++K)
      Values[K] = Sum * (K + 1) * 0.0009765625f + 0.0625f * K;
#pragma unroll 1
    for (int Round = 0; Round < Rounds; ++Round)
#pragma unroll
      for (int K = 0; K < Width; ++K)
        Values[K] = Values[K] * 0.5f + Values[(K + 29) % Width] * 0.375f + 0.125f;
#pragma unroll
    for (int K = 0; K < Width; ++K)
      Sum += Values[K];
  }
  Out[blockIdx.x * blockDim.x + threadIdx.x] = Sum;
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
  std::vector<unsigned> Host(Links);
  for (unsigned I = 0; I < Links; ++I)
    Host[I] = (I * 1664525u + 1013904223u) % Links;
  unsigned *Next = nullptr;
  CHECK(cudaMalloc(&Next, Links * sizeof(unsigned)));
  CHECK(cudaMemcpy(Next, Host.data(), Links * sizeof(unsigned), cudaMemcpyHostToDevice));
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
