/// \file
/// Scenarios with graphs: random ones, which check the order and the parameters of what runs, and
/// those that must stay graphs.

#include "unit/Probe/StandIn/Program.h"
#include "unit/Probe/StandIn/StandIn.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <thread>

using namespace carve::standin;

namespace {
constexpr unsigned BufferCount = 256;
constexpr unsigned DeviceBuffers = 5, HostBuffers = 2;

/// What the host node of a graph works with.
struct HostWork {
  float *Data = nullptr;
  unsigned Value = 0;
};

/// The memory of a random graph: a number below DeviceBuffers names a buffer of the device, and any
/// other number one of the host.
class GraphMemory {
public:
  explicit GraphMemory(unsigned Seed) {
    for (unsigned I = 0; I < DeviceBuffers; ++I)
      Device.emplace_back(BufferCount, Seed + I);
    for (float *&Host : Hosts) {
      void *Made = nullptr;
      CHECK(cuMemHostAlloc(&Made, BufferCount * sizeof(float), 0));
      Host = static_cast<float *>(Made);
      for (unsigned I = 0; I < BufferCount; ++I)
        Host[I] = float((I + Seed) % 13);
    }
    CHECK(cuEventCreate(&Event, CU_EVENT_DISABLE_TIMING));
  }
  ~GraphMemory() {
    for (Buffer &B : Device)
      B.free();
    for (float *Host : Hosts)
      CHECK(cuMemFreeHost(Host));
    CHECK(cuEventDestroy(Event));
  }
  GraphMemory(const GraphMemory &) = delete;
  GraphMemory &operator=(const GraphMemory &) = delete;

  void print(unsigned Seed) const {
    std::printf("graph %u:", Seed);
    for (const Buffer &B : Device)
      std::printf(" %016llx", static_cast<unsigned long long>(B.checksum()));
    for (const float *Host : Hosts) {
      double Sum = 0;
      for (unsigned I = 0; I < BufferCount; ++I)
        Sum = Sum * 0.5 + Host[I];
      std::printf(" %a", Sum);
    }
    std::printf("\n");
  }

  std::deque<Buffer> Device;
  float *Hosts[HostBuffers] = {};
  CUevent Event = nullptr;
  std::deque<HostWork> Works; ///< Never freed before the graph's last launch.
};

enum class Does { Step, Scale, Fill, FillRows, Copy, Host, Nothing, Record, Child };

/// A node to be made. Value may change from launch to launch; what the node reads and writes may
/// not.
struct Spec {
  Does What = Does::Nothing;
  unsigned To = 0, From = 0;
  unsigned Value = 0;
  std::vector<Spec> Children = {};

  bool touches(unsigned Memory) const {
    bool Own = What != Does::Nothing && What != Does::Record && What != Does::Child &&
               (Memory == To || (usesFrom() && Memory == From));
    return Own || std::any_of(Children.begin(), Children.end(),
                              [&](const Spec &Child) { return Child.touches(Memory); });
  }
  bool usesFrom() const { return What == Does::Scale || What == Does::Copy; }
  bool conflicts(const Spec &Other) const {
    for (unsigned Memory = 0; Memory < DeviceBuffers + HostBuffers; ++Memory)
      if (touches(Memory) && Other.touches(Memory))
        return true;
    return false;
  }
};

/// Whether the kernel of \p S is launched as a cooperative one.
bool isCooperative(const Spec &S) { return S.From == 3; }

using Random = std::mt19937;

unsigned below(Random &R, unsigned Bound) { return unsigned(R() % Bound); }

Spec randomSpec(Random &R, bool MayHaveChildren) {
  Spec S;
  S.What = Does(below(R, MayHaveChildren ? 9 : 8));
  S.To = below(R, DeviceBuffers);
  S.From = (S.To + 1 + below(R, DeviceBuffers - 1)) % DeviceBuffers;
  S.Value = below(R, 200) + 1;
  if (S.What == Does::Host)
    S.To = DeviceBuffers + below(R, HostBuffers);
  if (S.What == Does::Copy && below(R, 2))
    (below(R, 2) ? S.To : S.From) = DeviceBuffers + below(R, HostBuffers);
  for (unsigned I = 0; S.What == Does::Child && I < 3; ++I)
    S.Children.push_back(randomSpec(R, below(R, 4) == 0));
  return S;
}

void changeValues(Spec &S, Random &R) {
  S.Value = below(R, 200) + 1;
  for (Spec &Child : S.Children)
    changeValues(Child, R);
}

/// Makes graphs of specs, and the parameters of their nodes.
class GraphMaker {
public:
  GraphMaker(Kernels &K, GraphMemory &M) : K(K), M(M) {}

