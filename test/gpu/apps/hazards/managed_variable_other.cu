// The managed variable of managed_variable.cu.
#include "../App.cuh"

#include "managed_variable.cuh"

__managed__ float Shared[SharedCount];

__global__ void tell(Place *Where) {
  Where->Inverted = ~reinterpret_cast<unsigned long long>(&Shared[0]);
}

void tellPlace(Place *Where) {
  for (int I = 0; I < SharedCount; ++I)
    Shared[I] = float(I % 1009) / 1009;
  tell<<<1, 1>>>(Where);
  CHECK(cudaDeviceSynchronize());
}

void changeShared(int Launch) { Shared[Launch] += 1; }

void printShared() {
  unsigned long long Sum = 14695981039346656037ull;
  for (float Each : Shared)
    Sum = (Sum ^ static_cast<unsigned long long>(Each * 1e6f)) * 1099511628211ull;
  std::printf("managed checksum=%016llx\n", Sum);
}
