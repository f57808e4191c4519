// Kernels whose hardware counters are known: one copies, one multiplies, one uses local memory, one
// is short, and one does the same as the short one and is launched only by a graph.
#include "App.cuh"

__global__ void copies(float4 *Out, const float4 *In, size_t Count) {
  for (size_t I = blockIdx.x * size_t(blockDim.x) + threadIdx.x; I < Count;
       I += size_t(gridDim.x) * blockDim.x)
    Out[I] = In[I];
}

__global__ void multiplies(float *Data, int Rounds, float Factor) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  float V[8];
#pragma unroll
  for (int K = 0; K < 8; ++K)
    V[K] = Data[I] + K;
  for (int R = 0; R < Rounds; ++R)
#pragma unroll
    for (int K = 0; K < 8; ++K)
      V[K] = V[K] * Factor + 0.5f;
  float Sum = 0;
#pragma unroll
  for (int K = 0; K < 8; ++K)
    Sum += V[K];
  Data[I] = Sum;
}

/// An array whose index is known only at run time cannot be in registers.
__global__ void remembers(float *Data, int Rounds) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  float Seen[64];
  for (int K = 0; K < 64; ++K)
    Seen[K] = Data[I] + K;
  int At = int(Data[I] * 64) & 63;
  for (int R = 0; R < Rounds; ++R) {
    Seen[At] = Seen[At] * 0.5f + 1;
    At = (At * 5 + int(Seen[At])) & 63;
  }
  Data[I] = Seen[At];
}

__global__ void brief(float *Data) { Data[threadIdx.x] = Data[threadIdx.x] * 0.5f + 1; }

__global__ void inGraph(float *Data) { Data[threadIdx.x] = Data[threadIdx.x] * 0.5f + 2; }

int main() {
  const size_t Count = size_t(32) << 20;
  const int Blocks = 132 * 8, Threads = 256, Launches = 8;
  float *From = deviceFloats(Count), *To = deviceFloats(Count);
  float *Small = deviceFloats(size_t(Blocks) * Threads);
  cudaStream_t Stream;
  CHECK(cudaStreamCreate(&Stream));
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  inGraph<<<1, Threads, 0, Stream>>>(Small);
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (int L = 0; L < Launches; ++L) {
    copies<<<Blocks, Threads>>>(reinterpret_cast<float4 *>(To),
                                reinterpret_cast<const float4 *>(From), Count / 4);
    multiplies<<<Blocks, Threads>>>(Small, 4096, 0.75f);
    remembers<<<Blocks, Threads>>>(Small, 256);
    brief<<<1, Threads>>>(Small);
    CHECK(cudaGraphLaunch(Exec, Stream));
    CHECK(cudaStreamSynchronize(Stream));
  }
  CHECK(cudaGetLastError());
  printChecksum("copied", To, Count);
  printChecksum("small", Small, size_t(Blocks) * Threads);
  return 0;
}
