// Kernels for the tests of `carve points`: one per thing that bears on registers and occupancy.

// Keeps 64 values alive, so that every cap below that count changes the code.
__device__ __forceinline__ void churn(float *a, int n) {
  float r[64];
  for (int i = 0; i < 64; i++)
    r[i] = a[i * n + threadIdx.x];
  for (int k = 0; k < n; k++)
    for (int i = 0; i < 64; i++)
      r[i] = r[i] * r[(i + 7) & 63] + a[k];
  float sum = 0;
  for (int i = 0; i < 64; i++)
    sum += r[i] * r[63 - i];
  a[threadIdx.x] = sum;
}

__global__ void plain(float *a, int n) { churn(a, n); }

__global__ void __launch_bounds__(256, 4) bounded(float *a, int n) { churn(a, n); }

__global__ void __launch_bounds__(512) wide(float *a, int n) { churn(a, n); }

__global__ void __maxnreg__(40) capped(float *a, int n) { churn(a, n); }

__global__ void tiny(float *a) { a[threadIdx.x] *= 2; }

__global__ void shared(float *a, int n) {
  __shared__ float tile[5000];
  extern __shared__ float more[];
  tile[threadIdx.x] = a[threadIdx.x];
  more[threadIdx.x] = a[n];
  __syncthreads();
  a[threadIdx.x] = tile[n] + more[n];
  churn(a, n);
}

__global__ void barriers(float *a, int n) {
  asm volatile("bar.sync 15, 64;");
  a[threadIdx.x] += n;
  asm volatile("bar.sync 3, 64;");
  churn(a, n);
}

namespace {
__global__ void hidden(float *a) { a[threadIdx.x] *= 3; }
} // namespace

void launchHidden(float *a) { hidden<<<1, 32>>>(a); }