  /// Adds the nodes in an order that \p Shuffled decides, and then edges between all nodes that
  /// touch the same memory, from the earlier spec to the later one.
  std::vector<CUgraphNode> fill(CUgraph Graph, const std::vector<Spec> &Specs, unsigned Shuffled) {
    std::vector<size_t> Order(Specs.size());
    for (size_t I = 0; I < Order.size(); ++I)
      Order[I] = I;
    Random R(Shuffled);
    for (size_t I = Order.size(); I > 1; --I)
      std::swap(Order[I - 1], Order[below(R, unsigned(I))]);
    std::vector<CUgraphNode> Nodes(Specs.size());
    for (size_t I : Order)
      Nodes[I] = add(Graph, Specs[I], Shuffled);
    for (size_t I = 0; I < Specs.size(); ++I)
      for (size_t J = I + 1; J < Specs.size(); ++J)
        if (Specs[I].conflicts(Specs[J]) || below(R, 10) == 0)
          CHECK(cuGraphAddDependencies(Graph, &Nodes[I], &Nodes[J], nullptr, 1));
    return Nodes;
  }

  CUgraph make(const std::vector<Spec> &Specs, unsigned Shuffled,
               std::vector<CUgraphNode> *Nodes = nullptr) {
    CUgraph Graph = nullptr;
    CHECK(cuGraphCreate(&Graph, 0));
    std::vector<CUgraphNode> Made = fill(Graph, Specs, Shuffled);
    if (Nodes)
      *Nodes = Made;
    return Graph;
  }

  /// Changes the node \p Node of \p Exec to \p S.
  void update(CUgraphExec Exec, CUgraphNode Node, const Spec &S, unsigned Shuffled) {
    switch (S.What) {
    case Does::Step:
    case Does::Scale: {
      Arguments A(*this, S);
      CHECK(cuGraphExecKernelNodeSetParams(Exec, Node, &A.Params));
      return;
    }
    case Does::Fill: {
      CUgraphNodeParams Any{};
      Any.type = CU_GRAPH_NODE_TYPE_MEMSET;
      CUDA_MEMSET_NODE_PARAMS F = fillParams(S);
      Any.memset = {F.dst, F.pitch, F.value, F.elementSize, F.width, F.height, nullptr};
      CHECK(cuGraphExecNodeSetParams(Exec, Node, &Any));
      return;
    }
    case Does::FillRows: {
      CUDA_MEMSET_NODE_PARAMS F = fillParams(S);
      CHECK(cuGraphExecMemsetNodeSetParams(Exec, Node, &F, nullptr));
      return;
    }
    case Does::Copy: {
      CUDA_MEMCPY3D C = copyParams(S);
      CHECK(cuGraphExecMemcpyNodeSetParams(Exec, Node, &C, nullptr));
      return;
    }
    case Does::Host: {
      CUDA_HOST_NODE_PARAMS H = hostParams(S);
      CHECK(cuGraphExecHostNodeSetParams(Exec, Node, &H));
      return;
    }
    case Does::Child: {
      CUgraph Child = make(S.Children, Shuffled);
      CHECK(cuGraphExecChildGraphNodeSetParams(Exec, Node, Child));
      CHECK(cuGraphDestroy(Child));
      return;
    }
    default:
      return;
    }
  }

private:
  /// The parameters of a kernel node, which end when it was made.
  struct Arguments {
    CUdeviceptr To, From;
    unsigned Count;
    void *Values[3];
    CUDA_KERNEL_NODE_PARAMS Params{};
    Arguments(GraphMaker &Maker, const Spec &S)
        : To(Maker.M.Device[S.To].Base), From(Maker.M.Device[S.From].Base), Count(S.Value) {
      bool Scales = S.What == Does::Scale;
      Values[0] = &To;
      Values[1] = Scales ? static_cast<void *>(&From) : &Count;
      Values[2] = &Count;
      Params.func = Scales ? Maker.K.Scale : Maker.K.Step;
      // Cooperative launches have a shape of their own.
      Params.gridDimX = isCooperative(S) ? 2 : 16, Params.gridDimY = 1, Params.gridDimZ = 1;
      Params.blockDimX = 64, Params.blockDimY = 1, Params.blockDimZ = 1;
      Params.kernelParams = Values;
    }
  };

