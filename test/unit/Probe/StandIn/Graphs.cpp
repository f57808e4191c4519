/// \file
/// Graphs of the stand-in: nodes with their parameters, edges, and executable graphs whose nodes
/// run on the stream's thread. Of several orders that the edges allow, it takes the one in which
/// the nodes that were added last come first, so that nobody relies on the order of the program.

#include "unit/Probe/StandIn/Calls.h"

#include <cstdlib>

using namespace carve::standin;

namespace {
/// What the program launches. Nodes have the places of those of the graph that it was made of.
struct Executable {
  Graph Nodes;
  std::map<GraphNode *, GraphNode *> Places; ///< The node for each node of that graph.
  CompletionPtr Last;                        ///< The last launch.
};
} // namespace

static Graph *graph(CUgraph Handle) { return reinterpret_cast<Graph *>(Handle); }
static GraphNode *node(CUgraphNode Handle) { return reinterpret_cast<GraphNode *>(Handle); }
static CUgraphNode handle(GraphNode *Node) { return reinterpret_cast<CUgraphNode>(Node); }
static Executable *executable(CUgraphExec Handle) { return reinterpret_cast<Executable *>(Handle); }

/// Gives \p To the parameters of \p From, without those of a child graph.
static void assign(GraphNode &To, const GraphNode &From) {
  std::shared_ptr<Graph> Child = To.Child;
  std::vector<std::shared_ptr<Graph>> Bodies = To.Bodies;
  bool Enabled = To.Enabled;
  To = From;
  To.Child = Child;
  To.Bodies = Bodies;
  To.Enabled = Enabled;
  To.Parameters.clear();
  for (std::vector<char> &Argument : To.Call.Arguments)
    To.Parameters.push_back(Argument.data());
}

/// The nodes that exist. On a GPU the handle of any other one is an address that means nothing.
static std::set<const GraphNode *> &existing() {
  static auto *All = new std::set<const GraphNode *>;
  return *All;
}
static std::mutex &existingLock() {
  static auto *Lock = new std::mutex;
  return *Lock;
}

Graph::~Graph() {
  std::lock_guard<std::mutex> Guard(existingLock());
  for (const auto &Node : Nodes)
    existing().erase(Node.get());
}

static bool exists(const GraphNode *Node) {
  std::lock_guard<std::mutex> Guard(existingLock());
  return existing().count(Node) > 0;
}

GraphNode *Graph::add(GraphNode Node) {
  auto New = std::make_unique<GraphNode>();
  {
    std::lock_guard<std::mutex> Guard(existingLock());
    existing().insert(New.get());
  }
  assign(*New, Node);
  New->Child = Node.Child;
  New->Bodies = Node.Bodies;
  Nodes.push_back(std::move(New));
  return Nodes.back().get();
}

/// Copies all of \p From. \p Places gets the copy of each node, those of child graphs among them.
static void copyInto(Graph &To, const Graph &From, std::map<GraphNode *, GraphNode *> &Places) {
  for (const auto &Node : From.Nodes) {
    GraphNode *Copy = To.add(*Node);
    Places[Node.get()] = Copy;
    if (Node->Child) {
      Copy->Child = std::make_shared<Graph>();
      copyInto(*Copy->Child, *Node->Child, Places);
    }
    for (std::shared_ptr<Graph> &Body : Copy->Bodies) {
      auto Own = std::make_shared<Graph>();
      copyInto(*Own, *Body, Places);
      Body = Own;
    }
  }
  for (const auto &[Before, After] : From.Edges)
    To.Edges.emplace(Places.at(Before), Places.at(After));
  for (const auto &[Edge, Data] : From.EdgeData)
    To.EdgeData[{Places.at(Edge.first), Places.at(Edge.second)}] = Data;
  To.Tied.insert(To.Tied.end(), From.Tied.begin(), From.Tied.end());
}

