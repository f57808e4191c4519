// What the programs of these spaces share: calls that must succeed, numbers that are the same
// everywhere, a checksum.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(Call) check((Call), #Call)

inline void check(cudaError_t Status, const char *Call) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", Call, cudaGetErrorString(Status));
  std::exit(1);
}

// A linear congruential generator; the upper bits are the random ones.
struct Generator {
  std::uint64_t State;
  std::uint32_t next() {
    State = State * 6364136223846793005ull + 1442695040888963407ull;
    return std::uint32_t(State >> 33);
  }
  int below(int Bound) { return int(next() % std::uint32_t(Bound)); }
  float unit() { return float(next() >> 7) / (1 << 24); } // 0 to 1
};

template <typename T> std::uint64_t checksum(const std::vector<T> &Values) {
  std::uint64_t Hash = 14695981039346656037ull;
  for (const T &Value : Values)
    Hash = (Hash ^ std::uint64_t(std::int64_t(Value))) * 1099511628211ull;
  return Hash;
}

// Memory of the device with \p Values in it.
template <typename T> T *onDevice(const std::vector<T> &Values) {
  T *Memory = nullptr;
  CHECK(cudaMalloc(&Memory, Values.size() * sizeof(T)));
  CHECK(cudaMemcpy(Memory, Values.data(), Values.size() * sizeof(T), cudaMemcpyHostToDevice));
  return Memory;
}

template <typename T> std::vector<T> fromDevice(const T *Memory, size_t Count) {
  std::vector<T> Values(Count);
  CHECK(cudaMemcpy(Values.data(), Memory, Count * sizeof(T), cudaMemcpyDeviceToHost));
  return Values;
}
