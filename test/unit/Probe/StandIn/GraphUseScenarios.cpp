/// \file
/// Scenarios of how programs use graphs: several threads on one stream, long chains of nodes,
/// several contexts, variables of the module, memory of the graph.

#include "unit/Probe/StandIn/Program.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <thread>

using namespace carve::standin;

namespace {
constexpr unsigned Elements = 256;

/// A graph whose nodes run one after the other.
class Chain {
public:
  Chain() { CHECK(cuGraphCreate(&Graph, 0)); }
  Chain(const Chain &) = delete;
  Chain &operator=(const Chain &) = delete;
  ~Chain() {
    if (Exec)
      CHECK(cuGraphExecDestroy(Exec));
    if (Graph)
      CHECK(cuGraphDestroy(Graph));
  }

  /// Adds a launch of \p Kernel, which takes an address and a count.
  void addKernel(CUfunction Kernel, Buffer &Data) { addKernel(Kernel, {&Data.Base, &Data.Count}); }
  CUgraphNode addKernel(CUfunction Kernel, std::vector<void *> Values) {
    CUDA_KERNEL_NODE_PARAMS P = params(Kernel, Values);
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddKernelNode(&Node, Graph, after(), Last != nullptr, &P));
    return Last = Node;
  }
  /// Gives \p Node other arguments in the executable graph.
  void change(CUgraphNode Node, CUfunction Kernel, std::vector<void *> Values) {
    CUDA_KERNEL_NODE_PARAMS P = params(Kernel, Values);
    CHECK(cuGraphExecKernelNodeSetParams(Exec, Node, &P));
  }
  CUdeviceptr addAllocation(size_t Bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS P{};
    P.bytesize = Bytes;
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddMemAllocNode(&Node, Graph, after(), Last != nullptr, &P));
    Last = Node;
    return P.dptr;
  }
  void addFree(CUdeviceptr Address) {
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddMemFreeNode(&Node, Graph, after(), Last != nullptr, Address));
    Last = Node;
  }
  /// Ends the graph itself. The executable graph stays.
  void endSource() {
    CHECK(cuGraphDestroy(Graph));
    Graph = nullptr;
  }
  void addHost(CUhostFn Do, void *With) {
    CUDA_HOST_NODE_PARAMS P{Do, With};
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddHostNode(&Node, Graph, after(), Last != nullptr, &P));
    Last = Node;
  }
  void addNothing() {
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddEmptyNode(&Node, Graph, after(), Last != nullptr));
    Last = Node;
  }
  void launch(CUstream Stream) {
    if (!Exec)
      CHECK(cuGraphInstantiate(&Exec, Graph, 0));
    CHECK(cuGraphLaunch(Exec, Stream));
  }

private:
  static CUDA_KERNEL_NODE_PARAMS params(CUfunction Kernel, std::vector<void *> &Values) {
    CUDA_KERNEL_NODE_PARAMS P{};
    P.func = Kernel;
    P.gridDimX = 16, P.gridDimY = 1, P.gridDimZ = 1;
    P.blockDimX = 64, P.blockDimY = 1, P.blockDimZ = 1;
    P.kernelParams = Values.data();
    return P;
  }
  const CUgraphNode *after() const { return Last ? &Last : nullptr; }

  CUgraph Graph = nullptr;
  CUgraphExec Exec = nullptr;
  CUgraphNode Last = nullptr;
};
} // namespace

/// Threads launch graphs of their own on one stream, always at the same time.
void carve::standin::sharedStream(Kernels &K) {
  CUcontext Context = nullptr;
  CUstream Stream = nullptr;
  CHECK(cuCtxGetCurrent(&Context));
  CHECK(cuStreamCreate(&Stream, CU_STREAM_NON_BLOCKING));
  Buffer First(Elements, 1), Second(Elements, 2);
  std::barrier Together(2);
  auto Launch = [&](Buffer &Data) {
    CHECK(cuCtxSetCurrent(Context));
    Chain Steps;
    // The other thread has begun its launch before the kernels come.
    for (int I = 0; I < 300; ++I)
      Steps.addHost([](void *) {}, nullptr);
    for (int I = 0; I < 8; ++I)
      Steps.addKernel(K.Step, Data);
    for (int L = 0; L < 10; ++L) {
      Together.arrive_and_wait();
      Steps.launch(Stream);
    }
    CHECK(cuStreamSynchronize(Stream));
  };
  std::thread Other([&] { Launch(Second); });
  Launch(First);
  Other.join();
  First.print("first");
  Second.print("second");
}