  CUDA_MEMSET_NODE_PARAMS fillParams(const Spec &S) {
    CUdeviceptr To = M.Device[S.To].Base;
    if (S.What == Does::FillRows)
      return {To, 32, S.Value, unsigned(1u << S.From % 3), 5, 7};
    // The value is that of a float between 1 and 2.
    return {To, 0, 0x3f800000 + (S.Value << 12), 4, S.Value, 1};
  }

  CUDA_MEMCPY3D copyParams(const Spec &S) {
    CUDA_MEMCPY3D C{};
    if (S.From < DeviceBuffers) {
      C.srcMemoryType = CU_MEMORYTYPE_DEVICE;
      C.srcDevice = M.Device[S.From].Base;
    } else {
      C.srcMemoryType = CU_MEMORYTYPE_HOST;
      C.srcHost = M.Hosts[S.From - DeviceBuffers];
    }
    if (S.To < DeviceBuffers) {
      C.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
      C.dstDevice = M.Device[S.To].Base;
    } else {
      C.dstMemoryType = CU_MEMORYTYPE_HOST;
      C.dstHost = M.Hosts[S.To - DeviceBuffers];
    }
    C.srcPitch = C.dstPitch = 128;
    C.WidthInBytes = (S.Value % 32 + 1) * sizeof(float);
    C.srcXInBytes = C.dstXInBytes = 0;
    C.Height = S.Value % 8 + 1;
    // As the driver makes it of a captured copy of so many bytes.
    if (C.Height == 1)
      C.srcPitch = C.dstPitch = size_t(3) << 30;
    C.Depth = 1;
    return C;
  }

  CUDA_HOST_NODE_PARAMS hostParams(const Spec &S) {
    M.Works.push_back({M.Hosts[S.To - DeviceBuffers], S.Value});
    return {[](void *Of) {
              auto *Work = static_cast<HostWork *>(Of);
              for (unsigned I = 0; I < BufferCount; ++I)
                Work->Data[I] = Work->Data[I] * 0.5f + float(Work->Value);
            },
            &M.Works.back()};
  }

  CUgraphNode add(CUgraph Graph, const Spec &S, unsigned Shuffled) {
    CUgraphNode Node = nullptr;
    switch (S.What) {
    case Does::Step:
    case Does::Scale: {
      Arguments A(*this, S);
      CHECK(cuGraphAddKernelNode(&Node, Graph, nullptr, 0, &A.Params));
      CUkernelNodeAttrValue Value{};
      Value.cooperative = isCooperative(S);
      CHECK(cuGraphKernelNodeSetAttribute(Node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &Value));
      break;
    }
    case Does::Fill:
    case Does::FillRows: {
      CUDA_MEMSET_NODE_PARAMS F = fillParams(S);
      CHECK(cuGraphAddMemsetNode(&Node, Graph, nullptr, 0, &F, nullptr));
      break;
    }
    case Does::Copy: {
      CUDA_MEMCPY3D C = copyParams(S);
      CHECK(cuGraphAddMemcpyNode(&Node, Graph, nullptr, 0, &C, nullptr));
      break;
    }
    case Does::Host: {
      CUDA_HOST_NODE_PARAMS H = hostParams(S);
      CHECK(cuGraphAddHostNode(&Node, Graph, nullptr, 0, &H));
      break;
    }
    case Does::Nothing:
      CHECK(cuGraphAddEmptyNode(&Node, Graph, nullptr, 0));
      break;
    case Does::Record:
      CHECK(cuGraphAddEventRecordNode(&Node, Graph, nullptr, 0, M.Event));
      break;
    case Does::Child: {
      CUgraph Child = make(S.Children, Shuffled);
      CHECK(cuGraphAddChildGraphNode(&Node, Graph, nullptr, 0, Child));
      CHECK(cuGraphDestroy(Child));
      break;
    }
    }
    return Node;
  }

