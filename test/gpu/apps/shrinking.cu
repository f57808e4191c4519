// A kernel that has less and less to do, as in the decomposition of a matrix: every step works on
// what the steps before have left. Each step has another grid, or, with the argument `one-grid`,
// the grid of the first one, whose further blocks do nothing. It is limited to too few registers,
// as the pressed kernel is.
#include "Pressed.cuh"

#include <cstring>

constexpr int Steps = 200, BlocksOfStep = 40, Block = 256;

__global__ void PRESS shrinking(float *Left, int Count, int Step, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  // The step is part of the result, so that each element shows how many steps it was left for.
  if (I < Count)
    Left[I] = 0.5f * Left[I] + mixed(Left[I] + 0.01f * Step, Rounds);
}

int main(int Argc, char **Argv) {
  const bool OneGrid = Argc > 1 && std::strcmp(Argv[1], "one-grid") == 0;
  constexpr int StepCount = BlocksOfStep * Block, Count = Steps * StepCount;
  float *Data = deviceFloats(Count);
  for (int Step = 0; Step < Steps; ++Step) {
    const int Blocks = (Steps - Step) * BlocksOfStep;
    shrinking<<<OneGrid ? Steps * BlocksOfStep : Blocks, Block>>>(
        Data + Step * StepCount, Blocks * Block, Step, OneGrid ? 4 : 12);
  }
  CHECK(cudaGetLastError());
  printChecksum("shrinking", Data, Count);
  CHECK(cudaFree(Data));
}
