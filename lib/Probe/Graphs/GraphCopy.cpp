#include "Probe/Graphs/GraphCopy.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

using namespace carve;
using namespace carve::probe;

CopiedNode *GraphCopy::find(CUgraphNode Handle) {
  auto It = std::find_if(Nodes.begin(), Nodes.end(),
                         [&](const CopiedNode &Node) { return Node.Handle == Handle; });
  return It == Nodes.end() ? nullptr : &*It;
}

bool GraphCopy::isOfChild(size_t Place) const {
  return std::any_of(Children.begin(), Children.end(), [&](const ChildNodes &Child) {
    return Place >= Child.First && Place < Child.First + Child.Count;
  });
}

bool GraphCopy::needsOtherContext(CUcontext Context) const {
  return std::any_of(Nodes.begin(), Nodes.end(), [&](const CopiedNode &Node) {
    const auto *Kernel = std::get_if<KernelWork>(&Node.Work);
    return Kernel && Kernel->Context && Kernel->Context != Context;
  });
}

/// Takes everything but the nodes of \p Child, which are in this graph from \p First on.
void GraphCopy::take(const GraphCopy &Child, size_t First) {
  for (const ChildNodes &Inner : Child.Children)
    Children.push_back({Inner.Parent, First + Inner.First, Inner.Count});
  Branches |= Child.Branches;
  Overlaps |= Child.Overlaps;
  HidesKernels |= Child.HidesKernels;
  InBodies.insert(Child.InBodies.begin(), Child.InBodies.end());
  if (Child.Stays)
    stay(*Child.Stays);
  else if (Stays)
    stay(*Stays); // Now that nodes overlap, the reason may be another one.
}

void GraphCopy::append(CUgraphNode Parent, GraphCopy Child) {
  size_t First = Nodes.size();
  Children.push_back({Parent, First, Child.Nodes.size()});
  take(Child, First);
  std::move(Child.Nodes.begin(), Child.Nodes.end(), std::back_inserter(Nodes));
}

bool GraphCopy::replace(CUgraphNode Parent, GraphCopy Child) {
  auto It = std::find_if(Children.begin(), Children.end(),
                         [&](const ChildNodes &Old) { return Old.Parent == Parent; });
  if (It == Children.end() || It->Count != Child.Nodes.size())
    return false;
  size_t First = It->First, End = First + It->Count;
  std::erase_if(Children, [&](const ChildNodes &Inner) {
    return Inner.Parent != Parent && Inner.First >= First && Inner.First + Inner.Count <= End &&
           Inner.Count < End - First;
  });
  take(Child, First);
  std::move(Child.Nodes.begin(), Child.Nodes.end(), Nodes.begin() + std::ptrdiff_t(First));
  return true;
}

namespace {
/// The nodes and edges of one graph, without those of child graphs.
struct Topology {
  std::vector<CUgraphNode> Nodes;
  std::set<std::pair<CUgraphNode, CUgraphNode>> Edges;
  std::set<CUgraphNode> Early; ///< The nodes that may begin before one ahead of them ends.

  std::optional<GraphStay> read(const DriverApi &Driver, CUgraph Graph);
  std::optional<GraphStay> readEdges(const DriverApi &Driver, CUgraph Graph);
  /// Puts the nodes into an order that the edges allow. Returns false if there is none.
  bool sort();
  /// Whether the edges allow no other order. Called after sort().
  bool isChain() const;
};
} // namespace

std::optional<GraphStay> Topology::read(const DriverApi &Driver, CUgraph Graph) {
  size_t Count = 0;
  if (Driver.GraphGetNodes(Graph, nullptr, &Count) != CUDA_SUCCESS)
    return GraphStay::Unread;
  Nodes.resize(Count);
  if (Count && Driver.GraphGetNodes(Graph, Nodes.data(), &Count) != CUDA_SUCCESS) {
    Nodes.clear();
    return GraphStay::Unread;
  }
  return readEdges(Driver, Graph);
}

/// Returns whether it is known what an edge with \p Data means: its second node runs after the
/// first one, or may begin when the first one's blocks allow it or have begun.
static bool isKnown(const CUgraphEdgeData &Data) {
  return (Data.type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT ||
          Data.type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) &&
         (Data.from_port == CU_GRAPH_KERNEL_NODE_PORT_DEFAULT ||
          Data.from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC ||
          Data.from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER) &&
         Data.to_port == 0;
}

