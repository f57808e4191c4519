// Variables and a function of the device that the other files refer to.
#include "linked.cuh"

__device__ float Bias = 0.125f;
__constant__ float Weights[8];

__device__ __noinline__ float adjusted(float Value) {
  return Value * Weights[3] + Bias;
}
