// Limited by memory transactions: each thread loads four bytes from an address that it has read,
// and its neighbours' lie in other 32-byte sectors, the least that memory moves. 40 bytes are moved
// for 12 that are used; a layout that puts together what a warp reads would save most of them.
//
// Usage: gather [LAUNCHES], 400 by default.

#include "check.cuh"

constexpr int Spread = 8; ///< Elements of a sector.

__host__ __device__ inline unsigned mix(unsigned Value) {
  Value ^= Value >> 16;
  Value *= 0x7feb352du;
  return Value ^ Value >> 15;
}

__global__ void fill(int *Values, int *Indices) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  Indices[I] = I * Spread + mix(I) % Spread;
  for (int S = 0; S < Spread; ++S)
    Values[I * Spread + S] = mix(I * Spread + S);
}

__global__ void gather(const int *__restrict__ Values, const int *__restrict__ Indices,
                       int *__restrict__ Out) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  Out[I] = Values[Indices[I]];
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 400);
  constexpr int Block = 256, Count = 1 << 23;
  int *Values = allocate<int>(size_t(Count) * Spread);
  int *Indices = allocate<int>(Count), *Out = allocate<int>(Count);
  fill<<<Count / Block, Block>>>(Values, Indices);
  for (int I = 0; I < Launches; ++I)
    gather<<<Count / Block, Block>>>(Values, Indices, Out);
  CHECK(cudaGetLastError());
  bool Right = true;
  const std::vector<int> Host = read(Out, Count);
  for (int I = 0; I < Count; ++I)
    Right &= Host[I] == int(mix(I * Spread + mix(I) % Spread));
  return report("gather", Right);
}