std::optional<GraphStay> Topology::readEdges(const DriverApi &Driver, CUgraph Graph) {
  auto Ask = [&](CUgraphNode *From, CUgraphNode *To, CUgraphEdgeData *Data, size_t *Count) {
    return Driver.GraphGetEdgesWithData ? Driver.GraphGetEdgesWithData(Graph, From, To, Data, Count)
                                        : Driver.GraphGetEdges(Graph, From, To, Count);
  };
  size_t Count = 0;
  CUresult Result = Ask(nullptr, nullptr, nullptr, &Count);
  std::vector<CUgraphNode> From(Count), To(Count);
  std::vector<CUgraphEdgeData> Data(Count);
  if (Result == CUDA_SUCCESS && Count)
    Result = Ask(From.data(), To.data(), Data.data(), &Count);
  // The driver says so if an edge means more than the call can tell.
  if (Result == CUDA_ERROR_LOSSY_QUERY)
    return GraphStay::Programmatic;
  if (Result != CUDA_SUCCESS)
    return GraphStay::Unread;
  for (size_t I = 0; I < Count; ++I) {
    if (!isKnown(Data[I]))
      return GraphStay::Programmatic;
    Edges.emplace(From[I], To[I]);
    if (Data[I].type != CU_GRAPH_DEPENDENCY_TYPE_DEFAULT ||
        Data[I].from_port != CU_GRAPH_KERNEL_NODE_PORT_DEFAULT)
      Early.insert(To[I]);
  }
  return std::nullopt;
}

bool Topology::sort() {
  std::map<CUgraphNode, size_t> Missing;
  std::multimap<CUgraphNode, CUgraphNode> Next;
  for (const auto &[From, To] : Edges) {
    ++Missing[To];
    Next.emplace(From, To);
  }
  std::vector<CUgraphNode> Sorted;
  for (CUgraphNode Node : Nodes)
    if (!Missing.count(Node))
      Sorted.push_back(Node);
  for (size_t I = 0; I < Sorted.size(); ++I) {
    auto [Begin, End] = Next.equal_range(Sorted[I]);
    for (auto It = Begin; It != End; ++It)
      if (--Missing[It->second] == 0)
        Sorted.push_back(It->second);
  }
  std::swap(Nodes, Sorted);
  return Nodes.size() == Sorted.size();
}

bool Topology::isChain() const {
  for (size_t I = 1; I < Nodes.size(); ++I)
    if (!Edges.count({Nodes[I - 1], Nodes[I]}))
      return false;
  return true;
}

namespace {
/// Reads the nodes of a graph and of its child graphs.
class GraphReader {
public:
  GraphReader(const DriverApi &Driver, const BodiesOf &Bodies) : Driver(Driver), Bodies(Bodies) {}
  GraphCopy read(CUgraph Graph);

private:
  void add(CUgraphNode Node);
  void addOfType(CUgraphNode Node, CUgraphNodeType Type);
  void addKernel(CUgraphNode Node);
  void addCopy(CUgraphNode Node);
  void addChild(CUgraphNode Node);
  void addConditional(CUgraphNode Node);
  template <class Work, class Query> void addSimple(CUgraphNode Node, Query Ask);

  const DriverApi &Driver;
  const BodiesOf &Bodies;
  GraphCopy Copy;
};
} // namespace

GraphCopy GraphReader::read(CUgraph Graph) {
  Topology Of;
  auto Why = Of.read(Driver, Graph);
  Copy.HidesKernels = Why && Of.Nodes.empty();
  if (!Of.sort()) {
    Why = GraphStay::Unread;
    Copy.HidesKernels = true;
  }
  Copy.Stays = Why;
  // A node that begins early may rely on the one ahead of it to run beside it.
  Copy.Overlaps = !Of.Early.empty();
  Copy.Branches |= !Of.isChain() || Copy.Overlaps;
  for (CUgraphNode Node : Of.Nodes) {
    add(Node);
    if (!Copy.Nodes.empty() && Copy.Nodes.back().Handle == Node)
      Copy.Nodes.back().BeginsEarly = Of.Early.count(Node) > 0;
  }
  return std::move(Copy);
}

void GraphReader::add(CUgraphNode Node) {
  CUgraphNodeType Type{};
  if (Driver.GraphNodeGetType(Node, &Type) == CUDA_SUCCESS)
    return addOfType(Node, Type);
  Copy.stay(GraphStay::Unread);
  Copy.HidesKernels = true;
}

