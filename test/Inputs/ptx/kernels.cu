// Kernels whose cubins and PTX the tests read; see README.md for how they are recorded.
__constant__ float Coefficients[4] = {1.f, 2.f, 3.f, 4.f};
__device__ float Table[4] = {4.f, 3.f, 2.f, 1.f};

__device__ __noinline__ float scaled(float X, int I) {
  return X > 2.f ? X * Coefficients[I & 3] : X - Table[I & 3];
}

// Called like the last part of `.nv.global.init`, which is not its section.
extern "C" __global__ void init(float *P) { P[threadIdx.x] = Table[threadIdx.x & 3]; }

// `_Z2avPf`, and a kernel whose name ends in that.
__global__ void av(float *P) {
  __shared__ float Tile[128];
  Tile[threadIdx.x] = P[threadIdx.x];
  __syncthreads();
  P[threadIdx.x] = Tile[127 - threadIdx.x] * Coefficients[1];
}
extern "C" __global__ void x_Z2avPf(float *P) { P[threadIdx.x] = scaled(P[threadIdx.x], 3); }

// Needs many registers.
__global__ void __launch_bounds__(256) bulky(double *P, int N) {
  double A[24];
  for (int I = 0; I < 24; ++I)
    A[I] = P[I * 256 + threadIdx.x];
  for (int J = 0; J < N; ++J)
    for (int I = 0; I < 24; ++I)
      A[I] = A[(I + 5) % 24] * 1.25 + A[I];
  for (int I = 0; I < 24; ++I)
    P[I * 256 + threadIdx.x] = A[I];
}

__device__ __noinline__ int ackermann(int M, int N) {
  return M == 0 ? N + 1 : N == 0 ? ackermann(M - 1, 1) : ackermann(M - 1, ackermann(M, N - 1));
}
__global__ void recursive(int *P) { P[0] = ackermann(P[1], P[2]); }