  Kernels &K;
  GraphMemory &M;
};

/// One random graph, its launches, and what changes between them.
class RandomGraph {
public:
  RandomGraph(Kernels &K, unsigned Seed) : Seed(Seed), R(Seed), M(Seed), Maker(K, M) {
    for (unsigned I = 2 + below(R, 9); I > 0; --I)
      Specs.push_back(randomSpec(R, /*MayHaveChildren=*/true));
    // Only graphs with a kernel are launched in another way than the program's.
    Specs.push_back({Does::Step, below(R, DeviceBuffers), 0, 100});
  }

  void run(CUstream First, CUstream Second) {
    Graph = Maker.make(Specs, Seed, &Nodes);
    if (Seed % 4 == 1)
      takeClone();
    CHECK(cuGraphInstantiate(&Exec, Graph, 0));
    if (Seed % 4 == 2)
      destroySource();
    for (unsigned L = 0; L < 4; ++L) {
      CHECK(cuGraphLaunch(Exec, L % 2 ? Second : First));
      if (Seed % 4 == 3)
        updateWhole();
      else if (!Nodes.empty())
        updateNodes();
    }
    CHECK(cuGraphLaunch(Exec, First));
    CHECK(cuStreamSynchronize(First));
    M.print(Seed);
    CHECK(cuGraphExecDestroy(Exec));
    if (Graph)
      CHECK(cuGraphDestroy(Graph));
  }

private:
  void takeClone() {
    CUgraph Clone = nullptr;
    CHECK(cuGraphClone(&Clone, Graph));
    destroySource();
    Graph = Clone;
  }
  void destroySource() {
    CHECK(cuGraphDestroy(Graph));
    Graph = nullptr;
    Nodes.clear();
  }
  void updateWhole() {
    for (Spec &S : Specs)
      changeValues(S, R);
    CUgraph New = Maker.make(Specs, Seed);
    CUgraphExecUpdateResultInfo Info{};
    CHECK(cuGraphExecUpdate(Exec, New, &Info));
    CHECK(cuGraphDestroy(New));
  }
  void updateNodes() {
    for (size_t I = 0; I < Specs.size(); ++I) {
      if (below(R, 2)) {
        changeValues(Specs[I], R);
        // A graph with a disabled node must stay one when a child graph changes.
        if (Specs[I].What != Does::Child || Disabled == 0)
          Maker.update(Exec, Nodes[I], Specs[I], Seed);
      }
      bool MayBeOff = Specs[I].What <= Does::Copy;
      if (MayBeOff && Seed % 8 == 0 && below(R, 3) == 0) {
        CHECK(cuGraphNodeSetEnabled(Exec, Nodes[I], Off ? 1 : 0));
        Off = !Off;
        ++Disabled;
      }
    }
  }

  unsigned Seed;
  Random R;
  GraphMemory M;
  GraphMaker Maker;
  std::vector<Spec> Specs;
  CUgraph Graph = nullptr;
  CUgraphExec Exec = nullptr;
  std::vector<CUgraphNode> Nodes; ///< By spec; empty if the program may not name them.
  bool Off = false;
  unsigned Disabled = 0;
};

CUstream newGraphStream() {
  CUstream Stream = nullptr;
  CHECK(cuStreamCreate(&Stream, CU_STREAM_NON_BLOCKING));
  return Stream;
}
} // namespace

