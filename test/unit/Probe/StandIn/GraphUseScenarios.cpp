/// \file
/// Scenarios of how programs use graphs: several threads on one stream, long chains of nodes,
/// several contexts, variables of the module, memory of the graph, nodes that wait for others.

#include "unit/Probe/StandIn/Program.h"
#include "unit/Probe/StandIn/StandIn.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <thread>

using namespace carve::standin;

namespace {
constexpr unsigned Elements = 256;

/// The parameters of a node with \p Kernel. \p Values must outlive them.
CUDA_KERNEL_NODE_PARAMS kernelNode(CUfunction Kernel, std::vector<void *> &Values) {
  CUDA_KERNEL_NODE_PARAMS P{};
  P.func = Kernel;
  P.gridDimX = 16, P.gridDimY = 1, P.gridDimZ = 1;
  P.blockDimX = 64, P.blockDimY = 1, P.blockDimZ = 1;
  P.kernelParams = Values.data();
  return P;
}

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
    CUDA_KERNEL_NODE_PARAMS P = kernelNode(Kernel, Values);
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddKernelNode(&Node, Graph, after(), Last != nullptr, &P));
    return Last = Node;
  }
  /// The same, but the kernel may begin before the one ahead of it ends.
  CUgraphNode addEarlyKernel(CUfunction Kernel, std::vector<void *> Values) {
    CUDA_KERNEL_NODE_PARAMS P = kernelNode(Kernel, Values);
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddKernelNode(&Node, Graph, nullptr, 0, &P));
    CUgraphEdgeData Early{};
    Early.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    Early.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    CHECK(cuGraphAddDependencies(Graph, &Last, &Node, &Early, 1));
    return Last = Node;
  }
  /// Gives \p Node other arguments in the executable graph.
  void change(CUgraphNode Node, CUfunction Kernel, std::vector<void *> Values) {
    CUDA_KERNEL_NODE_PARAMS P = kernelNode(Kernel, Values);
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

/// Launches \p Kernel so that it may begin before the one ahead of it ends.
static void launchEarly(CUfunction Kernel, Buffer &Data) {
  CUlaunchAttribute Early{};
  Early.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  Early.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig Config{};
  Config.gridDimX = 16, Config.gridDimY = 1, Config.gridDimZ = 1;
  Config.blockDimX = 64, Config.blockDimY = 1, Config.blockDimZ = 1;
  Config.attrs = &Early;
  Config.numAttrs = 1;
  void *Values[] = {&Data.Base, &Data.Count};
  CHECK(cuLaunchKernelEx(&Config, Kernel, Values, nullptr));
}

/// Nodes of the graph may begin early. One of them is changed once. The kernel `count` is launched
/// in this way by a call.
void carve::standin::graphProgrammatic(Kernels &K) {
  Buffer Data(Elements, 1), Own(Elements, 2);
  unsigned Fewer = Elements / 2;
  {
    Chain Steps;
    Steps.addKernel(K.Scale, {&Own.Base, &Data.Base, &Data.Count});
    CUgraphNode Changed = Steps.addEarlyKernel(K.Step, {&Own.Base, &Data.Count});
    Steps.addEarlyKernel(K.Step, {&Own.Base, &Data.Count});
    Steps.addKernel(K.Scale, {&Data.Base, &Own.Base, &Data.Count});
    for (int L = 0; L < 60; ++L) {
      if (L == 20)
        Steps.change(Changed, K.Step, {&Own.Base, &Fewer});
      Steps.launch(nullptr);
      launchEarly(K.Count, Own);
    }
    CHECK(cuCtxSynchronize());
  }
  Data.print("data");
  Own.print("own");
}

/// A graph with such nodes that also allocates memory.
void carve::standin::graphProgrammaticMemory(Kernels &K) {
  Buffer Data(Elements, 1);
  {
    Chain Own;
    CUdeviceptr Memory = Own.addAllocation(Elements * sizeof(float));
    Own.addKernel(K.Scale, {&Memory, &Data.Base, &Data.Count});
    Own.addEarlyKernel(K.Step, {&Memory, &Data.Count});
    Own.addKernel(K.Scale, {&Data.Base, &Memory, &Data.Count});
    Own.addFree(Memory);
    for (int L = 0; L < 60; ++L)
      Own.launch(nullptr);
    CHECK(cuCtxSynchronize());
  }
  Data.print("data");
}

namespace {
/// A graph whose first node waits for a value and whose last one leaves the next value.
class SyncedGraph {
public:
  SyncedGraph(Kernels &K, Buffer &Data, Buffer &Own) : K(K), Data(Data), Own(Own) {
    CHECK(cuGraphCreate(&Graph, 0));
  }
  SyncedGraph(const SyncedGraph &) = delete;
  SyncedGraph &operator=(const SyncedGraph &) = delete;
  virtual ~SyncedGraph() {
    if (Graph)
      CHECK(cuGraphDestroy(Graph));
  }

  /// Adds all nodes. The kernels get \p Elements elements.
  void fill(unsigned Elements) {
    Last = addWait(1);
    addKernel(K.Scale, {&Own.Base, &Data.Base, &Elements});
    addKernel(K.Step, {&Own.Base, &Elements});
    addKernel(K.Step, {&Own.Base, &Elements});
    addKernel(K.Scale, {&Data.Base, &Own.Base, &Elements});
    addSignal(2);
  }
  CUgraphExec instantiate() {
    CUgraphExec Exec = nullptr;
    CHECK(cuGraphInstantiate(&Exec, Graph, 0));
    return Exec;
  }
  /// Gives the kernel at \p Place, which takes an address and a count, \p Elements elements.
  void change(CUgraphExec Exec, size_t Place, unsigned Elements) {
    std::vector<void *> Values = {&Own.Base, &Elements};
    CUDA_KERNEL_NODE_PARAMS P = kernelNode(K.Step, Values);
    CHECK(cuGraphExecKernelNodeSetParams(Exec, Computing[Place], &P));
  }
  void enable(CUgraphExec Exec, size_t Place, bool On) {
    CHECK(cuGraphNodeSetEnabled(Exec, Computing[Place], On ? 1 : 0));
  }
  /// Makes \p Exec wait for \p Turn and leave the next one.
  virtual void setTurn(CUgraphExec Exec, unsigned Turn) = 0;
  virtual unsigned long long value() = 0;
  /// Prints what the kernel nodes of \p Exec hold.
  void printKernels(CUgraphExec Exec) {
    for (CUgraphNode Node : Computing)
      std::printf("%s ", kernelInNode(Exec, Node).c_str());
    std::printf("\n");
  }
  /// Waits, and prints the value that the last launch has left.
  void printValue() {
    CHECK(cuCtxSynchronize());
    std::printf("%llu\n", value());
  }
  void takeClone() {
    CUgraph Clone = nullptr;
    CHECK(cuGraphClone(&Clone, Graph));
    CHECK(cuGraphDestroy(Graph));
    Graph = Clone;
  }

  CUgraph Graph = nullptr;

protected:
  virtual CUgraphNode addWait(unsigned Turn) = 0;
  virtual void addSignal(unsigned Turn) = 0;

  CUgraphNode Last = nullptr;

private:
  void addKernel(CUfunction Kernel, std::vector<void *> Values) {
    CUDA_KERNEL_NODE_PARAMS P = kernelNode(Kernel, Values);
    CHECK(cuGraphAddKernelNode(&Computing.emplace_back(), Graph, &Last, 1, &P));
    Last = Computing.back();
  }

  Kernels &K;
  Buffer &Data, &Own;
  std::vector<CUgraphNode> Computing;
};

/// With external semaphores.
class SemaphoreGraph : public SyncedGraph {
public:
  SemaphoreGraph(Kernels &K, Buffer &Data, Buffer &Own, CUexternalSemaphore Semaphore)
      : SyncedGraph(K, Data, Own), Semaphore(Semaphore) {}

  void setTurn(CUgraphExec Exec, unsigned Turn) override {
    Waits.params.fence.value = Turn;
    Signals.params.fence.value = Turn + 1;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS W{&Semaphore, &Waits, 1};
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS S{&Semaphore, &Signals, 1};
    CHECK(cuGraphExecExternalSemaphoresWaitNodeSetParams(Exec, First, &W));
    if (Turn % 2)
      return CHECK(cuGraphExecExternalSemaphoresSignalNodeSetParams(Exec, Final, &S));
    CUgraphNodeParams Any{};
    Any.type = CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL;
    Any.extSemSignal = {&Semaphore, &Signals, 1};
    CHECK(cuGraphExecNodeSetParams(Exec, Final, &Any));
  }
  unsigned long long value() override { return valueOf(Semaphore); }

protected:
  CUgraphNode addWait(unsigned Turn) override {
    Waits.params.fence.value = Turn;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS W{&Semaphore, &Waits, 1};
    CHECK(cuGraphAddExternalSemaphoresWaitNode(&First, Graph, nullptr, 0, &W));
    return First;
  }
  void addSignal(unsigned Turn) override {
    Signals.params.fence.value = Turn;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS S{&Semaphore, &Signals, 1};
    CHECK(cuGraphAddExternalSemaphoresSignalNode(&Final, Graph, &Last, 1, &S));
  }

private:
  CUexternalSemaphore Semaphore;
  CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS Waits{};
  CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS Signals{};
  CUgraphNode First = nullptr, Final = nullptr;
};

/// With operations on a word of memory.
class MemoryOperationGraph : public SyncedGraph {
public:
  MemoryOperationGraph(Kernels &K, Buffer &Data, Buffer &Own, CUdeviceptr Word)
      : SyncedGraph(K, Data, Own), Word(Word) {}

  void setTurn(CUgraphExec Exec, unsigned Turn) override {
    CUstreamBatchMemOpParams W = wait(Turn), S = write(Turn + 1);
    CUDA_BATCH_MEM_OP_NODE_PARAMS P{nullptr, 1, &W, 0};
    CHECK(cuGraphExecBatchMemOpNodeSetParams(Exec, First, &P));
    CUgraphNodeParams Any{};
    Any.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    Any.memOp = {nullptr, 1, &S, 0};
    CHECK(cuGraphExecNodeSetParams(Exec, Final, &Any));
  }
  unsigned long long value() override {
    unsigned Value = 0;
    CHECK(cuMemcpyDtoH(&Value, Word, sizeof Value));
    return Value;
  }

protected:
  CUgraphNode addWait(unsigned Turn) override {
    CUstreamBatchMemOpParams W = wait(Turn);
    CUDA_BATCH_MEM_OP_NODE_PARAMS P{nullptr, 1, &W, 0};
    CHECK(cuGraphAddBatchMemOpNode(&First, Graph, nullptr, 0, &P));
    return First;
  }
  void addSignal(unsigned Turn) override {
    CUstreamBatchMemOpParams S = write(Turn);
    CUDA_BATCH_MEM_OP_NODE_PARAMS P{nullptr, 1, &S, 0};
    CHECK(cuGraphAddBatchMemOpNode(&Final, Graph, &Last, 1, &P));
  }

private:
  CUstreamBatchMemOpParams wait(unsigned Turn) const {
    CUstreamBatchMemOpParams P{};
    P.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    P.waitValue.address = Word;
    P.waitValue.value = Turn;
    P.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
    return P;
  }
  CUstreamBatchMemOpParams write(unsigned Turn) const {
    CUstreamBatchMemOpParams P{};
    P.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    P.writeValue.address = Word;
    P.writeValue.value = Turn;
    return P;
  }

  CUdeviceptr Word;
  CUgraphNode First = nullptr, Final = nullptr;
};

/// Launches \p Synced, of which \p Other is another one of the same nodes, and changes it between
/// launches in all ways that a program has.
void launchAndChange(SyncedGraph &Synced, SyncedGraph &Other) {
  Synced.fill(Elements);
  Other.fill(Elements / 4);
  CUgraphExec First = Synced.instantiate(), Second = Synced.instantiate();
  CUgraphExecUpdateResultInfo Info{};
  for (unsigned L = 0; L < 60; ++L) {
    CUgraphExec Exec = L >= 30 && L % 2 ? Second : First;
    if (L == 10)
      Synced.change(First, 1, Elements / 2);
    if (L == 16 || L == 22)
      Synced.enable(First, 2, L == 22);
    if (L == 40) // The nodes get their first arguments again.
      CHECK(cuGraphExecUpdate(First, Synced.Graph, &Info));
    if (L == 54)
      CHECK(cuGraphExecUpdate(First, Other.Graph, &Info));
    Synced.setTurn(Exec, L + 1);
    CHECK(cuGraphLaunch(Exec, nullptr));
    // Most launches are still in progress when the next change comes.
    Synced.printKernels(Exec);
    if (L % 5 == 4)
      Synced.printValue();
  }
  CHECK(cuGraphExecDestroy(Second));
  CHECK(cuGraphExecDestroy(First));
}

/// Launches a clone of \p Synced, whose nodes nobody else names.
void launchClone(SyncedGraph &Synced) {
  Synced.fill(Elements);
  Synced.takeClone();
  CUgraphExec Exec = Synced.instantiate();
  for (unsigned L = 0; L < 12; ++L)
    CHECK(cuGraphLaunch(Exec, nullptr));
  Synced.printValue();
  CHECK(cuGraphExecDestroy(Exec));
}
} // namespace

void carve::standin::graphSemaphores(Kernels &K) {
  Buffer Data(Elements, 1), Own(Elements, 2);
  CUexternalSemaphore Semaphore = nullptr;
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC From{};
  CHECK(cuImportExternalSemaphore(&Semaphore, &From));
  {
    SemaphoreGraph First(K, Data, Own, Semaphore), Other(K, Data, Own, Semaphore);
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS Begin{};
    Begin.params.fence.value = 1;
    CHECK(cuSignalExternalSemaphoresAsync(&Semaphore, &Begin, 1, nullptr));
    launchAndChange(First, Other);
    SemaphoreGraph Cloned(K, Data, Own, Semaphore);
    launchClone(Cloned);
  }
  Data.print("data");
  CHECK(cuDestroyExternalSemaphore(Semaphore));
}

void carve::standin::graphMemoryOperations(Kernels &K) {
  Buffer Data(Elements, 1), Own(Elements, 2);
  CUdeviceptr Word = 0;
  CHECK(cuMemAlloc(&Word, sizeof(unsigned)));
  CHECK(cuMemsetD32(Word, 1, 1));
  {
    MemoryOperationGraph First(K, Data, Own, Word), Other(K, Data, Own, Word);
    launchAndChange(First, Other);
    MemoryOperationGraph Cloned(K, Data, Own, Word);
    launchClone(Cloned);
  }
  Data.print("data");
  CHECK(cuMemFree(Word));
}

/// The device runs the body three times at each launch. \p InBody is a kernel in it.
static void launchConditional(Kernels &K, CUfunction InBody) {
  Buffer Data(Elements, 1), Own(Elements, 2);
  CUdeviceptr Word = 0;
  CUgraph Graph = nullptr;
  CUgraphConditionalHandle Condition = 0;
  CHECK(cuMemAlloc(&Word, sizeof(unsigned)));
  CUmodule Module = nullptr;
  CUfunction Lower = nullptr;
  CHECK(cuModuleLoadData(&Module, "lower"));
  CHECK(cuModuleGetFunction(&Lower, Module, "lower"));
  CHECK(cuGraphCreate(&Graph, 0));
  CHECK(cuGraphConditionalHandleCreate(&Condition, Graph, nullptr, 0, 0));
  CUgraphNode Last = nullptr;
  std::vector<CUgraphNode> Computing;
  auto AddKernel = [&](CUgraph To, CUfunction Kernel, std::vector<void *> Values) {
    CUDA_KERNEL_NODE_PARAMS P = kernelNode(Kernel, Values);
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddKernelNode(&Node, To, Last ? &Last : nullptr, Last != nullptr, &P));
    return Last = Node;
  };
  CUDA_MEMSET_NODE_PARAMS Four{Word, 0, 4, 4, 1, 1};
  CHECK(cuGraphAddMemsetNode(&Last, Graph, nullptr, 0, &Four, nullptr));
  Computing.push_back(AddKernel(Graph, K.Scale, {&Own.Base, &Data.Base, &Data.Count}));
  Computing.push_back(AddKernel(Graph, K.Step, {&Own.Base, &Data.Count}));
  AddKernel(Graph, Lower, {&Word, &Condition});
  CUgraphNodeParams While{};
  While.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  While.conditional.handle = Condition;
  While.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
  While.conditional.size = 1;
  CUgraphNode Node = nullptr;
  CHECK(cuGraphAddNode(&Node, Graph, &Last, nullptr, 1, &While));
  Last = nullptr;
  AddKernel(*While.conditional.phGraph_out, InBody, {&Own.Base, &Data.Count});
  AddKernel(*While.conditional.phGraph_out, Lower, {&Word, &Condition});
  Last = Node;
  Computing.push_back(AddKernel(Graph, K.Scale, {&Data.Base, &Own.Base, &Data.Count}));
  CUgraphExec Exec = nullptr;
  CHECK(cuGraphInstantiate(&Exec, Graph, 0));
  for (unsigned L = 0; L < 40; ++L) {
    CHECK(cuGraphLaunch(Exec, nullptr));
    for (CUgraphNode Each : Computing)
      std::printf("%s ", kernelInNode(Exec, Each).c_str());
    std::printf("\n");
  }
  CHECK(cuCtxSynchronize());
  CHECK(cuGraphExecDestroy(Exec));
  CHECK(cuGraphDestroy(Graph));
  Data.print("data");
  CHECK(cuMemFree(Word));
}

