// Three kernels whose register counts react to a cap, one whose launch bounds hold it down, and one
// whose name holds a hash of the file.
// The host code has inline functions and templates, so that the object has COMDAT groups.

/// Keeps Values numbers alive across the loop, so that it wants about two registers for each.
template <int Values> __device__ __forceinline__ void mix(double *Y, const double *X, int N) {
  double A[Values];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    A[I] = X[(threadIdx.x * Values + I) % N];
  for (int Round = 0; Round < N; ++Round)
#pragma unroll
    for (int I = 0; I < Values; ++I)
      A[I] = A[(I + 1) % Values] * 1.0625 + A[I];
#pragma unroll
  for (int I = 0; I < Values; ++I)
    Y[threadIdx.x * Values + I] = A[I];
}

__global__ void bulky(double *Y, const double *X, int N) { mix<40>(Y, X, N); }
__global__ void steady(double *Y, const double *X, int N) { mix<24>(Y, X, N); }
__global__ void noisy(double *Y, const double *X, int N) { mix<32>(Y, X, N); }
__global__ void __launch_bounds__(1024) bounded(double *Y, const double *X, int N) {
  mix<48>(Y, X, N);
}
namespace {
__global__ void hidden(double *Y, const double *X, int N) { mix<20>(Y, X, N); }
} // namespace

template <typename T> struct DeviceArray {
  T *Data = nullptr;
  cudaError_t Status;
  explicit DeviceArray(size_t Count) : Status(cudaMalloc(&Data, Count * sizeof(T))) {
    if (Status == cudaSuccess)
      cudaMemset(Data, 0, Count * sizeof(T));
  }
  ~DeviceArray() { cudaFree(Data); }
};

inline int failed(cudaError_t Status) { return Status == cudaSuccess ? 0 : 1; }

int main() {
  constexpr int N = 256;
  DeviceArray<double> X(N * 64), Y(N * 64);
  if (failed(X.Status) || failed(Y.Status))
    return 1;
  bulky<<<64, N>>>(Y.Data, X.Data, N);
  steady<<<64, N>>>(Y.Data, X.Data, N);
  noisy<<<64, N>>>(Y.Data, X.Data, N);
  bounded<<<64, N>>>(Y.Data, X.Data, N);
  hidden<<<64, N>>>(Y.Data, X.Data, N);
  return failed(cudaDeviceSynchronize());
}
