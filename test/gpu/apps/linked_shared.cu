// Device variables and a device function to which the other files refer.
#include "linked.cuh"

__device__ float Bias = 0.125f;
__constant__ float Weights[8];

__device__ __noinline__ float adjusted(float Value) {
  return Value * Weights[3] + Bias;
}
