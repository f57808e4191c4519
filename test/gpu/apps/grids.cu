// A kernel that is limited to 64 registers, and whose large and small grid want other limits. The
// large grid follows links through memory, so it is fastest if as many warps as possible wait at
// once, which takes 32 registers. The small one mixes many values in few blocks, so it is fastest
// if each value has a register. The argument says how many grids to launch: 2, or 1 for the large
// one.
#include "App.cuh"

constexpr int Width = 96, Block = 256, LargeGrid = 4096, SmallGrid = 64, Links = 1 << 20;

__global__ void __maxnreg__(64) walked(float *Out, const unsigned *Next, int Steps, int Rounds) {
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

int main(int Argc, char **Argv) {
  const bool Both = Argc < 2 || std::atoi(Argv[1]) > 1;
  float *Large = deviceFloats(LargeGrid * Block), *Small = deviceFloats(SmallGrid * Block);
  std::vector<unsigned> Host(Links);
  for (unsigned I = 0; I < Links; ++I)
    Host[I] = (I * 1664525u + 1013904223u) % Links;
  unsigned *Next = nullptr;
  CHECK(cudaMalloc(&Next, Links * sizeof(unsigned)));
  CHECK(cudaMemcpy(Next, Host.data(), Links * sizeof(unsigned), cudaMemcpyHostToDevice));
  for (int Launch = 0; Launch < 30; ++Launch) {
    walked<<<LargeGrid, Block>>>(Large, Next, 200, 0);
    if (Both)
      walked<<<SmallGrid, Block>>>(Small, Next, 0, 1000);
  }
  CHECK(cudaGetLastError());
  printChecksum("large", Large, LargeGrid * Block);
  printChecksum("small", Small, SmallGrid * Block);
  CHECK(cudaFree(Next));
  CHECK(cudaFree(Large));
  CHECK(cudaFree(Small));
}
