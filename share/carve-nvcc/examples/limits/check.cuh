// What the programs of this folder share: calls that are checked, the size of a run, and the one
// line that each prints.
#pragma once

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

/// The first word of the command line, or \p Default.
inline int launchesOf(int argc, char **argv, int Default) {
  const int Launches = argc > 1 ? std::atoi(argv[1]) : Default;
  if (Launches > 0)
    return Launches;
  std::fprintf(stderr, "usage: %s [LAUNCHES], at least 1, %d by default\n", argv[0], Default);
  std::exit(1);
}

/// Prints the line and is the exit status.
inline int report(const char *Name, bool Right) {
  CHECK(cudaDeviceSynchronize());
  std::printf("%s: %s\n", Name, Right ? "the result is right" : "THE RESULT IS WRONG");
  return Right ? 0 : 1;
}

/// \p Count elements on the device, not set.
template <typename T> T *allocate(size_t Count) {
  T *Memory = nullptr;
  CHECK(cudaMalloc(&Memory, Count * sizeof(T)));
  return Memory;
}

/// The first \p Count elements of \p Memory.
template <typename T> std::vector<T> read(const T *Memory, size_t Count) {
  std::vector<T> Host(Count);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(Host.data(), Memory, Count * sizeof(T), cudaMemcpyDeviceToHost));
  return Host;
}
