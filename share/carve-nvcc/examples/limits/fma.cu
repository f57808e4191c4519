// Limited by instructions, those of the 32-bit multiply-add pipe: eight independent chains of
// multiply-adds in registers, with no memory but one store at the end. Schedulers issue in nearly
// every cycle; only fewer instructions, or others (tensor cores), make it faster.
//
// Usage: fma [LAUNCHES], 300 by default.

#include "check.cuh"

#include <cmath>

constexpr int Chains = 8, Steps = 1024;
constexpr float Scale = 0.999f, Shift = 0.25f;

__host__ __device__ inline float first(int Thread, int Chain) {
  return 0.001f * (Thread % 1000) + Chain;
}

__global__ void fma(float *Out, int Steps) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  float Value[Chains];
  for (int C = 0; C < Chains; ++C)
    Value[C] = first(I, C);
  for (int S = 0; S < Steps; ++S)
#pragma unroll
    for (int C = 0; C < Chains; ++C)
      Value[C] = fmaf(Value[C], Scale, Shift);
  float Sum = 0;
  for (int C = 0; C < Chains; ++C)
    Sum = fmaf(Value[C], C + 1, Sum);
  Out[I] = Sum;
}

static float expected(int Thread) {
  float Sum = 0;
  for (int C = 0; C < Chains; ++C) {
    float Value = first(Thread, C);
    for (int S = 0; S < Steps; ++S)
      Value = std::fmaf(Value, Scale, Shift);
    Sum = std::fmaf(Value, C + 1, Sum);
  }
  return Sum;
}

int main(int argc, char **argv) {
  const int Launches = launchesOf(argc, argv, 300);
  constexpr int Block = 256, Blocks = 8192;
  float *Out = allocate<float>(Block * Blocks);
  for (int I = 0; I < Launches; ++I)
    fma<<<Blocks, Block>>>(Out, Steps);
  CHECK(cudaGetLastError());
  // Within rounding: the compiler may multiply and add the first value apart.
  bool Right = true;
  const std::vector<float> Host = read(Out, Block * Blocks);
  for (int I = 0; I < 1000; ++I)
    Right &= std::fabs(Host[I * 2097] - expected(I * 2097)) < 1e-2f * std::fabs(Host[I * 2097]);
  return report("fma", Right);
}