void carve::standin::graphConditional(Kernels &K) { launchConditional(K, K.Count); }
void carve::standin::graphConditionalTwice(Kernels &K) { launchConditional(K, K.Step); }

/// The nodes are captured. Kernels are launched outside of the graph, too.
void carve::standin::capturedOperations(Kernels &K) {
  Buffer Data(Elements, 1);
  CUdeviceptr Word = 0;
  CUstream Stream = nullptr;
  CUgraph Graph = nullptr;
  CUgraphExec Exec = nullptr;
  CHECK(cuMemAlloc(&Word, sizeof(unsigned)));
  CHECK(cuStreamCreate(&Stream, CU_STREAM_NON_BLOCKING));
  CUstreamBatchMemOpParams Write{}, Wait{};
  Write.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  Write.writeValue.address = Word;
  Write.writeValue.value = 7;
  Wait.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  Wait.waitValue.address = Word;
  Wait.waitValue.value = 7;
  CHECK(cuStreamBeginCapture(Stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  launch(K.Step, Stream, {&Data.Base, &Data.Count});
  CHECK(cuStreamBatchMemOp(Stream, 1, &Write, 0));
  CHECK(cuStreamBatchMemOp(Stream, 1, &Wait, 0));
  launch(K.Step, Stream, {&Data.Base, &Data.Count});
  CHECK(cuStreamEndCapture(Stream, &Graph));
  CHECK(cuGraphInstantiate(&Exec, Graph, 0));
  for (unsigned L = 0; L < 40; ++L) {
    CHECK(cuGraphLaunch(Exec, Stream));
    launch(K.Step, Stream, {&Data.Base, &Data.Count});
  }
  CHECK(cuStreamSynchronize(Stream));
  CHECK(cuGraphExecDestroy(Exec));
  CHECK(cuGraphDestroy(Graph));
  Data.print("data");
  CHECK(cuMemFree(Word));
}
