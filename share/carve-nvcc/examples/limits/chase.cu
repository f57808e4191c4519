// Limited by latency: every load's address is what the load before it has read, and a warp per SM
// is not enough to have others under way meanwhile. Bandwidth and schedulers are idle. More chains
// at once (more threads, or several in each) or fewer dependent steps make it faster.
//
// Usage: chase [LAUNCHES], 150 by default.

#include "check.cuh"

constexpr unsigned Cells = 1u << 26; ///< 256 MB, more than the caches hold.
constexpr int Steps = 1000;

// A step of a generator whose period is the number of cells: the chain comes to all of them.
__host__ __device__ inline unsigned following(unsigned Cell) {
  return (Cell * 1664525u + 1013904223u) % Cells;
}

__global__ void fill(unsigned *Next) {
  const unsigned Cell = blockIdx.x * blockDim.x + threadIdx.x;
  Next[Cell] = following(Cell);
}

__global__ void chase(const unsigned *__restrict__ Next, unsigned *At, int Steps) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned Cell = At[I];
  for (int S = 0; S < Steps; ++S)
    Cell = Next[Cell];
  At[I] = Cell;
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 150);
  constexpr int Block = 32, Blocks = 128, Threads = Block * Blocks;
  unsigned *Next = allocate<unsigned>(Cells), *At = allocate<unsigned>(Threads);
  std::vector<unsigned> Expected(Threads);
  for (int I = 0; I < Threads; ++I)
    Expected[I] = I * (Cells / Threads);
  CHECK(cudaMemcpy(At, Expected.data(), Threads * sizeof(unsigned), cudaMemcpyHostToDevice));
  fill<<<Cells / 256, 256>>>(Next);
  for (int I = 0; I < Launches; ++I)
    chase<<<Blocks, Block>>>(Next, At, Steps);
  CHECK(cudaGetLastError());
  const std::vector<unsigned> Host = read(At, Threads);
  bool Right = true;
  for (int I = 0; I < Threads; I += 64) {
    for (int S = 0; S < Launches * Steps; ++S)
      Expected[I] = following(Expected[I]);
    Right &= Host[I] == Expected[I];
  }
  return report("chase", Right);
}