/// The first node waits for what the program does after the launch, and more nodes follow than a
/// stream takes.
void carve::standin::longChain(Kernels &K) {
  Buffer Data(Elements, 1);
  std::atomic<bool> Flag{false};
  Chain Long;
  Long.addHost(
      [](void *Of) {
        while (!*static_cast<std::atomic<bool> *>(Of))
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      },
      &Flag);
  for (int I = 0; I < 1200; ++I)
    Long.addKernel(K.Step, Data);
  Long.launch(nullptr);
  Flag = true;
  CHECK(cuCtxSynchronize());
  Data.print("data");
}

/// A graph that is launched in one context has a kernel of another one.
void carve::standin::graphContexts(Kernels &K) {
  CUcontext First = nullptr, Second = nullptr;
  CHECK(cuCtxGetCurrent(&First));
  CHECK(cuCtxCreate(&Second, nullptr, 0, 0));
  CUmodule Module = nullptr;
  CUfunction There = nullptr;
  CHECK(cuModuleLoadData(&Module, Kernels::image()));
  CHECK(cuModuleGetFunction(&There, Module, "step"));
  CHECK(cuCtxSetCurrent(First));
  Buffer Data(Elements, 1);
  {
    Chain Both;
    Both.addKernel(K.Step, Data);
    Both.addKernel(There, Data);
    for (int L = 0; L < 5; ++L)
      Both.launch(nullptr);
    CHECK(cuCtxSynchronize());
  }
  Data.print("data");
}

/// The kernel counts its launches in a variable, and only a graph launches it.
void carve::standin::countedGraph(Kernels &K) {
  Buffer Data(Elements, 1);
  {
    Chain Counts;
    Counts.addKernel(K.Count, Data);
    Counts.addNothing();
    Counts.addKernel(K.Count, Data);
    for (int L = 0; L < 3; ++L)
      Counts.launch(nullptr);
    CHECK(cuCtxSynchronize());
  }
  Data.print("data");
}

/// Only a graph launches the kernel, which works in place.
void carve::standin::graphSteps(Kernels &K) {
  Buffer Data(Elements, 1), Other(Elements, 2);
  Chain Steps;
  Steps.addKernel(K.Step, Data);
  Steps.addKernel(K.Step, Other);
  for (int L = 0; L < 5; ++L)
    Steps.launch(nullptr);
  CHECK(cuCtxSynchronize());
  Data.print("data");
  Other.print("other");
}

/// The graph allocates the memory in which it computes. It is changed once, and in the end the
/// graph of which it was made is gone.
void carve::standin::graphMemory(Kernels &K) {
  Buffer Data(Elements, 1);
  unsigned Fewer = Elements / 2;
  {
    Chain Own;
    CUdeviceptr Memory = Own.addAllocation(Elements * sizeof(float));
    Own.addKernel(K.Scale, {&Memory, &Data.Base, &Data.Count});
    CUgraphNode Changed = Own.addKernel(K.Step, {&Memory, &Data.Count});
    Own.addKernel(K.Step, {&Memory, &Data.Count});
    Own.addKernel(K.Scale, {&Data.Base, &Memory, &Data.Count});
    Own.addFree(Memory);
    for (int L = 0; L < 60; ++L) {
      if (L == 20)
        Own.change(Changed, K.Step, {&Memory, &Fewer});
      if (L == 50)
        Own.endSource();
      Own.launch(nullptr);
      if (L % 10 == 0)
        launch(K.Step, nullptr, {&Data.Base, &Data.Count});
    }
    CHECK(cuCtxSynchronize());
  }
  Data.print("data");
}
