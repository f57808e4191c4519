/// \file
/// What the GPU test programs share: error checks and a checksum that the same run always gives.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

inline void check(cudaError_t Status, const char *Call) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(90);
}
#define CHECK(Call) check((Call), #Call)

inline float *deviceFloats(size_t Count) {
  float *Data = nullptr;
  CHECK(cudaMalloc(&Data, Count * sizeof(float)));
  std::vector<float> Host(Count);
  for (size_t I = 0; I < Count; ++I)
    Host[I] = float(I % 1009) / 1009;
  CHECK(cudaMemcpy(Data, Host.data(), Count * sizeof(float), cudaMemcpyHostToDevice));
  return Data;
}

/// Waits for the device and prints the checksum of \p Data, bit for bit.
inline void printChecksum(const char *Name, const float *Data, size_t Count) {
  std::vector<unsigned> Host(Count);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(Host.data(), Data, Count * sizeof(float), cudaMemcpyDeviceToHost));
  unsigned long long Sum = 14695981039346656037ull;
  for (unsigned Word : Host)
    Sum = (Sum ^ Word) * 1099511628211ull;
  std::printf("%s checksum=%016llx\n", Name, Sum);
  std::fflush(stdout);
}
