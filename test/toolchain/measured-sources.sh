# shellcheck shell=bash
# The benchmarks beside it source this file. It writes small.cu, which has one kernel, and heavy.cu,
# which is full of headers and library kernels, into the current directory.
cat >small.cu <<'END'
__global__ void small(float *Y, int N) {
  for (int I = threadIdx.x; I < N; I += blockDim.x)
    Y[I] = Y[I] * 1.5f + I;
}
END
cat >heavy.cu <<'END'
#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/sort.h>
__global__ void own(float *Y, int N) {
  for (int I = threadIdx.x; I < N; I += blockDim.x)
    Y[I] = Y[I] * 1.5f + sinf(Y[I]);
}
float sum(thrust::device_vector<float> &V) {
  thrust::sort(V.begin(), V.end());
  return thrust::reduce(V.begin(), V.end());
}
END
