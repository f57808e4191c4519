/// \file
/// What the GPU test programs share: error checks, and a checksum that is the same in every run.
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

/// Returns a value that needs about forty other values on its way, so that the kernel that asks for
/// it can use fewer registers at the cost of spills. The value stays bounded, however many times
/// the function is applied.
__device__ inline float churned(float Value) {
  constexpr int Width = 40;
  float Values[Width];
#pragma unroll
  for (int K = 0; K < Width; ++K)
    Values[K] = Value * (K + 1) * 0.03125f + 0.0625f * K;
#pragma unroll 1
  for (int Round = 0; Round < 4; ++Round)
#pragma unroll
    for (int K = 0; K < Width; ++K)
      Values[K] = Values[K] * 0.5f + Values[(K + 7) % Width] * 0.375f + 0.125f;
  float Sum = 0;
#pragma unroll
  for (int K = 0; K < Width; ++K)
    Sum = Sum * 0.5f + Values[K];
  return Sum * 0.25f;
}
