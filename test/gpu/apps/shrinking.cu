// A kernel that is launched with another grid each time, as in the decomposition of a matrix: every
// step works on what the steps before have left. It is limited to too few registers, as the pressed
// kernel is.
#include "Pressed.cuh"

constexpr int Steps = 200, BlocksOfStep = 40, Block = 256;

__global__ void PRESS shrinking(float *Left, int Step, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  // The step is part of the result, so that each element shows how many steps it was left for.
  Left[I] = 0.5f * Left[I] + mixed(Left[I] + 0.01f * Step, Rounds);
}

int main() {
  constexpr int StepCount = BlocksOfStep * Block, Count = Steps * StepCount;
  float *Data = deviceFloats(Count);
  for (int Step = 0; Step < Steps; ++Step)
    shrinking<<<(Steps - Step) * BlocksOfStep, Block>>>(Data + Step * StepCount, Step, 12);
  CHECK(cudaGetLastError());
  printChecksum("shrinking", Data, Count);
  CHECK(cudaFree(Data));
}