/// Gives the nodes of \p To the parameters of those in the same places of \p From. Returns false,
/// and changes nothing, if the two are not alike.
static bool assignAll(Graph &To, const Graph &From) {
  if (To.Nodes.size() != From.Nodes.size() || To.Edges.size() != From.Edges.size())
    return false;
  for (size_t I = 0; I < To.Nodes.size(); ++I)
    if (To.Nodes[I]->Type != From.Nodes[I]->Type)
      return false;
  for (size_t I = 0; I < To.Nodes.size(); ++I) {
    assign(*To.Nodes[I], *From.Nodes[I]);
    if (To.Nodes[I]->Child && !assignAll(*To.Nodes[I]->Child, *From.Nodes[I]->Child))
      return false;
  }
  return true;
}

STANDIN_API cuGraphCreate(CUgraph *Out, unsigned) {
  *Out = reinterpret_cast<CUgraph>(new Graph);
  return CUDA_SUCCESS;
}

/// The only reference is moved into a graph later.
STANDIN_API cuUserObjectCreate(CUuserObject *Out, void *Data, CUhostFn Destroy, unsigned,
                               unsigned) {
  *Out = reinterpret_cast<CUuserObject>(new UserObject{Data, Destroy});
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphRetainUserObject(CUgraph To, CUuserObject Object, unsigned, unsigned) {
  graph(To)->Tied.emplace_back(reinterpret_cast<UserObject *>(Object));
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphClone(CUgraph *Out, CUgraph From) {
  auto *Copy = new Graph;
  std::map<GraphNode *, GraphNode *> Places;
  copyInto(*Copy, *graph(From), Places);
  *Out = reinterpret_cast<CUgraph>(Copy);
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphDestroy(CUgraph Handle) {
  return traced(CALL(cuGraphDestroy){Handle}, [](auto &P, unsigned) {
    delete graph(P.hGraph);
    return CUDA_SUCCESS;
  });
}

CUresult carve::standin::addNode(CUgraphNode *Out, CUgraph To, const CUgraphNode *After,
                                 size_t Count, GraphNode Node) {
  GraphNode *New = graph(To)->add(std::move(Node));
  for (size_t I = 0; I < Count; ++I)
    graph(To)->Edges.emplace(node(After[I]), New);
  *Out = handle(New);
  return CUDA_SUCCESS;
}

void carve::standin::addUnheardOfNode(CUgraph To) {
  GraphNode Node;
  Node.Type = UnheardOfNode;
  CUgraphNode Added = nullptr;
  addNode(&Added, To, nullptr, 0, Node);
}

static void setKernel(GraphNode &Node, const CUDA_KERNEL_NODE_PARAMS &P) {
  Node.Function = P.func ? P.func : reinterpret_cast<CUfunction>(P.kern);
  Node.Call.Grid = {P.gridDimX, P.gridDimY, P.gridDimZ};
  Node.Call.Block = {P.blockDimX, P.blockDimY, P.blockDimZ};
  Node.Call.DynamicSmemBytes = P.sharedMemBytes;
  Node.Call.Variables = &reinterpret_cast<Entry *>(Node.Function)->Owner->Globals;
  Node.Call.Arguments = copyArguments(Node.Function, P.kernelParams, P.extra);
}

#define ADDED CUgraphNode *Out, CUgraph To, const CUgraphNode *After, size_t Count

STANDIN_API cuGraphAddKernelNode(ADDED, const CUDA_KERNEL_NODE_PARAMS *P) {
  GraphNode Node;
  Node.Type = CU_GRAPH_NODE_TYPE_KERNEL;
  setKernel(Node, *P);
  return addNode(Out, To, After, Count, std::move(Node));
}

STANDIN_API cuGraphAddMemcpyNode(ADDED, const CUDA_MEMCPY3D *P, CUcontext) {
  GraphNode Node;
  Node.Type = CU_GRAPH_NODE_TYPE_MEMCPY;
  Node.Copy = *P;
  return addNode(Out, To, After, Count, std::move(Node));
}

STANDIN_API cuGraphAddMemsetNode(ADDED, const CUDA_MEMSET_NODE_PARAMS *P, CUcontext) {
  GraphNode Node;
  Node.Type = CU_GRAPH_NODE_TYPE_MEMSET;
  Node.Fill = *P;
  return addNode(Out, To, After, Count, std::move(Node));
}

STANDIN_API cuGraphAddHostNode(ADDED, const CUDA_HOST_NODE_PARAMS *P) {
  GraphNode Node;
  Node.Type = CU_GRAPH_NODE_TYPE_HOST;
  Node.Host = *P;
  return addNode(Out, To, After, Count, std::move(Node));
}

STANDIN_API cuGraphAddEmptyNode(ADDED) { return addNode(Out, To, After, Count, {}); }

STANDIN_API cuGraphAddChildGraphNode(ADDED, CUgraph Child) {
  GraphNode Node;
  Node.Type = CU_GRAPH_NODE_TYPE_GRAPH;
  Node.Child = std::make_shared<Graph>();
  std::map<GraphNode *, GraphNode *> Places;
  copyInto(*Node.Child, *graph(Child), Places);
  return addNode(Out, To, After, Count, std::move(Node));
}

/// The memory is there from now on and as long as the process, at the address that a launch's nodes
/// were given.
STANDIN_API cuGraphAddMemAllocNode(ADDED, CUDA_MEM_ALLOC_NODE_PARAMS *P) {
  return traced(CALL(cuGraphAddMemAllocNode){Out, To, After, Count, P},
                [](auto &P, unsigned) -> CUresult {
                  P.nodeParams->dptr = allocate(P.nodeParams->bytesize, Kind::Device);
                  GraphNode Node;
                  Node.Type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
                  return addNode(P.phGraphNode, P.hGraph, P.dependencies, P.numDependencies, Node);
                });
}

STANDIN_API cuGraphAddMemFreeNode(ADDED, CUdeviceptr) {
  GraphNode Node;
  Node.Type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  return addNode(Out, To, After, Count, Node);
}

STANDIN_API cuGraphConditionalHandleCreate(CUgraphConditionalHandle *Out, CUgraph Of, CUcontext,
                                           unsigned Default, unsigned) {
  std::shared_ptr<Condition> Made(new Condition{Default});
  *Out = reinterpret_cast<CUgraphConditionalHandle>(Made.get());
  graph(Of)->Conditions.push_back(std::move(Made));
  return CUDA_SUCCESS;
}

void carve::standin::setCondition(CUgraphConditionalHandle Handle, unsigned Value) {
  reinterpret_cast<Condition *>(Handle)->Value = Value;
}

STANDIN_API cuGraphAddNode(CUgraphNode *Out, CUgraph To, const CUgraphNode *After,
                           const CUgraphEdgeData *Data, size_t Count, CUgraphNodeParams *Params) {
  return traced(CALL(cuGraphAddNode_v2){Out, To, After, Data, Count, Params},
                [](auto &P, unsigned) -> CUresult {
                  CUDA_CONDITIONAL_NODE_PARAMS &Its = P.nodeParams->conditional;
                  if (P.nodeParams->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
                    return CUDA_ERROR_NOT_SUPPORTED;
                  GraphNode Node;
                  Node.Type = P.nodeParams->type;
                  for (const std::shared_ptr<Condition> &C : graph(P.hGraph)->Conditions)
                    if (reinterpret_cast<CUgraphConditionalHandle>(C.get()) == Its.handle)
                      Node.Decides = C;
                  Node.Bodies.push_back(std::make_shared<Graph>());
                  Node.BodyHandles.push_back(reinterpret_cast<CUgraph>(Node.Bodies[0].get()));
                  CUresult Result =
                      addNode(P.phGraphNode, P.hGraph, P.dependencies, P.numDependencies, Node);
                  Its.phGraph_out = node(*P.phGraphNode)->BodyHandles.data();
                  return Result;
                });
}

static CUresult addEvent(ADDED, CUgraphNodeType Type, CUevent Event) {
  GraphNode Node;
  Node.Type = Type;
  Node.Event = Event;
  return addNode(Out, To, After, Count, std::move(Node));
}

STANDIN_API cuGraphAddEventRecordNode(ADDED, CUevent Event) {
  return addEvent(Out, To, After, Count, CU_GRAPH_NODE_TYPE_EVENT_RECORD, Event);
}

STANDIN_API cuGraphAddEventWaitNode(ADDED, CUevent Event) {
  return addEvent(Out, To, After, Count, CU_GRAPH_NODE_TYPE_WAIT_EVENT, Event);
}

STANDIN_API cuGraphAddDependencies(CUgraph To, const CUgraphNode *From, const CUgraphNode *After,
                                   const CUgraphEdgeData *Data, size_t Count) {
  for (size_t I = 0; I < Count; ++I) {
    graph(To)->Edges.emplace(node(From[I]), node(After[I]));
    if (Data && (Data[I].type || Data[I].from_port))
      graph(To)->EdgeData[{node(From[I]), node(After[I])}] = Data[I];
  }
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphGetNodes(CUgraph Of, CUgraphNode *Nodes, size_t *Count) {
  for (size_t I = 0; Nodes && I < *Count; ++I)
    Nodes[I] = handle(graph(Of)->Nodes.at(I).get());
  *Count = graph(Of)->Nodes.size();
  return CUDA_SUCCESS;
}

/// The second version of the call.
STANDIN_API cuGraphGetEdges(CUgraph Of, CUgraphNode *From, CUgraphNode *To, CUgraphEdgeData *Data,
                            size_t *Count) {
  const Graph &Its = *graph(Of);
  if (From && !Data && !Its.EdgeData.empty())
    return CUDA_ERROR_LOSSY_QUERY;
  size_t I = 0;
  for (const auto &Edge : Its.Edges)
    if (From && I < *Count) {
      From[I] = handle(Edge.first);
      To[I] = handle(Edge.second);
      auto It = Its.EdgeData.find(Edge);
      if (Data)
        Data[I] = It == Its.EdgeData.end() ? CUgraphEdgeData{} : It->second;
      ++I;
    }
  *Count = Its.Edges.size();
  return CUDA_SUCCESS;
}

#undef cuGraphGetEdges
STANDIN_API cuGraphGetEdges(CUgraph Of, CUgraphNode *From, CUgraphNode *To, size_t *Count) {
  return cuGraphGetEdges_v2(Of, From, To, nullptr, Count);
}

STANDIN_API cuGraphNodeGetType(CUgraphNode Node, CUgraphNodeType *Out) {
  *Out = node(Node)->Type;
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphKernelNodeGetParams(CUgraphNode Node, CUDA_KERNEL_NODE_PARAMS *Out) {
  GraphNode &N = *node(Node);
  *Out = {};
  Out->func = N.Function;
  Out->gridDimX = N.Call.Grid[0], Out->gridDimY = N.Call.Grid[1], Out->gridDimZ = N.Call.Grid[2];
  Out->blockDimX = N.Call.Block[0], Out->blockDimY = N.Call.Block[1];
  Out->blockDimZ = N.Call.Block[2];
  Out->sharedMemBytes = N.Call.DynamicSmemBytes;
  Out->kernelParams = N.Parameters.data();
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphKernelNodeGetAttribute(CUgraphNode Node, CUkernelNodeAttrID Which,
                                          CUkernelNodeAttrValue *Out) {
  *Out = {};
  if (Which == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
    Out->cooperative = node(Node)->Call.Cooperative;
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphKernelNodeSetAttribute(CUgraphNode Node, CUkernelNodeAttrID Which,
                                          const CUkernelNodeAttrValue *Value) {
  if (Which == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
    node(Node)->Call.Cooperative = Value->cooperative != 0;
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphMemcpyNodeGetParams(CUgraphNode Node, CUDA_MEMCPY3D *Out) {
  *Out = node(Node)->Copy;
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphMemsetNodeGetParams(CUgraphNode Node, CUDA_MEMSET_NODE_PARAMS *Out) {
  *Out = node(Node)->Fill;
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphHostNodeGetParams(CUgraphNode Node, CUDA_HOST_NODE_PARAMS *Out) {
  *Out = node(Node)->Host;
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphChildGraphNodeGetGraph(CUgraphNode Node, CUgraph *Out) {
  *Out = reinterpret_cast<CUgraph>(node(Node)->Child.get());
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphEventRecordNodeGetEvent(CUgraphNode Node, CUevent *Out) {
  *Out = node(Node)->Event;
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphEventWaitNodeGetEvent(CUgraphNode Node, CUevent *Out) {
  *Out = node(Node)->Event;
  return CUDA_SUCCESS;
}

STANDIN_API cuGraphInstantiate(CUgraphExec *Out, CUgraph From, unsigned long long Flags) {
  return traced(CALL(cuGraphInstantiateWithFlags){Out, From, Flags},
                [](auto &P, unsigned) -> CUresult {
                  if (!P.hGraph)
                    return CUDA_ERROR_INVALID_VALUE;
                  auto *New = new Executable;
                  copyInto(New->Nodes, *graph(P.hGraph), New->Places);
                  *P.phGraphExec = reinterpret_cast<CUgraphExec>(New);
                  return CUDA_SUCCESS;
                });
}

STANDIN_API cuGraphExecDestroy(CUgraphExec Handle) {
  return traced(CALL(cuGraphExecDestroy){Handle}, [](auto &P, unsigned) {
    delete executable(P.hGraphExec);
    return CUDA_SUCCESS;
  });
}

CUresult carve::standin::changeNode(CUgraphExec Of, CUgraphNode Node, CUgraphNodeType Type,
                                    const std::function<void(GraphNode &)> &Change) {
  if (!exists(node(Node)))
    std::abort();
  Executable &E = *executable(Of);
  auto It = E.Places.find(node(Node));
  if (It == E.Places.end() || It->second->Type != Type)
    return CUDA_ERROR_INVALID_VALUE;
  GraphNode New = *It->second;
  Change(New);
  assign(*It->second, New);
  return CUDA_SUCCESS;
}

/// As changeNode(), for the executable graph and the node of a call's parameters.
template <class P, class F> static CUresult change(P &Params, CUgraphNodeType Type, F Change) {
  return changeNode(Params.hGraphExec, Params.hNode, Type, Change);
}

std::string carve::standin::kernelInNode(CUgraphExec Of, CUgraphNode Node) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  CUfunction Kernel = executable(Of)->Places.at(node(Node))->Function;
  return reinterpret_cast<Entry *>(Kernel)->Code->Name;
}

static std::string &refusedEnding() {
  static auto *Ending = new std::string;
  return *Ending;
}

void carve::standin::refuseInGraphs(const std::string &Ending) { refusedEnding() = Ending; }

STANDIN_API cuGraphExecKernelNodeSetParams(CUgraphExec Of, CUgraphNode Node,
                                           const CUDA_KERNEL_NODE_PARAMS *Params) {
  return traced(CALL(cuGraphExecKernelNodeSetParams_v2){Of, Node, Params}, [](auto &P, unsigned) {
    // What a refused call leaves in the node is not documented.
    CUresult Changed =
        change(P, CU_GRAPH_NODE_TYPE_KERNEL, [&](GraphNode &N) { setKernel(N, *P.nodeParams); });
    const CUfunction Kernel = P.nodeParams->func;
    const std::string &Refused = refusedEnding();
    bool Takes = Refused.empty() || !Kernel ||
                 !reinterpret_cast<Entry *>(Kernel)->Code->Name.ends_with(Refused);
    return Takes ? Changed : CUDA_ERROR_INVALID_VALUE;
  });
}

STANDIN_API cuGraphExecMemcpyNodeSetParams(CUgraphExec Of, CUgraphNode Node,
                                           const CUDA_MEMCPY3D *Params, CUcontext Context) {
  return traced(
      CALL(cuGraphExecMemcpyNodeSetParams){Of, Node, Params, Context}, [](auto &P, unsigned) {
        return change(P, CU_GRAPH_NODE_TYPE_MEMCPY, [&](GraphNode &N) { N.Copy = *P.copyParams; });
      });
}

STANDIN_API cuGraphExecMemsetNodeSetParams(CUgraphExec Of, CUgraphNode Node,
                                           const CUDA_MEMSET_NODE_PARAMS *Params,
                                           CUcontext Context) {
  return traced(CALL(cuGraphExecMemsetNodeSetParams){Of, Node, Params, Context}, [](auto &P,
                                                                                    unsigned) {
    return change(P, CU_GRAPH_NODE_TYPE_MEMSET, [&](GraphNode &N) { N.Fill = *P.memsetParams; });
  });
}

STANDIN_API cuGraphExecHostNodeSetParams(CUgraphExec Of, CUgraphNode Node,
                                         const CUDA_HOST_NODE_PARAMS *Params) {
  return traced(CALL(cuGraphExecHostNodeSetParams){Of, Node, Params}, [](auto &P, unsigned) {
    return change(P, CU_GRAPH_NODE_TYPE_HOST, [&](GraphNode &N) { N.Host = *P.nodeParams; });
  });
}

STANDIN_API cuGraphExecNodeSetParams(CUgraphExec Of, CUgraphNode Node, CUgraphNodeParams *Params) {
  return traced(CALL(cuGraphExecNodeSetParams){Of, Node, Params},
                [](auto &P, unsigned) -> CUresult {
                  const CUgraphNodeParams &New = *P.nodeParams;
                  if (auto Sync = syncWorkOf(New))
                    return change(P, New.type, [&](GraphNode &N) { N.Other = Sync; });
                  if (New.type != CU_GRAPH_NODE_TYPE_MEMSET)
                    return CUDA_ERROR_NOT_SUPPORTED;
                  return change(P, New.type, [&](GraphNode &N) {
                    const auto &F = New.memset;
                    N.Fill = {F.dst, F.pitch, F.value, F.elementSize, F.width, F.height};
                  });
                });
}

STANDIN_API cuGraphExecChildGraphNodeSetParams(CUgraphExec Of, CUgraphNode Node, CUgraph Child) {
  return traced(CALL(cuGraphExecChildGraphNodeSetParams){Of, Node, Child},
                [](auto &P, unsigned) -> CUresult {
                  GraphNode *Old = executable(P.hGraphExec)->Places.at(node(P.hNode));
                  return assignAll(*Old->Child, *graph(P.childGraph)) ? CUDA_SUCCESS
                                                                      : CUDA_ERROR_INVALID_VALUE;
                });
}

STANDIN_API cuGraphExecUpdate(CUgraphExec Of, CUgraph From, CUgraphExecUpdateResultInfo *Out) {
  return traced(CALL(cuGraphExecUpdate_v2){Of, From, Out}, [](auto &P, unsigned) -> CUresult {
    bool Alike = assignAll(executable(P.hGraphExec)->Nodes, *graph(P.hGraph));
    return Alike ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  });
}

STANDIN_API cuGraphNodeSetEnabled(CUgraphExec Of, CUgraphNode Node, unsigned Enabled) {
  return traced(CALL(cuGraphNodeSetEnabled){Of, Node, Enabled}, [](auto &P, unsigned) -> CUresult {
    executable(P.hGraphExec)->Places.at(node(P.hNode))->Enabled = P.isEnabled != 0;
    return CUDA_SUCCESS;
  });
}

using Steps = std::vector<std::function<void(StreamState &)>>;

static void addSteps(Steps &All, const Graph &Of, unsigned Correlation);

/// Adds what \p Node does when it is launched now. The caller holds the driver's lock.
static void addStep(Steps &All, const GraphNode &Node, unsigned Correlation) {
  switch (Node.Type) {
  case CU_GRAPH_NODE_TYPE_KERNEL:
    All.push_back(
        [Code = reinterpret_cast<Entry *>(Node.Function)->Code, Call = Node.Call,
         Correlation](StreamState &S) { runKernel(S, *Code, Call, /*Graph=*/1, Correlation); });
    return;
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return All.push_back(copyOf(Node.Copy));
  case CU_GRAPH_NODE_TYPE_MEMSET:
    return All.push_back(fillOf(Node.Fill));
  case CU_GRAPH_NODE_TYPE_HOST:
    return All.push_back([Host = Node.Host](StreamState &) { Host.fn(Host.userData); });
  case CU_GRAPH_NODE_TYPE_GRAPH:
    return addSteps(All, *Node.Child, Correlation);
  case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
    Steps Body;
    addSteps(Body, *Node.Bodies[0], Correlation);
    return All.push_back([Body, Decides = Node.Decides](StreamState &S) {
      while (Decides->Value)
        for (const auto &Step : Body)
          Step(S);
    });
  }
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD: {
    auto Done = std::make_shared<Completion>();
    reinterpret_cast<EventState *>(Node.Event)->Recorded = Done;
    return All.push_back([Done](StreamState &S) { Done->set(std::max(nowNs(), S.ClockNs)); });
  }
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    if (CompletionPtr Recorded = reinterpret_cast<EventState *>(Node.Event)->Recorded)
      All.push_back([Recorded](StreamState &) { Recorded->wait(); });
    return;
  default:
    if (Node.Other)
      All.push_back(Node.Other);
  }
}

static void addSteps(Steps &All, const Graph &Of, unsigned Correlation) {
  std::map<GraphNode *, size_t> Missing;
  for (const auto &[Before, After] : Of.Edges)
    ++Missing[After];
  std::vector<GraphNode *> Ready;
  for (const auto &Node : Of.Nodes)
    if (!Missing[Node.get()])
      Ready.push_back(Node.get());
  while (!Ready.empty()) {
    GraphNode *Next = Ready.back();
    Ready.pop_back();
    if (Next->Enabled)
      addStep(All, *Next, Correlation);
    for (const auto &[Before, After] : Of.Edges)
      if (Before == Next && --Missing[After] == 0)
        Ready.push_back(After);
  }
}

STANDIN_API cuGraphLaunch(CUgraphExec Exec, CUstream Handle) {
  return traced(CALL(cuGraphLaunch){Exec, Handle}, [](auto &P, unsigned Correlation) -> CUresult {
    if (CUresult Status = contextStatus())
      return Status;
    auto Stream = streamOf(P.hStream);
    if (!Stream)
      return CUDA_ERROR_INVALID_HANDLE;
    auto All = std::make_shared<Steps>();
    CompletionPtr Earlier;
    std::vector<std::shared_ptr<UserObject>> Tied = executable(P.hGraph)->Nodes.Tied;
    {
      std::lock_guard<std::mutex> Guard(driver().Lock);
      addSteps(*All, executable(P.hGraph)->Nodes, Correlation);
      Earlier = executable(P.hGraph)->Last;
    }
    CompletionPtr Done = submit(Stream, [All, Earlier, Tied](StreamState &S) {
      // Launches of one executable graph do not overlap.
      if (Earlier)
        Earlier->wait();
      for (const auto &Step : *All)
        Step(S);
    });
    std::lock_guard<std::mutex> Guard(driver().Lock);
    executable(P.hGraph)->Last = Done;
    return CUDA_SUCCESS;
  });
}
