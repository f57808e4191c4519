// Random graphs, and what programs do with them: nodes of all kinds that are made by hand, captured
// graphs, clones, changes of single nodes, updates of the whole graph, disabled nodes, memory of
// the graph, several streams, and kernels that are launched in between.
//
//   random_graphs [SEED [COUNT [USES [FILE]]]]
//
// Prints for each of COUNT graphs the digest of all its memory, and how many changes the driver has
// refused, which are no errors. The same arguments give the same output. USES says how many of the
// uses below are made, 8 at most; with 5, every graph can be launched node by node. The last use
// disables nodes: with driver 580.159 the program itself then ends in a launch failure in most runs,
// without carve-nvcc, so the tests leave it out. Appends to FILE the device memory in use after the
// first quarter of the graphs and after the last one, in bytes, and whether they are equal.
#include "hazards/Hazard.cuh"

#include <algorithm>
#include <cooperative_groups.h>
#include <cstring>
#include <deque>
#include <random>

constexpr int Elements = 1 << 15, Threads = 256, CooperativeBlocks = 32;
constexpr unsigned DeviceBuffers = 5, HostBuffers = 2;

__global__ void PRESS hot(float *To, const float *From, int Count) {
  int I = globalThread();
  if (I < Count)
    To[I] = mixed(To[I], 20) + From[I] * 0.125f;
}

__global__ void PRESS scaled(float *To, const float *From, int Count) {
  int I = globalThread();
  if (I < Count)
    To[I] = From[I] * 0.75f + mixed(From[I], 8) * 0.25f;
}

/// Its blocks wait for each other. It is not limited, for the reason in cooperative.cu.
__global__ void together(float *To, const float *From, int Count) {
  int I = globalThread(), Total = gridDim.x * blockDim.x;
  float Next = To[(I + blockDim.x) % Total], Own = mixed(To[I], 8);
  cooperative_groups::this_grid().sync();
  To[I] = Own + Next * 0.125f + From[I % Count] * 0.25f;
}

using Random = std::mt19937;
static unsigned below(Random &R, unsigned Bound) { return unsigned(R() % Bound); }

/// Returns whether \p Status is no error. An error is forgotten.
static bool took(cudaError_t Status) {
  if (Status != cudaSuccess)
    (void)cudaGetLastError();
  return Status == cudaSuccess;
}

namespace {
/// What the host node of a graph works with.
struct HostWork {
  float *Data;
  unsigned Value;
};

void CUDART_CB workOnHost(void *Of) {
  auto &Work = *static_cast<HostWork *>(Of);
  for (int I = 0; I < Elements; ++I)
    Work.Data[I] = Work.Data[I] * 0.5f + float(Work.Value) * 0.0625f;
}

/// The memory of a graph: a number below DeviceBuffers names a buffer of the device, any other one
/// a page-locked buffer of the host.
struct Memory {
  explicit Memory(unsigned Seed) : Pageable(Elements) {
    for (unsigned I = 0; I < DeviceBuffers + HostBuffers; ++I) {
      if (I < DeviceBuffers)
        Buffers[I] = deviceFloats(Elements);
      else
        CHECK(cudaHostAlloc(&Buffers[I], Elements * sizeof(float), cudaHostAllocDefault));
      for (int E = 0; E < Elements; ++E)
        Pageable[E] = float((E + Seed + I) % 251) / 256;
      CHECK(cudaMemcpy(Buffers[I], Pageable.data(), bytes(), cudaMemcpyDefault));
    }
    CHECK(cudaEventCreateWithFlags(&Event, cudaEventDisableTiming));
    CHECK(cudaEventRecord(Event, nullptr));
  }
  ~Memory() {
    for (unsigned I = 0; I < DeviceBuffers + HostBuffers; ++I)
      CHECK(I < DeviceBuffers ? cudaFree(Buffers[I]) : cudaFreeHost(Buffers[I]));
    CHECK(cudaEventDestroy(Event));
  }
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  static size_t bytes() { return Elements * sizeof(float); }
  /// Returns the digest of all buffers. Nothing may be in progress.
  unsigned long long digest() const {
    std::vector<unsigned> Words(Elements);
    unsigned long long Sum = 14695981039346656037ull;
    for (const float *Each : Buffers) {
      CHECK(cudaMemcpy(Words.data(), Each, bytes(), cudaMemcpyDefault));
      for (unsigned Word : Words)
        Sum = (Sum ^ Word) * 1099511628211ull;
    }
    return Sum;
  }

