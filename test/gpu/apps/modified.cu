// Kernels of which it is known for what they wait: memory alone, arithmetic alone, or both. Of one
// more kernel no modified version can be made.
#include "App.cuh"

#include <vector>

__global__ void copies(const float4 *In, float4 *Out) {
  unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  Out[I] = In[I];
}

__global__ void computes(const float *In, float *Out, int Steps) {
  unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  float A = In[I], B = A + 1, C = A + 2, D = A + 3;
  for (int S = 0; S < Steps; ++S) {
    A = A * 0.99f + 0.01f;
    B = B * 0.98f + 0.02f;
    C = C * 0.97f + 0.03f;
    D = D * 0.96f + 0.04f;
  }
  Out[I] = A + B + C + D;
}

__global__ void doesBoth(const float *In, float *Out, int Count) {
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Count; I += gridDim.x * blockDim.x) {
    float X = In[I], Sum = 0;
#pragma unroll
    for (int S = 0; S < 48; ++S)
      Sum = Sum * X + 0.5f;
    Out[I] = Sum;
  }
}

__global__ void counts(const float *In, unsigned *Bins) {
  unsigned I = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&Bins[unsigned(In[I] * 100) % 64], 1u);
}

int main() {
  constexpr unsigned Count = 1u << 26, Few = 1u << 20, Threads = 256;
  std::vector<float> Host(Count);
  for (unsigned I = 0; I < Count; ++I)
    Host[I] = float(I % 977) / 977;
  float *In, *Out;
  unsigned *Bins;
  CHECK(cudaMalloc(&In, Count * sizeof(float)));
  CHECK(cudaMalloc(&Out, Count * sizeof(float)));
  CHECK(cudaMalloc(&Bins, 64 * sizeof(unsigned)));
  CHECK(cudaMemcpy(In, Host.data(), Count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(Out, 0, Count * sizeof(float)));
  CHECK(cudaMemset(Bins, 0, 64 * sizeof(unsigned)));
  double Sum = 0;
  for (int Launch = 0; Launch < 6; ++Launch) {
    copies<<<Count / 4 / Threads, Threads>>>(reinterpret_cast<float4 *>(In),
                                             reinterpret_cast<float4 *>(Out));
    counts<<<Few / Threads, Threads>>>(Out, Bins);
    doesBoth<<<2048, Threads>>>(In, Out, Count);
    computes<<<Few / Threads, Threads>>>(In, Out, 4000);
    CHECK(cudaMemcpy(Host.data(), Out, Few * sizeof(float), cudaMemcpyDeviceToHost));
    for (unsigned I = 0; I < Few; ++I)
      Sum += Host[I];
    CHECK(cudaMemcpy(Host.data(), Out + Count - Few, Few * sizeof(float), cudaMemcpyDeviceToHost));
    for (unsigned I = 0; I < Few; ++I)
      Sum += Host[I];
  }
  unsigned Found[64];
  CHECK(cudaMemcpy(Found, Bins, sizeof Found, cudaMemcpyDeviceToHost));
  std::printf("sum %.9g, bin %u\n", Sum, Found[5]);
}