void carve::standin::randomGraphs(Kernels &K) {
  CUstream First = newGraphStream(), Second = newGraphStream();
  for (unsigned Seed = 0; Seed < 240; ++Seed)
    RandomGraph(K, Seed).run(First, Second);
}

namespace {
/// Graphs that have a step and something that keeps them graphs.
class KeptGraphs {
public:
  explicit KeptGraphs(Kernels &K) : M(1), Maker(K, M) {}

  void unheardOf() {
    CUgraph Graph = steps();
    addUnheardOfNode(Graph);
    launch(Graph, 0);
  }
  void pageable() {
    CUgraph Graph = steps();
    static float Host[BufferCount];
    CUDA_MEMCPY3D C{};
    C.srcMemoryType = CU_MEMORYTYPE_HOST;
    C.srcHost = Host;
    C.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    C.dstDevice = M.Device[3].Base;
    C.WidthInBytes = sizeof Host;
    C.Height = C.Depth = 1;
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddMemcpyNode(&Node, Graph, nullptr, 0, &C, nullptr));
    launch(Graph, 0);
  }
  void forTheDevice() { launch(steps(), CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH); }
  /// The second graph may have a kernel that launches the first one. The third one was launched
  /// before there was any such graph.
  void besideOneForTheDevice() {
    CUgraph First = steps(), Second = steps(), Third = steps();
    CUgraphExec ForDevice = nullptr, Exec = nullptr, Early = nullptr;
    CHECK(cuGraphInstantiate(&Early, Third, 0));
    CHECK(cuGraphLaunch(Early, nullptr));
    CHECK(cuGraphInstantiate(&ForDevice, First, CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH));
    CHECK(cuGraphInstantiate(&Exec, Second, 0));
    for (int L = 0; L < 3; ++L) {
      CHECK(cuGraphLaunch(Exec, nullptr));
      CHECK(cuGraphLaunch(Early, nullptr));
    }
    CHECK(cuCtxSynchronize());
    for (CUgraphExec Each : {ForDevice, Exec, Early})
      CHECK(cuGraphExecDestroy(Each));
    for (CUgraph Each : {First, Second, Third})
      CHECK(cuGraphDestroy(Each));
  }
  /// A refused change leaves the executable graph as it is.
  void refused() {
    CUgraph Graph = steps(), Other = Maker.make({{Does::Nothing}}, 1);
    CUgraphExec Exec = nullptr;
    CHECK(cuGraphInstantiate(&Exec, Graph, 0));
    CUgraphExecUpdateResultInfo Info{};
    std::printf("refused: %d\n", cuGraphExecUpdate(Exec, Other, &Info) != CUDA_SUCCESS);
    CHECK(cuGraphLaunch(Exec, nullptr));
    CHECK(cuCtxSynchronize());
    CHECK(cuGraphExecDestroy(Exec));
    CHECK(cuGraphDestroy(Other));
    CHECK(cuGraphDestroy(Graph));
  }
  void print() const { M.print(0); }

private:
  CUgraph steps() {
    return Maker.make({{Does::Step, 0, 0, 100}, {Does::Step, 0, 0, 50}, {Does::Fill, 1, 0, 9}}, 1);
  }
  void launch(CUgraph Graph, unsigned long long Flags) {
    CUgraphExec Exec = nullptr;
    CHECK(cuGraphInstantiate(&Exec, Graph, Flags));
    for (int L = 0; L < 3; ++L)
      CHECK(cuGraphLaunch(Exec, nullptr));
    CHECK(cuCtxSynchronize());
    CHECK(cuGraphExecDestroy(Exec));
    CHECK(cuGraphDestroy(Graph));
  }

  GraphMemory M;
  GraphMaker Maker;
};
} // namespace

