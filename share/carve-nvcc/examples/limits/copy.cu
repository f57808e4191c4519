// Limited by DRAM bandwidth: each thread loads 16 bytes and stores them, with nothing in between.
// 512 MB a launch are many times what any cache holds, every access is coalesced, and a full grid
// has enough of them under way. Nothing but fewer bytes makes it faster.
//
// Usage: copy [LAUNCHES], 400 by default.

#include "check.cuh"

__global__ void fill(int4 *To) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  To[I] = make_int4(I, I + 1, I + 2, I + 3);
}

__global__ void copy(const int4 *__restrict__ From, int4 *__restrict__ To) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  To[I] = From[I];
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 400);
  constexpr int Block = 256, Count = 1 << 24;
  int4 *From = allocate<int4>(Count), *To = allocate<int4>(Count);
  fill<<<Count / Block, Block>>>(From);
  for (int I = 0; I < Launches; ++I)
    copy<<<Count / Block, Block>>>(From, To);
  CHECK(cudaGetLastError());
  bool Right = true;
  const std::vector<int4> Host = read(To, Count);
  for (int I = 0; I < Count; ++I)
    Right &= Host[I].x == I && Host[I].w == I + 3;
  return report("copy", Right);
}
