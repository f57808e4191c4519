// Limited by latency, for want of parallelism: four blocks of four warps on a GPU of a hundred SMs
// or more, each thread with one chain of dependent multiply-adds. Every scheduler that works waits
// out the pipe's few cycles between two of them, and most of the GPU has nothing to do at all. A
// larger grid makes it faster.
//
// Usage: narrow [LAUNCHES], 100 by default.

#include "check.cuh"

constexpr int Block = 128, Blocks = 4, Steps = 1 << 18;

__global__ void narrow(unsigned *Out, int Steps) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Value = I;
#pragma unroll 8
  for (int S = 0; S < Steps; ++S)
    Value = Value * 1664525u + 1013904223u;
  Out[I] = Value;
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 100);
  unsigned *Out = allocate<unsigned>(Block * Blocks);
  for (int I = 0; I < Launches; ++I)
    narrow<<<Blocks, Block>>>(Out, Steps);
  CHECK(cudaGetLastError());
  bool Right = true;
  const std::vector<unsigned> Host = read(Out, Block * Blocks);
  for (int I = 0; I < Block * Blocks; I += 37) {
    unsigned Expected = I;
    for (int S = 0; S < Steps; ++S)
      Expected = Expected * 1664525u + 1013904223u;
    Right &= Host[I] == Expected;
  }
  return report("narrow", Right);
}
