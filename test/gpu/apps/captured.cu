// A kernel that needs everything that a capture contains: memory of three kinds, variables of its
// module, and dynamic shared memory above the default. With the argument `pointer` it follows a
// pointer in memory to a variable; with `texture` a texture object exists. Neither can be captured.
#include "App.cuh"

#include <cstring>

__device__ float Table[512];
__device__ float Seen[512]; // Each element is used by one thread alone.
__constant__ float Factors[4];

struct Arguments {
  float *Out;
  const float *In, *Pool;
  char Odd;
};

__global__ void gather(Arguments A, float *const *Hidden, int Count) {
  extern __shared__ float Shared[];
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  Shared[threadIdx.x] = A.In[I] * Factors[I % 4];
  __syncthreads();
  float Sum = 0;
  for (int K = 0; K < 64; ++K)
    Sum += Shared[(threadIdx.x + K) % blockDim.x] * Table[(I + K) % 512];
  if (I < Count)
    A.Out[I] += Sum + A.Pool[I] + (*Hidden)[I] + float(A.Odd);
  if (I < 512)
    Seen[I] += Sum;
}

int main(int Argc, char **Argv) {
  constexpr int Count = 1 << 16, Smem = 64 << 10;
  const char *How = Argc > 1 ? Argv[1] : "";
  float *Out = deviceFloats(Count), *In = deviceFloats(Count), *Other = deviceFloats(Count);
  float *Pool = nullptr, **Hidden = nullptr;
  std::vector<float> Host(512, 0.25f);
  CHECK(cudaMallocAsync(&Pool, Count * sizeof(float), nullptr));
  CHECK(cudaMemcpy(Pool, In, Count * sizeof(float), cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpyToSymbol(Table, Host.data(), sizeof Table));
  CHECK(cudaMemcpyToSymbol(Factors, Host.data(), sizeof Factors));
  CHECK(cudaMalloc(&Hidden, 2 * sizeof *Hidden));
  CHECK(cudaMemset(Hidden, 0, 2 * sizeof *Hidden));
  CHECK(cudaMemcpy(Hidden, &Other, sizeof Other, cudaMemcpyHostToDevice));
  if (!std::strcmp(How, "pointer")) {
    void *Symbol = nullptr;
    CHECK(cudaGetSymbolAddress(&Symbol, Table));
    CHECK(cudaMemcpy(Hidden + 1, &Symbol, sizeof Symbol, cudaMemcpyHostToDevice));
  }
  if (!std::strcmp(How, "texture")) {
    cudaResourceDesc Resource{};
    cudaTextureDesc Texture{};
    cudaTextureObject_t Object = 0;
    Resource.resType = cudaResourceTypeLinear;
    Resource.res.linear.devPtr = In;
    Resource.res.linear.desc = cudaCreateChannelDesc<float>();
    Resource.res.linear.sizeInBytes = Count * sizeof(float);
    CHECK(cudaCreateTextureObject(&Object, &Resource, &Texture, nullptr));
  }
  CHECK(cudaFuncSetAttribute(gather, cudaFuncAttributeMaxDynamicSharedMemorySize, Smem));
  for (int Launch = 0; Launch < 9; ++Launch)
    gather<<<Count / 256, 256, Smem>>>({Out, In, Pool, 3}, Hidden, Count);
  CHECK(cudaGetLastError());
  printChecksum("captured", Out, Count);
}
