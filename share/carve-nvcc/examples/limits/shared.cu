// Limited by shared memory: a warp reads a column of a tile whose rows are 32 words long, so that
// all its addresses lie in one of the 32 banks and each load is carried out 32 times, one thread at
// a time. A row of 33 words would spread them over all banks.
//
// Usage: shared [LAUNCHES], 200 by default.

#include "check.cuh"

constexpr int Row = 32, Block = 256, Rounds = 16;

__host__ __device__ inline unsigned cell(int Block, int Index) { return Block * 7 + Index; }

__global__ void shared(unsigned *Out, int Rounds, int Step) {
  __shared__ unsigned Tile[Block * Row];
  for (int I = threadIdx.x; I < Block * Row; I += Block)
    Tile[I] = cell(blockIdx.x, I);
  __syncthreads();
  unsigned Sum = 0;
  for (int R = 0; R < Rounds; ++R)
    for (int Column = 0; Column < Row; Column += Step)
      Sum = Sum * 3 + Tile[threadIdx.x * Row + Column];
  Out[blockIdx.x * Block + threadIdx.x] = Sum;
}

static unsigned expected(int InBlock, int Thread) {
  unsigned Sum = 0;
  for (int R = 0; R < Rounds; ++R)
    for (int Column = 0; Column < Row; ++Column)
      Sum = Sum * 3 + cell(InBlock, Thread * Row + Column);
  return Sum;
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 200);
  constexpr int Blocks = 2048;
  unsigned *Out = allocate<unsigned>(Blocks * Block);
  for (int I = 0; I < Launches; ++I)
    shared<<<Blocks, Block>>>(Out, Rounds, /*Step=*/1);
  CHECK(cudaGetLastError());
  bool Right = true;
  const std::vector<unsigned> Host = read(Out, Blocks * Block);
  for (int I = 0; I < Blocks * Block; I += 1001)
    Right &= Host[I] == expected(I / Block, I % Block);
  return report("shared", Right);
}
