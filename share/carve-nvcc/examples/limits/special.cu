// Limited by the special-function units: cosines, one instruction each, of which an SM begins 16
// per cycle, an eighth of what it issues. Other instructions would be free beside them; fewer
// special functions (polynomials, tables, algebra) make it faster.
//
// Usage: special [LAUNCHES], 200 by default.

#include "check.cuh"

#include <cmath>

constexpr int Chains = 4, Steps = 512;

__global__ void special(float *Out, int Steps) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  float Value[Chains];
  for (int C = 0; C < Chains; ++C)
    Value[C] = 0.001f * (I % 1000) + 0.1f * C;
  for (int S = 0; S < Steps; ++S)
#pragma unroll
    for (int C = 0; C < Chains; ++C)
      Value[C] = __cosf(Value[C]);
  float Sum = 0;
  for (int C = 0; C < Chains; ++C)
    Sum += Value[C];
  Out[I] = Sum;
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 200);
  constexpr int Block = 256, Blocks = 4096;
  float *Out = allocate<float>(Block * Blocks);
  for (int I = 0; I < Launches; ++I)
    special<<<Blocks, Block>>>(Out, Steps);
  CHECK(cudaGetLastError());
  // Cosine upon cosine leads to the number that is its own cosine.
  bool Right = true;
  for (float Value : read(Out, Block * Blocks))
    Right &= std::fabs(Value - Chains * 0.7390851f) < 1e-4f;
  return report("special", Right);
}
