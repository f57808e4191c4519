// Limited by local memory: a stencil over 49 planes along z that keeps them in registers, 60 of
// them at least, while its launch bounds leave it 32. What does not fit is stored to local memory
// and loaded again in every step, several times the bytes of the field itself. More registers for a
// thread (fewer resident blocks, which is what carve's caps try) make it faster.
//
// Usage: spill [LAUNCHES], 60 by default.

#include "check.cuh"

constexpr int Radius = 24, Planes = 2 * Radius + 1, Depth = 256;
constexpr int Block = 256, Columns = 1 << 18;

__host__ __device__ inline int initial(int Column, int Z) { return (Column * 31 + Z * 7) & 255; }

__global__ void fill(int *Field) {
  const int Column = blockIdx.x * blockDim.x + threadIdx.x;
  for (int Z = 0; Z < Depth + 2 * Radius; ++Z)
    Field[Z * Columns + Column] = initial(Column, Z);
}

__global__ void __launch_bounds__(Block, 8)
    spill(const int *__restrict__ Field, int *__restrict__ Out, int Depth) {
  const int Column = blockIdx.x * Block + threadIdx.x;
  int Queue[Planes];
#pragma unroll
  for (int P = 0; P < Planes - 1; ++P)
    Queue[P + 1] = Field[P * Columns + Column];
  for (int Z = 0; Z < Depth; ++Z) {
#pragma unroll
    for (int P = 0; P < Planes - 1; ++P)
      Queue[P] = Queue[P + 1];
    Queue[Planes - 1] = Field[(Z + Planes - 1) * Columns + Column];
    int Sum = 0;
#pragma unroll
    for (int P = 0; P < Planes; ++P)
      Sum += Queue[P];
    Out[Z * Columns + Column] = Sum;
  }
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 60);
  int *Field = allocate<int>(size_t(Columns) * (Depth + 2 * Radius));
  int *Out = allocate<int>(size_t(Columns) * Depth);
  fill<<<Columns / Block, Block>>>(Field);
  for (int I = 0; I < Launches; ++I)
    spill<<<Columns / Block, Block>>>(Field, Out, Depth);
  CHECK(cudaGetLastError());
  bool Right = true;
  const std::vector<int> Host = read(Out, size_t(Columns) * Depth);
  for (int Z = 0; Z < Depth; Z += 17)
    for (int Column = 0; Column < Columns; Column += 101) {
      int Sum = 0;
      for (int P = 0; P < Planes; ++P)
        Sum += initial(Column, Z + P);
      Right &= Host[size_t(Z) * Columns + Column] == Sum;
    }
  return report("spill", Right);
}
