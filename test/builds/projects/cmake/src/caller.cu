#include "scale.h"

extern __device__ float twice(float X);

__global__ void call(float *Y) { Y[threadIdx.x] = twice(Y[threadIdx.x]); }

void runScale() { call<<<1, 32>>>(nullptr); }
