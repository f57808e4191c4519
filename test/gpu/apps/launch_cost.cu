// Measures what a launch costs the host: a kernel that does nothing is launched as often as the
// argument says. Prints the nanoseconds per launch, the least and the median of ten parts.
#include "App.cuh"

#include <algorithm>
#include <chrono>

/// The branch is never taken. It gives the kernel a load, which a further entry can change.
extern "C" __global__ void launched(float *Data, int Count, float Factor, long Offset) {
  if (Count < 0)
    Data[threadIdx.x] += Factor * Data[Offset + threadIdx.x];
}

int main(int Count, char **Arguments) {
  constexpr long Parts = 10, PerWait = 1000; // The queue of launches does not fill.
  long Waits = std::max(1L, (Count > 1 ? std::atol(Arguments[1]) : 10000000) / Parts / PerWait);
  float *Data = deviceFloats(64);
  auto Part = [&](long Times) {
    auto Begin = std::chrono::steady_clock::now();
    for (long Wait = 0; Wait < Times; ++Wait) {
      for (long Launch = 0; Launch < PerWait; ++Launch)
        launched<<<1, 32>>>(Data, 3, 0.5f, 32);
      CHECK(cudaDeviceSynchronize());
    }
    CHECK(cudaGetLastError());
    std::chrono::duration<double, std::nano> Spent = std::chrono::steady_clock::now() - Begin;
    return Spent.count() / double(Times * PerWait);
  };
  Part(10); // The first launches load the kernel.
  double Ns[Parts];
  for (double &Each : Ns)
    Each = Part(Waits);
  std::sort(Ns, Ns + Parts);
  std::printf("%.1f %.1f\n", Ns[0], (Ns[Parts / 2 - 1] + Ns[Parts / 2]) / 2);
}