  float *Buffers[DeviceBuffers + HostBuffers] = {};
  std::vector<float> Pageable;
  cudaEvent_t Event;
  std::deque<HostWork> Works; ///< They live as long as any launch of the graph.
};

enum class Does { Hot, Scaled, Together, Fill, Copy, FillRows, Host, Nothing, Record, Wait, Child };

/// A node to be made. Value may change from launch to launch; what the node reads and writes may
/// not.
struct Spec {
  Does What = Does::Nothing;
  unsigned To = 0, From = 0, Value = 1;
  std::vector<Spec> Children;

  bool touches(unsigned Buffer) const {
    bool Own = What <= Does::Host && (Buffer == To || (usesFrom() && Buffer == From));
    return Own || std::any_of(Children.begin(), Children.end(),
                              [&](const Spec &Child) { return Child.touches(Buffer); });
  }
  bool isKernel() const { return What <= Does::Together; }
  bool usesFrom() const { return isKernel() || What == Does::Copy; }
  bool mayBeDisabled() const { return What <= Does::Copy; }
  bool conflicts(const Spec &Other) const {
    for (unsigned Buffer = 0; Buffer < DeviceBuffers + HostBuffers; ++Buffer)
      if (touches(Buffer) && Other.touches(Buffer))
        return true;
    return false;
  }
};
} // namespace