void GraphReader::addOfType(CUgraphNode Node, CUgraphNodeType Type) {
  switch (Type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    return addKernel(Node);
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return addCopy(Node);
  case CU_GRAPH_NODE_TYPE_MEMSET:
    return addSimple<CUDA_MEMSET_NODE_PARAMS>(Node, Driver.GraphMemsetNodeGetParams);
  case CU_GRAPH_NODE_TYPE_HOST:
    return addSimple<CUDA_HOST_NODE_PARAMS>(Node, Driver.GraphHostNodeGetParams);
  case CU_GRAPH_NODE_TYPE_GRAPH:
    return addChild(Node);
  case CU_GRAPH_NODE_TYPE_EMPTY:
    Copy.Nodes.push_back({Node, std::monostate()});
    return;
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return addSimple<EventWaitWork>(Node, [&](CUgraphNode N, EventWaitWork *Wait) {
      return Driver.GraphEventWaitNodeGetEvent(N, &Wait->Event);
    });
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return addSimple<EventRecordWork>(Node, [&](CUgraphNode N, EventRecordWork *Record) {
      return Driver.GraphEventRecordNodeGetEvent(N, &Record->Event);
    });
  case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
  case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    return Copy.stay(GraphStay::Semaphore);
  case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
  case CU_GRAPH_NODE_TYPE_MEM_FREE:
    return Copy.stay(GraphStay::MemoryNode);
  case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    return Copy.stay(GraphStay::MemoryOperation);
  case CU_GRAPH_NODE_TYPE_CONDITIONAL:
    return addConditional(Node);
  default:
    Copy.HidesKernels = true;
    return Copy.stay(GraphStay::UnknownNode);
  }
}

void GraphReader::addKernel(CUgraphNode Node) {
  CUDA_KERNEL_NODE_PARAMS Params{};
  std::optional<KernelWork> Kernel;
  if (Driver.GraphKernelNodeGetParams(Node, &Params) == CUDA_SUCCESS)
    Kernel = copyKernel(Driver, Params);
  if (!Kernel) {
    Copy.HidesKernels = true;
    return Copy.stay(GraphStay::Unread);
  }
  if (auto Why = copyAttributes(Driver, Node, *Kernel))
    Copy.stay(*Why);
  Copy.Nodes.push_back({Node, std::move(*Kernel)});
}

void GraphReader::addCopy(CUgraphNode Node) {
  addSimple<CUDA_MEMCPY3D>(Node, Driver.GraphMemcpyNodeGetParams);
  if (Copy.Nodes.empty() || Copy.Nodes.back().Handle != Node)
    return;
  if (isPageable(Driver, std::get<CUDA_MEMCPY3D>(Copy.Nodes.back().Work)))
    Copy.stay(GraphStay::PageableCopy);
}

void GraphReader::addChild(CUgraphNode Node) {
  CUgraph Graph = nullptr;
  if (Driver.GraphChildGraphNodeGetGraph(Node, &Graph) != CUDA_SUCCESS) {
    Copy.HidesKernels = true;
    return Copy.stay(GraphStay::Unread);
  }
  Copy.append(Node, GraphReader(Driver, Bodies).read(Graph));
}

void GraphReader::addConditional(CUgraphNode Node) {
  std::vector<CUgraph> Its = Bodies(Node);
  if (Its.empty()) {
    Copy.HidesKernels = true;
    return Copy.stay(GraphStay::Conditional);
  }
  Copy.stay(GraphStay::BesideConditional);
  for (CUgraph Graph : Its) {
    GraphCopy Body = GraphReader(Driver, Bodies).read(Graph);
    Copy.HidesKernels |= Body.HidesKernels;
    Copy.InBodies.merge(Body.InBodies);
    for (const CopiedNode &Each : Body.Nodes)
      if (const auto *Kernel = std::get_if<KernelWork>(&Each.Work))
        Copy.InBodies.insert(Kernel->Name);
  }
}

template <class Work, class Query> void GraphReader::addSimple(CUgraphNode Node, Query Ask) {
  Work Params{};
  if (Ask(Node, &Params) != CUDA_SUCCESS)
    return Copy.stay(GraphStay::Unread);
  Copy.Nodes.push_back({Node, Params});
}

void carve::probe::recordStay(RecordFile &File, GraphCopy &Graph) {
  if (!Graph.Stays || std::exchange(Graph.StayRecorded, true))
    return;
  if (Graph.HidesKernels)
    File.addOnce(StayingGraph{"-", *Graph.Stays});
  for (const std::string &Name : Graph.InBodies)
    File.addOnce(StayingGraph{Name, GraphStay::Conditional});
  for (const CopiedNode &Node : Graph.Nodes)
    if (const auto *Kernel = std::get_if<KernelWork>(&Node.Work);
        Kernel && !Graph.InBodies.count(Kernel->Name))
      File.addOnce(StayingGraph{Kernel->Name, *Graph.Stays});
}

void carve::probe::recordOverlap(RecordFile &File, GraphCopy &Graph) {
  if (!Graph.Overlaps || std::exchange(Graph.OverlapRecorded, true))
    return;
  for (const CopiedNode &Node : Graph.Nodes)
    if (const auto *Kernel = std::get_if<KernelWork>(&Node.Work); Kernel && Node.BeginsEarly)
      File.addOnce(AttributeRecord{Kernel->Name, LaunchAttribute::Programmatic});
}

GraphCopy carve::probe::copyGraph(const DriverApi &Driver, CUgraph Graph, const BodiesOf &Bodies) {
  return GraphReader(Driver, Bodies).read(Graph);
}
