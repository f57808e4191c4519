// Kernels whose data decides how many times their loops run. The argument says how to end: `reset`,
// `_exit`, `busy` (with work for which nobody waits), or anything else. With `graph`, graphs launch
// the kernels.
#include "App.cuh"

#include <cstring>
#include <unistd.h>

constexpr int Period = 37, Count = Period * 1024, Threads = 256;

/// The way from I to 0 has I % Period steps.
__device__ __noinline__ int walk(const int *Next, int At) {
  int Steps = 0;
#pragma unroll 1
  while (At > 0) {
    At = Next[At];
    ++Steps;
  }
  return Steps;
}

__global__ void steps(const int *Next, int *Out) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  int Steps = 0, At = I % Period;
#pragma unroll 1
  while (At > 0) {
    At = Next[At];
    ++Steps;
  }
  Out[I] = Steps;
}

/// Half of a warp goes twice as far as the other half, in a function.
__global__ void walks(const int *Next, int *Out) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Count)
    Out[I] += walk(Next, I % 2 ? 20 : 10);
}

/// Makes \p Launch launch its kernel ten times, if \p ByGraph by a graph.
template <class F> void tenTimes(cudaStream_t Stream, bool ByGraph, F Launch) {
  if (!ByGraph) {
    for (int I = 0; I < 10; ++I)
      Launch();
    return;
  }
  cudaGraph_t Graph;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  Launch();
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
  for (int I = 0; I < 10; ++I)
    CHECK(cudaGraphLaunch(Exec, Stream));
}

int main(int Argc, char **Argv) {
  const char *How = Argc > 1 ? Argv[1] : "";
  std::vector<int> Host(Count);
  for (int I = 0; I < Count; ++I)
    Host[I] = I - 1;
  int *Next = nullptr, *Out = nullptr;
  CHECK(cudaMalloc(&Next, Count * sizeof(int)));
  CHECK(cudaMalloc(&Out, Count * sizeof(int)));
  CHECK(cudaMemcpy(Next, Host.data(), Count * sizeof(int), cudaMemcpyHostToDevice));
  cudaStream_t Streams[2];
  for (cudaStream_t &S : Streams)
    CHECK(cudaStreamCreateWithFlags(&S, cudaStreamNonBlocking));
  // There are two blocks more than the work needs.
  bool ByGraph = !std::strcmp(How, "graph");
  tenTimes(Streams[0], ByGraph,
           [&] { steps<<<Count / Threads + 2, Threads, 0, Streams[0]>>>(Next, Out); });
  CHECK(cudaDeviceSynchronize());
  tenTimes(Streams[1], ByGraph,
           [&] { walks<<<Count / Threads, Threads, 0, Streams[1]>>>(Next, Out); });
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(Host.data(), Out, Count * sizeof(int), cudaMemcpyDeviceToHost));
  unsigned long long Sum = 14695981039346656037ull;
  for (int Value : Host)
    Sum = (Sum ^ unsigned(Value)) * 1099511628211ull;
  std::printf("counted checksum=%016llx\n", Sum);
  std::fflush(stdout);
  if (!std::strcmp(How, "reset"))
    CHECK(cudaDeviceReset());
  if (!std::strcmp(How, "_exit"))
    _exit(0);
  if (!std::strcmp(How, "busy"))
    steps<<<Count / Threads + 2, Threads, 0, Streams[0]>>>(Next, Out);
  return 0;
}
