// Limited by the double-precision pipe: as fma.cu, in double. Data-centre GPUs have half as many
// units for it, others a small part (one in 64): schedulers that could issue more wait for the
// pipe. Single precision, where it is enough, is the way out.
//
// Usage: fp64 [LAUNCHES], 200 by default.

#include "check.cuh"

#include <cmath>

constexpr int Chains = 4, Steps = 1024;
constexpr double Scale = 0.999, Shift = 0.25;

__host__ __device__ inline double first(int Thread, int Chain) {
  return 0.001 * (Thread % 1000) + Chain;
}

__global__ void fp64(double *Out, int Steps) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  double Value[Chains];
  for (int C = 0; C < Chains; ++C)
    Value[C] = first(I, C);
  for (int S = 0; S < Steps; ++S)
#pragma unroll
    for (int C = 0; C < Chains; ++C)
      Value[C] = fma(Value[C], Scale, Shift);
  double Sum = 0;
  for (int C = 0; C < Chains; ++C)
    Sum += Value[C];
  Out[I] = Sum;
}

static double expected(int Thread) {
  double Sum = 0;
  for (int C = 0; C < Chains; ++C) {
    double Value = first(Thread, C);
    for (int S = 0; S < Steps; ++S)
      Value = std::fma(Value, Scale, Shift);
    Sum += Value;
  }
  return Sum;
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 200);
  constexpr int Block = 256, Blocks = 4096;
  double *Out = allocate<double>(Block * Blocks);
  for (int I = 0; I < Launches; ++I)
    fp64<<<Blocks, Block>>>(Out, Steps);
  CHECK(cudaGetLastError());
  bool Right = true;
  const std::vector<double> Host = read(Out, Block * Blocks);
  for (int I = 0; I < 1000; ++I)
    Right &= std::fabs(Host[I * 1048] - expected(I * 1048)) < 1e-9 * std::fabs(Host[I * 1048]);
  return report("fp64", Right);
}
