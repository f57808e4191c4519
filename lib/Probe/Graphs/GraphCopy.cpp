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
  HidesKernels |= Child.HidesKernels;
  InBodies.insert(Child.InBodies.begin(), Child.InBodies.end());
  if (Child.Stays)
    stay(*Child.Stays);
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

  std::optional<GraphStay> read(const DriverApi &Driver, CUgraph Graph);
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
  size_t EdgeCount = 0;
  CUresult Result = Driver.GraphGetEdges(Graph, nullptr, nullptr, &EdgeCount);
  std::vector<CUgraphNode> From(EdgeCount), To(EdgeCount);
  if (Result == CUDA_SUCCESS && EdgeCount)
    Result = Driver.GraphGetEdges(Graph, From.data(), To.data(), &EdgeCount);
  // The driver says so if an edge means anything but that one node runs after the other.
  if (Result == CUDA_ERROR_LOSSY_QUERY)
    return GraphStay::Programmatic;
  if (Result != CUDA_SUCCESS)
    return GraphStay::Unread;
  for (size_t I = 0; I < EdgeCount; ++I)
    Edges.emplace(From[I], To[I]);
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
  Copy.Branches |= !Of.isChain();
  for (CUgraphNode Node : Of.Nodes)
    add(Node);
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

GraphCopy carve::probe::copyGraph(const DriverApi &Driver, CUgraph Graph, const BodiesOf &Bodies) {
  return GraphReader(Driver, Bodies).read(Graph);
}
