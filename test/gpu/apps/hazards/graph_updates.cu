// The hot kernel runs from graphs alone: one that was captured from two streams, with copies, a fill
// and a function of the host, and whose kernels get other arguments; and one that is updated as a
// whole. The sources of both are destroyed early, and each is launched on two streams.
#include "Hazard.cuh"

__global__ void PRESS hot(float *Data, float Step) {
  Data[globalThread()] = mixed(Data[globalThread()], Rounds) + Step;
}

__global__ void add(float *To, const float *From) { To[globalThread()] += From[globalThread()]; }

static void CUDART_CB count(void *Calls) { ++*static_cast<unsigned *>(Calls); }

/// Captures two branches that meet again.
static cudaGraph_t captured(cudaStream_t Stream, float *Data, float *Beside, float *Host,
                            unsigned *Calls, float Step) {
  cudaStream_t Branch = newStream();
  cudaEvent_t Fork, Join;
  CHECK(cudaEventCreateWithFlags(&Fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&Join, cudaEventDisableTiming));
  cudaGraph_t Graph;
  CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(Fork, Stream));
  CHECK(cudaStreamWaitEvent(Branch, Fork, 0));
  CHECK(cudaMemsetAsync(Beside, 0, Count * sizeof(float), Branch));
  CHECK(cudaMemcpyAsync(Beside, Host, 4096, cudaMemcpyHostToDevice, Branch));
  hot<<<Count / 256, 256, 0, Branch>>>(Beside, Step);
  hot<<<Count / 256, 256, 0, Stream>>>(Data, Step);
  CHECK(cudaEventRecord(Join, Branch));
  CHECK(cudaStreamWaitEvent(Stream, Join, 0));
  add<<<Count / 256, 256, 0, Stream>>>(Data, Beside);
  CHECK(cudaMemcpyAsync(Host, Data, 4096, cudaMemcpyDeviceToHost, Stream));
  CHECK(cudaLaunchHostFunc(Stream, count, Calls));
  CHECK(cudaStreamEndCapture(Stream, &Graph));
  CHECK(cudaEventDestroy(Fork));
  CHECK(cudaEventDestroy(Join));
  CHECK(cudaStreamDestroy(Branch));
  return Graph;
}

/// Gives the hot kernels of \p Graph other arguments in \p Exec.
static void changeSteps(cudaGraph_t Graph, cudaGraphExec_t Exec, float Step) {
  size_t Size = 0;
  CHECK(cudaGraphGetNodes(Graph, nullptr, &Size));
  cudaGraphNode_t Nodes[16];
  CHECK(cudaGraphGetNodes(Graph, Nodes, &Size));
  for (size_t I = 0; I < Size; ++I) {
    cudaGraphNodeType Type;
    CHECK(cudaGraphNodeGetType(Nodes[I], &Type));
    cudaKernelNodeParams Params{};
    if (Type != cudaGraphNodeTypeKernel)
      continue;
    CHECK(cudaGraphKernelNodeGetParams(Nodes[I], &Params));
    if (Params.func != reinterpret_cast<void *>(hot))
      continue;
    void *Arguments[] = {Params.kernelParams[0], &Step};
    Params.kernelParams = Arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(Exec, Nodes[I], &Params));
  }
}

int main() {
  float *Data = deviceFloats(Count), *Beside = deviceFloats(Count), *Host;
  CHECK(cudaHostAlloc(&Host, 4096, cudaHostAllocDefault));
  for (int I = 0; I < 1024; ++I)
    Host[I] = float(I % 11);
  unsigned Calls = 0;
  cudaStream_t Streams[] = {newStream(), newStream()};
  cudaGraph_t First = captured(Streams[0], Data, Beside, Host, &Calls, 0.5f),
              Second = captured(Streams[0], Data, Beside, Host, &Calls, 0.25f);
  cudaGraphExec_t ByNode, Whole;
  CHECK(cudaGraphInstantiate(&ByNode, First, 0));
  CHECK(cudaGraphInstantiate(&Whole, Second, 0));
  CHECK(cudaGraphDestroy(Second));
  for (int Launch = 0; Launch < Launches; ++Launch) {
    changeSteps(First, ByNode, 0.125f * float(Launch % 7));
    CHECK(cudaGraphLaunch(ByNode, Streams[Launch % 2]));
    CHECK(cudaDeviceSynchronize());
    cudaGraph_t New =
        captured(Streams[0], Data, Beside, Host, &Calls, 0.0625f * float(Launch % 5));
    cudaGraphExecUpdateResultInfo Info;
    CHECK(cudaGraphExecUpdate(Whole, New, &Info));
    CHECK(cudaGraphDestroy(New));
    CHECK(cudaGraphLaunch(Whole, Streams[0]));
    CHECK(cudaGraphLaunch(Whole, Streams[1]));
    CHECK(cudaDeviceSynchronize());
  }
  printChecksum("graph_updates", Data, Count);
  printHostChecksum("host", Host, 4096);
  std::printf("%u calls\n", Calls);
}