static Spec randomSpec(Random &R, bool MayHaveChildren) {
  Spec S;
  S.What = Does(below(R, unsigned(Does::Child) + MayHaveChildren));
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

static void changeValues(Spec &S, Random &R) {
  S.Value = below(R, 200) + 1;
  for (Spec &Child : S.Children)
    changeValues(Child, R);
}

namespace {
/// The parameters of a kernel node.
struct KernelNode {
  float *To, *From;
  int Count;
  void *Values[3] = {&To, &From, &Count};
  cudaKernelNodeParams Params = {};
  KernelNode(const Memory &M, const Spec &S)
      : To(M.Buffers[S.To]), From(M.Buffers[S.From]), Count(int(S.Value * 160)) {
    bool Cooperative = S.What == Does::Together;
    Params.func = Cooperative              ? reinterpret_cast<void *>(together)
                  : S.What == Does::Scaled ? reinterpret_cast<void *>(scaled)
                                           : reinterpret_cast<void *>(hot);
    Params.gridDim = dim3(Cooperative ? CooperativeBlocks : Elements / Threads);
    Params.blockDim = dim3(Threads);
    Params.kernelParams = Values;
  }
  KernelNode(const KernelNode &) = delete;
  KernelNode &operator=(const KernelNode &) = delete;
};

/// Makes graphs of specs, and changes their nodes.
class GraphMaker {
public:
  explicit GraphMaker(Memory &M) : M(M) {}

  /// Adds the nodes in an order that \p Shuffled decides, and then edges between all nodes that
  /// touch the same memory, from the earlier spec to the later one. Returns them by spec.
  std::vector<cudaGraphNode_t> fill(cudaGraph_t Graph, const std::vector<Spec> &Specs,
                                    unsigned Shuffled) {
    std::vector<size_t> Order(Specs.size());
    for (size_t I = 0; I < Order.size(); ++I)
      Order[I] = I;
    Random R(Shuffled);
    for (size_t I = Order.size(); I > 1; --I)
      std::swap(Order[I - 1], Order[below(R, unsigned(I))]);
    std::vector<cudaGraphNode_t> Nodes(Specs.size());
    for (size_t I : Order)
      Nodes[I] = add(Graph, Specs[I], Shuffled);
    for (size_t I = 0; I < Specs.size(); ++I)
      for (size_t J = I + 1; J < Specs.size(); ++J)
        if (Specs[I].conflicts(Specs[J]) || below(R, 10) == 0)
          CHECK(cudaGraphAddDependencies(Graph, &Nodes[I], &Nodes[J], nullptr, 1));
    return Nodes;
  }
  cudaGraph_t make(const std::vector<Spec> &Specs, unsigned Shuffled,
                   std::vector<cudaGraphNode_t> *Nodes = nullptr) {
    cudaGraph_t Graph;
    CHECK(cudaGraphCreate(&Graph, 0));
    std::vector<cudaGraphNode_t> Made = fill(Graph, Specs, Shuffled);
    if (Nodes)
      *Nodes = Made;
    return Graph;
  }
  /// Captures \p Specs on two streams that meet again. The nodes that touch nothing and the child
  /// graphs are left out.
  cudaGraph_t capture(const std::vector<Spec> &Specs, cudaStream_t Stream, cudaStream_t Branch) {
    cudaEvent_t Meets;
    cudaGraph_t Graph;
    CHECK(cudaEventCreateWithFlags(&Meets, cudaEventDisableTiming));
    CHECK(cudaStreamBeginCapture(Stream, cudaStreamCaptureModeGlobal));
    auto Follow = [&](cudaStream_t First, cudaStream_t Then) {
      CHECK(cudaEventRecord(Meets, First));
      CHECK(cudaStreamWaitEvent(Then, Meets, 0));
    };
    Follow(Stream, Branch);
    for (size_t I = 0; I < Specs.size(); ++I) {
      // A pair runs side by side if its two members touch different memory.
      bool Beside = I % 2 && !Specs[I].conflicts(Specs[I - 1]);
      launch(Specs[I], Beside ? Branch : Stream);
      if (I % 2) {
        Follow(Branch, Stream);
        Follow(Stream, Branch);
      }
    }
    Follow(Branch, Stream);
    CHECK(cudaStreamEndCapture(Stream, &Graph));
    CHECK(cudaEventDestroy(Meets));
    return Graph;
  }
  /// Does by calls what a node of \p S does.
  void launch(const Spec &S, cudaStream_t Stream) {
    if (S.isKernel()) {
      KernelNode K(M, S);
      if (S.What == Does::Together)
        CHECK(cudaLaunchCooperativeKernel(K.Params.func, K.Params.gridDim, K.Params.blockDim,
                                          K.Values, 0, Stream));
      else
        CHECK(cudaLaunchKernel(K.Params.func, K.Params.gridDim, K.Params.blockDim, K.Values, 0,
                               Stream));
    } else if (S.What == Does::Fill) {
      CHECK(cudaMemsetAsync(M.Buffers[S.To], int(0x30 + S.Value % 16), 1024, Stream));
    } else if (S.What == Does::FillRows) {
      CHECK(cudaMemset2DAsync(M.Buffers[S.To], 64, 0x3e, 20, 30, Stream));
    } else if (S.What == Does::Copy) {
      CHECK(cudaMemcpyAsync(M.Buffers[S.To], M.Buffers[S.From], S.Value * 64, kindOf(S), Stream));
    } else if (S.What == Does::Host) {
      cudaHostNodeParams H = hostNode(S);
      CHECK(cudaLaunchHostFunc(Stream, H.fn, H.userData));
    }
  }
  /// Changes the node \p Node of \p Exec to \p S. Returns whether the driver took it.
  bool change(cudaGraphExec_t Exec, cudaGraphNode_t Node, const Spec &S, unsigned Shuffled) {
    switch (S.What) {
    case Does::Hot:
    case Does::Scaled:
    case Does::Together: {
      KernelNode K(M, S);
      return took(cudaGraphExecKernelNodeSetParams(Exec, Node, &K.Params));
    }
    case Does::Fill: {
      cudaMemsetParams F = fillNode(S);
      return took(cudaGraphExecMemsetNodeSetParams(Exec, Node, &F));
    }
    case Does::Copy:
      return took(cudaGraphExecMemcpyNodeSetParams1D(Exec, Node, M.Buffers[S.To], M.Buffers[S.From],
                                                     S.Value * 64, kindOf(S)));
    case Does::Host: {
      cudaHostNodeParams H = hostNode(S);
      return took(cudaGraphExecHostNodeSetParams(Exec, Node, &H));
    }
    case Does::Child: {
      cudaGraph_t Child = make(S.Children, Shuffled);
      bool Taken = took(cudaGraphExecChildGraphNodeSetParams(Exec, Node, Child));
      CHECK(cudaGraphDestroy(Child));
      return Taken;
    }
    default:
      return true;
    }
  }

private:
  static cudaMemcpyKind kindOf(const Spec &S) {
    if (S.To >= DeviceBuffers)
      return cudaMemcpyDeviceToHost;
    return S.From >= DeviceBuffers ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice;
  }
  cudaMemsetParams fillNode(const Spec &S) const {
    cudaMemsetParams F = {};
    F.dst = M.Buffers[S.To];
    // The words are those of floats between 1 and 2. The driver may refuse other sizes in an
    // executable graph, and of rows nothing changes.
    bool Rows = S.What == Does::FillRows;
    F.value = Rows ? 0x3e : 0x3f800000 + (S.Value << 12);
    F.elementSize = Rows ? 1 : 4;
    F.pitch = Rows ? 64 : 0;
    F.width = Rows ? 20 : 100;
    F.height = Rows ? 30 : 1;
    return F;
  }
  cudaHostNodeParams hostNode(const Spec &S) {
    M.Works.push_back({M.Buffers[S.To], S.Value});
    cudaHostNodeParams H = {};
    H.fn = workOnHost;
    H.userData = &M.Works.back();
    return H;
  }
  cudaGraphNode_t add(cudaGraph_t Graph, const Spec &S, unsigned Shuffled) {
    cudaGraphNode_t Node;
    if (S.isKernel()) {
      KernelNode K(M, S);
      CHECK(cudaGraphAddKernelNode(&Node, Graph, nullptr, 0, &K.Params));
      cudaLaunchAttributeValue Value = {};
      Value.cooperative = S.What == Does::Together;
      if (Value.cooperative)
        CHECK(cudaGraphKernelNodeSetAttribute(Node, cudaLaunchAttributeCooperative, &Value));
    } else if (S.What == Does::Fill || S.What == Does::FillRows) {
      cudaMemsetParams F = fillNode(S);
      CHECK(cudaGraphAddMemsetNode(&Node, Graph, nullptr, 0, &F));
    } else if (S.What == Does::Copy) {
      CHECK(cudaGraphAddMemcpyNode1D(&Node, Graph, nullptr, 0, M.Buffers[S.To], M.Buffers[S.From],
                                     S.Value * 64, kindOf(S)));
    } else if (S.What == Does::Host) {
      cudaHostNodeParams H = hostNode(S);
      CHECK(cudaGraphAddHostNode(&Node, Graph, nullptr, 0, &H));
    } else if (S.What == Does::Record) {
      CHECK(cudaGraphAddEventRecordNode(&Node, Graph, nullptr, 0, M.Event));
    } else if (S.What == Does::Wait) {
      CHECK(cudaGraphAddEventWaitNode(&Node, Graph, nullptr, 0, M.Event));
    } else if (S.What == Does::Child) {
      cudaGraph_t Child = make(S.Children, Shuffled);
      CHECK(cudaGraphAddChildGraphNode(&Node, Graph, nullptr, 0, Child));
      CHECK(cudaGraphDestroy(Child));
    } else {
      CHECK(cudaGraphAddEmptyNode(&Node, Graph, nullptr, 0));
    }
    return Node;
  }

  Memory &M;
};

/// What is done with a graph besides launching it. With OwnMemory and Pageable it stays a graph in
/// timing runs.
enum class Use { Clone, EndSource, UpdateWhole, Capture, TwoOfOne, OwnMemory, Pageable, Disable };
constexpr unsigned AllUses = 8;

/// Two streams, of which the next use waits for the last one.
class Streams {
public:
  Streams() : All{newStream(), newStream()} {
    CHECK(cudaEventCreateWithFlags(&Event, cudaEventDisableTiming));
  }
  cudaStream_t take(unsigned Which) {
    CHECK(cudaEventRecord(Event, All[Last]));
    Last = Which;
    CHECK(cudaStreamWaitEvent(All[Last], Event, 0));
    return All[Last];
  }
  void wait() {
    for (cudaStream_t Each : All)
      CHECK(cudaStreamSynchronize(Each));
  }
  cudaStream_t All[2];

private:
  cudaEvent_t Event;
  unsigned Last = 0;
};

/// One random graph, its launches, and what changes between them.
class RandomGraph {
public:
  RandomGraph(unsigned Seed, unsigned Uses)
      : Seed(Seed), How(Use(Seed % Uses)), R(Seed), M(Seed), Maker(M) {
    for (unsigned I = 2 + below(R, 9); I > 0; --I)
      Specs.push_back(randomSpec(R, /*MayHaveChildren=*/How != Use::Capture));
    Spec Last; // Only graphs with such a kernel are launched in another way than the program's.
    Last.What = Does::Hot;
    Last.To = below(R, DeviceBuffers);
    Last.From = (Last.To + 1) % DeviceBuffers;
    Specs.push_back(Last);
  }

  void run(Streams &On) {
    CHECK(cudaStreamSynchronize(nullptr));
    make(On);
    CHECK(cudaGraphInstantiate(&Exec, Graph, 0));
    if (How == Use::TwoOfOne)
      CHECK(cudaGraphInstantiate(&Second, Graph, 0));
    if (How == Use::EndSource)
      endSource();
    for (unsigned L = 0; L < 5; ++L) {
      cudaStream_t Stream = On.take(L % 2);
      if (below(R, 2))
        Maker.launch(Specs.back(), Stream);
      CHECK(cudaGraphLaunch(Second && L % 2 ? Second : Exec, Stream));
      if (L < 4)
        change(On);
    }
    On.wait();
    std::printf("graph %u: %016llx, %u refused\n", Seed, M.digest(), Refused);
    CHECK(cudaGraphExecDestroy(Exec));
    if (Second)
      CHECK(cudaGraphExecDestroy(Second));
    endSource();
  }

private:
  void make(Streams &On) {
    if (How == Use::Capture) {
      Graph = Maker.capture(Specs, On.All[0], On.All[1]);
      return;
    }
    Graph = Maker.make(Specs, Seed, &Nodes);
    if (How == Use::Clone) {
      cudaGraph_t Clone;
      CHECK(cudaGraphClone(&Clone, Graph));
      for (cudaGraphNode_t &Node : Nodes)
        CHECK(cudaGraphNodeFindInClone(&Node, Node, Clone));
      CHECK(cudaGraphDestroy(Graph));
      Graph = Clone;
    }
    if (How == Use::OwnMemory)
      addMemory();
    if (How == Use::Pageable) {
      cudaGraphNode_t Copy;
      CHECK(cudaGraphAddMemcpyNode1D(&Copy, Graph, Nodes.data(), Nodes.size(), M.Buffers[0],
                                     M.Pageable.data(), M.bytes() / 4, cudaMemcpyHostToDevice));
    }
  }
  /// Memory that the graph allocates, computes in, and frees, after all other nodes.
  void addMemory() {
    cudaMemAllocNodeParams P = {};
    P.poolProps.allocType = cudaMemAllocationTypePinned;
    P.poolProps.location.type = cudaMemLocationTypeDevice;
    P.poolProps.location.id = 0;
    P.bytesize = M.bytes();
    cudaGraphNode_t Allocates, Last;
    CHECK(cudaGraphAddMemAllocNode(&Allocates, Graph, Nodes.data(), Nodes.size(), &P));
    auto *Own = static_cast<float *>(P.dptr);
    CHECK(cudaGraphAddMemcpyNode1D(&Last, Graph, &Allocates, 1, Own, M.Buffers[0], M.bytes(),
                                   cudaMemcpyDeviceToDevice));
    KernelNode K(M, Specs.back());
    K.To = Own;
    K.From = M.Buffers[1];
    for (int Step = 0; Step < 2; ++Step) {
      cudaGraphNode_t Node;
      CHECK(cudaGraphAddKernelNode(&Node, Graph, &Last, 1, &K.Params));
      Last = Node;
      K.To = M.Buffers[2];
      K.From = Own;
    }
    cudaGraphNode_t Frees;
    CHECK(cudaGraphAddMemFreeNode(&Frees, Graph, &Last, 1, Own));
  }
  void endSource() {
    if (Graph)
      CHECK(cudaGraphDestroy(Graph));
    Graph = nullptr;
    Nodes.clear();
  }
  void change(Streams &On) {
    if (How == Use::UpdateWhole || How == Use::Capture)
      return updateWhole(On);
    for (size_t I = 0; I < Nodes.size(); ++I) {
      if (below(R, 2)) {
        changeValues(Specs[I], R);
        // A graph with a disabled node must stay one when a child graph changes.
        if (Specs[I].What != Does::Child || !AnyDisabled)
          Refused += !Maker.change(Exec, Nodes[I], Specs[I], Seed);
      }
      if (How == Use::Disable && Specs[I].mayBeDisabled() && below(R, 3) == 0) {
        Refused += !took(cudaGraphNodeSetEnabled(Exec, Nodes[I], Off ? 1 : 0));
        Off = !Off;
        AnyDisabled = true;
      }
    }
  }
  void updateWhole(Streams &On) {
    for (Spec &S : Specs)
      changeValues(S, R);
    // A stream with work may be captured; the capture does not wait for it.
    cudaGraph_t New =
        How == Use::Capture ? Maker.capture(Specs, On.All[0], On.All[1]) : Maker.make(Specs, Seed);
    cudaGraphExecUpdateResultInfo Info;
    if (!took(cudaGraphExecUpdate(Exec, New, &Info))) {
      ++Refused;
      CHECK(cudaGraphExecDestroy(Exec));
      CHECK(cudaGraphInstantiate(&Exec, New, 0));
    }
    CHECK(cudaGraphDestroy(New));
  }

  unsigned Seed;
  Use How;
  Random R;
  Memory M;
  GraphMaker Maker;
  std::vector<Spec> Specs;
  cudaGraph_t Graph = nullptr;
  cudaGraphExec_t Exec = nullptr, Second = nullptr;
  std::vector<cudaGraphNode_t> Nodes; ///< By spec; empty if the program may not name them.
  bool Off = false, AnyDisabled = false;
  unsigned Refused = 0;
};
} // namespace

static size_t bytesInUse() {
  size_t Free = 0, Total = 0;
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaDeviceGraphMemTrim(0));
  CHECK(cudaMemGetInfo(&Free, &Total));
  return Total - Free;
}

int main(int Count, char **Arguments) {
  auto Number = [&](int At, unsigned Else) {
    return Count > At ? unsigned(std::atoi(Arguments[At])) : Else;
  };
  unsigned First = Number(1, 1), Graphs = Number(2, 200);
  unsigned Uses = std::clamp(Number(3, AllUses), 1u, AllUses);
  size_t Early = 0;
  Streams On;
  for (unsigned G = 0; G < Graphs; ++G) {
    RandomGraph(First + G, Uses).run(On);
    if (G == Graphs / 4)
      Early = bytesInUse();
  }
  size_t Late = bytesInUse();
  std::FILE *File = Count > 4 ? std::fopen(Arguments[4], "a") : nullptr;
  if (!File)
    return 0;
  std::fprintf(File, "%zu %zu %s\n", Early, Late, Early == Late ? "equal" : "not equal");
  std::fclose(File);
}
