// A kernel waits for the host, which waits for a second kernel. This works because CUDA has loaded
// both kernels before: loading one may wait for all that run. The waiting kernel gives up after
// some seconds, so that the program ends in any case.
#include "App.cuh"

extern "C" __global__ void awaited(float *Data, int Rounds) {
  float Value = Data[threadIdx.x];
  for (int Round = 0; Round < Rounds; ++Round)
    Value = churned(Value);
  Data[threadIdx.x] = Value;
}

__global__ void waiting(volatile int *Told, int *GaveUp) {
  constexpr unsigned long long MostNs = 3000000000ull;
  unsigned long long Begin, Now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(Begin));
  do {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(Now));
  } while (!*Told && Now - Begin < MostNs);
  *GaveUp = !*Told;
}

int main() {
  constexpr int Count = 256;
  float *Data = deviceFloats(Count);
  int *Told, *GaveUp;
  cudaStream_t First, Second;
  CHECK(cudaHostAlloc(&Told, sizeof(int), cudaHostAllocMapped));
  CHECK(cudaHostAlloc(&GaveUp, sizeof(int), cudaHostAllocMapped));
  CHECK(cudaStreamCreateWithFlags(&First, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&Second, cudaStreamNonBlocking));
  *Told = 1;
  waiting<<<1, 1, 0, First>>>(Told, GaveUp);
  awaited<<<1, Count, 0, Second>>>(Data, 2);
  CHECK(cudaDeviceSynchronize());

  *Told = 0;
  waiting<<<1, 1, 0, First>>>(Told, GaveUp);
  awaited<<<1, 64, 0, Second>>>(Data, 3);
  CHECK(cudaStreamSynchronize(Second));
  *static_cast<volatile int *>(Told) = 1;
  CHECK(cudaDeviceSynchronize());
  std::printf("the kernel %s\n", *GaveUp ? "gave up" : "was told");
  printChecksum("awaited", Data, Count);
}
