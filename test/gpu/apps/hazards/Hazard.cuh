/// \file
/// What the hazard programs share. Each has one hot kernel, `hot`, that is limited to too few
/// registers, in a situation that timing it inside the program must handle or leave alone. Each
/// prints what it has computed, which is the same in every run.
#include "../Pressed.cuh"

constexpr int Count = 1 << 18;
constexpr int Rounds = 40;
constexpr int Launches = 20;

inline cudaStream_t newStream(unsigned Flags = cudaStreamNonBlocking) {
  cudaStream_t Stream;
  CHECK(cudaStreamCreateWithFlags(&Stream, Flags));
  return Stream;
}

__device__ inline int globalThread() { return blockIdx.x * blockDim.x + threadIdx.x; }

/// Allocates host memory that kernels reach under the returned address.
template <class T> T *mappedHost(T *&Host, size_t Elements) {
  T *Device = nullptr;
  CHECK(cudaHostAlloc(&Host, Elements * sizeof(T), cudaHostAllocMapped));
  CHECK(cudaHostGetDevicePointer(&Device, Host, 0));
  for (size_t I = 0; I < Elements; ++I)
    Host[I] = T(I % 251);
  return Device;
}

/// As printChecksum, for memory that the host can read.
inline void printHostChecksum(const char *Name, const void *Data, size_t Bytes) {
  unsigned long long Sum = 14695981039346656037ull;
  for (size_t I = 0; I < Bytes; ++I)
    Sum = (Sum ^ static_cast<const unsigned char *>(Data)[I]) * 1099511628211ull;
  std::printf("%s checksum=%016llx\n", Name, Sum);
  std::fflush(stdout);
}
