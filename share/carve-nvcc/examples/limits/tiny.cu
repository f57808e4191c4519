// Limited by launches: twenty thousand kernels of a few microseconds, each the successor of the one
// before, on a vector that 16 blocks cover. The GPU waits for the next launch longer than it
// computes. One kernel for many steps, or a graph of them, makes it faster.
//
// Usage: tiny [LAUNCHES], 20000 by default.

#include "check.cuh"

__global__ void tiny(unsigned *Values) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  Values[I] = Values[I] * 5 + I;
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 20000);
  constexpr int Block = 256, Count = 4096;
  unsigned *Values = allocate<unsigned>(Count);
  CHECK(cudaMemset(Values, 0, Count * sizeof(unsigned)));
  for (int I = 0; I < Launches; ++I)
    tiny<<<Count / Block, Block>>>(Values);
  CHECK(cudaGetLastError());
  bool Right = true;
  const std::vector<unsigned> Host = read(Values, Count);
  for (unsigned I = 0; I < Count; I += 7) {
    unsigned Expected = 0;
    for (int Launch = 0; Launch < Launches; ++Launch)
      Expected = Expected * 5 + I;
    Right &= Host[I] == Expected;
  }
  return report("tiny", Right);
}