void carve::standin::unheardOfNode(Kernels &K) {
  KeptGraphs Graphs(K);
  Graphs.unheardOf();
  Graphs.print();
}

void carve::standin::pageableCopy(Kernels &K) {
  KeptGraphs Graphs(K);
  Graphs.pageable();
  Graphs.print();
}

void carve::standin::deviceLaunched(Kernels &K) {
  KeptGraphs Graphs(K);
  Graphs.forTheDevice();
  Graphs.print();
}

void carve::standin::besideDeviceLaunched(Kernels &K) {
  KeptGraphs Graphs(K);
  Graphs.besideOneForTheDevice();
  Graphs.print();
}

void carve::standin::refusedUpdate(Kernels &K) {
  KeptGraphs Graphs(K);
  Graphs.refused();
  Graphs.print();
}

/// The program destroys graphs whose last launch has not ended, and with them what their nodes
/// need.
void carve::standin::tiedObjects(Kernels &K) {
  GraphMemory M(1);
  GraphMaker Maker(K, M);
  CUstream Stream = newGraphStream();
  // A destructor may still run after this function has returned, and so may look at its flag.
  static std::array<std::atomic<int>, 20> Flags;
  for (unsigned L = 0; L < Flags.size(); ++L) {
    CUgraph Graph = Maker.make({{Does::Step, 0, 0, 100}}, 1);
    std::atomic<int> *Lives = &Flags[L];
    *Lives = 1;
    CUuserObject Object = nullptr;
    CHECK(cuUserObjectCreate(
        &Object, Lives, [](void *Of) { *static_cast<std::atomic<int> *>(Of) = 0; }, 1,
        CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    CHECK(cuGraphRetainUserObject(Graph, Object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    CUDA_HOST_NODE_PARAMS Look{[](void *Of) {
                                 std::this_thread::sleep_for(std::chrono::milliseconds(1));
                                 if (!*static_cast<std::atomic<int> *>(Of))
                                   std::printf("the object ended too early\n");
                               },
                               Lives};
    CUgraphNode Node = nullptr;
    CHECK(cuGraphAddHostNode(&Node, Graph, nullptr, 0, &Look));
    CUgraphExec Exec = nullptr;
    CHECK(cuGraphInstantiate(&Exec, Graph, 0));
    CHECK(cuGraphDestroy(Graph));
    CHECK(cuGraphLaunch(Exec, Stream));
    CHECK(cuGraphExecDestroy(Exec));
    if (L % 4 == 3)
      CHECK(cuStreamSynchronize(Stream));
  }
  CHECK(cuStreamSynchronize(Stream));
  M.print(0);
}

/// The first node waits for what the second one does, which may run beside it.
void carve::standin::waitingNodes(Kernels &K) {
  GraphMemory M(1);
  GraphMaker Maker(K, M);
  std::atomic<bool> Flag{false};
  CUgraph Graph = Maker.make({{Does::Step, 0, 0, 100}}, 1);
  CUgraphNode Node = nullptr;
  CUDA_HOST_NODE_PARAMS Wait{[](void *Of) {
                               while (!*static_cast<std::atomic<bool> *>(Of))
                                 std::this_thread::sleep_for(std::chrono::milliseconds(1));
                             },
                             &Flag},
      Set{[](void *Of) { *static_cast<std::atomic<bool> *>(Of) = true; }, &Flag};
  CHECK(cuGraphAddHostNode(&Node, Graph, nullptr, 0, &Wait));
  CHECK(cuGraphAddHostNode(&Node, Graph, nullptr, 0, &Set));
  CUgraphExec Exec = nullptr;
  CHECK(cuGraphInstantiate(&Exec, Graph, 0));
  for (int L = 0; L < 3; ++L) {
    Flag = false;
    CHECK(cuGraphLaunch(Exec, nullptr));
    CHECK(cuCtxSynchronize());
  }
  M.print(0);
  CHECK(cuGraphExecDestroy(Exec));
  CHECK(cuGraphDestroy(Graph));
}
