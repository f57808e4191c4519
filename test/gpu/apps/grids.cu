// A kernel that is limited to 64 registers, and whose large and small grid want other limits. The
// large grid follows links through memory, so it is fastest if as many warps as possible wait at
// once, which takes 32 registers. The small one mixes many values in few blocks, so it is fastest
// if each value has a register. The argument says how many grids to launch: 2, or 1 for the large
// one.
#include "Walked.cuh"

constexpr int Block = 256, LargeGrid = 4096, SmallGrid = 64;

__global__ void __maxnreg__(64) walked(float *Out, const unsigned *Next, int Steps, int Rounds) {
  Out[blockIdx.x * blockDim.x + threadIdx.x] = walkAndMix(Next, Steps, Rounds);
}

int main(int Argc, char **Argv) {
  const bool Both = Argc < 2 || std::atoi(Argv[1]) > 1;
  float *Large = deviceFloats(LargeGrid * Block), *Small = deviceFloats(SmallGrid * Block);
  unsigned *Next = deviceLinks();
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
