#include "Probe/Graphs/ExecutableGraphs.h"

#include "Probe/Driver/KernelSignature.h"
#include "Probe/Driver/LoadedHandles.h"
#include "Probe/Driver/MemoryCalls.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

using namespace carve;
using namespace carve::probe;

static std::set<CUpti_CallbackId> unknownCallsOf(const CuptiApi &Cupti) {
  std::vector<CUpti_CallbackId> Calls = unknownGraphCalls(Cupti);
  return {Calls.begin(), Calls.end()};
}

ExecutableGraphs::ExecutableGraphs(const CuptiApi &Cupti, const DriverApi &Driver)
    : Driver(Driver), UnknownCalls(unknownCallsOf(Cupti)) {}

std::shared_ptr<GraphCopy> ExecutableGraphs::find(CUgraphExec Executable) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Known.find(Executable);
  if (It == Known.end())
    return nullptr;
  if (Unfollowed)
    It->second->stay(GraphStay::UnknownUpdate);
  // Any kernel may launch it, but only from within a graph.
  if (ForTheDevice)
    It->second->stay(GraphStay::DeviceLaunch);
  return It->second;
}

bool ExecutableGraphs::hasSource(CUgraphExec Executable) {
  return holdSource(Executable).owns_lock();
}

std::unique_lock<std::mutex> ExecutableGraphs::holdSource(CUgraphExec Executable) {
  std::unique_lock<std::mutex> Guard(SourceLock);
  if (!Sources.count(Executable))
    Guard.unlock();
  return Guard;
}

/// Called at the entry of a call that ends a graph or a node.
void ExecutableGraphs::noteEnd(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  if (Call.callbackSite != CUPTI_API_ENTER || !Call.functionParams)
    return;
  std::lock_guard<std::mutex> Guard(SourceLock);
  if (Id == callOf<Role::EndsGraph>(CUPTI_DRIVER_TRACE_CBID_cuGraphDestroy)) {
    CUgraph Gone = static_cast<const cuGraphDestroy_params *>(Call.functionParams)->hGraph;
    std::erase_if(Sources, [&](const auto &Entry) { return Entry.second == Gone; });
  } else {
    // The driver does not tell of which graph a node is.
    Sources.clear();
  }
}

/// Called at the exit of a call that adds a node of any kind.
void ExecutableGraphs::noteAdded(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Call.callbackSite != CUPTI_API_EXIT || !Call.functionParams || !Result ||
      *Result != CUDA_SUCCESS)
    return;
  auto Add = [&](const auto &P) {
    const CUDA_CONDITIONAL_NODE_PARAMS &Its = P.nodeParams->conditional;
    if (P.nodeParams->type != CU_GRAPH_NODE_TYPE_CONDITIONAL || !Its.phGraph_out)
      return;
    std::lock_guard<std::mutex> Guard(Lock);
    Bodies[*P.phGraphNode] = {Its.phGraph_out, Its.phGraph_out + Its.size};
  };
  if (plainForm(Id) == callOf<Role::AddsNode>(CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode))
    Add(*static_cast<const cuGraphAddNode_params *>(Call.functionParams));
  else
    Add(*static_cast<const cuGraphAddNode_v2_params *>(Call.functionParams));
}

/// Reads \p Graph with the bodies of its conditional nodes.
GraphCopy ExecutableGraphs::read(CUgraph Graph) {
  GraphCopy Copy = copyGraph(Driver, Graph, [&](CUgraphNode Node) {
    std::lock_guard<std::mutex> Guard(Lock);
    auto It = Bodies.find(Node);
    return It == Bodies.end() ? std::vector<CUgraph>() : It->second;
  });
  bindAll(Copy);
  return Copy;
}

void ExecutableGraphs::forget(CUgraphExec Executable) {
  {
    std::lock_guard<std::mutex> Guard(SourceLock);
    Sources.erase(Executable);
  }
  std::lock_guard<std::mutex> Guard(Lock);
  Known.erase(Executable);
}

std::shared_ptr<GraphCopy> ExecutableGraphs::made(CUgraphExec Executable, CUgraph From,
                                                  unsigned long long Flags) {
  auto Graph = std::make_shared<GraphCopy>();
  if (Driver.readsGraphs()) {
    *Graph = read(From);
  } else {
    Graph->stay(GraphStay::Unread);
    Graph->HidesKernels = true;
  }
  bool IsForTheDevice = Flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
  if (IsForTheDevice)
    Graph->Stays = GraphStay::DeviceLaunch;
  {
    std::lock_guard<std::mutex> Guard(SourceLock);
    Sources[Executable] = From;
  }
  std::lock_guard<std::mutex> Guard(Lock);
  ForTheDevice |= IsForTheDevice;
  Known[Executable] = Graph;
  return Graph;
}

void ExecutableGraphs::noteModule(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  LoadedHandle New = loadedBy(Id, Call);
  void *Gone = Call.callbackSite == CUPTI_API_ENTER ? unloadedBy(Id, Call) : nullptr;
  if (!Gone && (!New.Handle || !New.Context))
    return;
  std::lock_guard<std::mutex> Guard(Lock);
  if (Gone)
    Modules.erase(Gone);
  else
    Modules[New.Handle] = New.Context;
}

void ExecutableGraphs::contextDestroyed(CUcontext Context) {
  std::lock_guard<std::mutex> Guard(Lock);
  std::erase_if(Modules, [&](const auto &Entry) { return Entry.second == Context; });
}

/// Finds the context of a CUfunction that the program has from a module.
void ExecutableGraphs::bind(KernelWork &Kernel) {
  {
    std::lock_guard<std::mutex> Guard(Lock);
    if (Modules.empty() || Kernel.Context)
      return;
  }
  CUmodule Module = moduleOfFunction(Driver, Kernel.Handle);
  std::lock_guard<std::mutex> Guard(Lock);
  if (auto It = Modules.find(Module); It != Modules.end())
    Kernel.Context = It->second;
}

void ExecutableGraphs::bindAll(GraphCopy &Graph) {
  for (CopiedNode &Node : Graph.Nodes)
    if (auto *Kernel = std::get_if<KernelWork>(&Node.Work))
      bind(*Kernel);
}

#define CARVE_CALL(Name) callOf<Role::ExecutableGraph>(CUPTI_DRIVER_TRACE_CBID_##Name)
#define CARVE_PARAMETERS(Name) const auto &P = *static_cast<const Name##_params *>(Params)

std::shared_ptr<GraphCopy> ExecutableGraphs::note(CUpti_CallbackId Id,
                                                  const CUpti_CallbackData &Call) {
  if (rolesOf(Id).empty() && UnknownCalls.count(Id)) {
    std::lock_guard<std::mutex> Guard(Lock);
    Unfollowed = true;
    return nullptr;
  }
  noteModule(Id, Call);
  if (rolesOf(Id).any(Role::EndsGraph))
    noteEnd(Id, Call);
  if (rolesOf(Id).any(Role::AddsNode))
    noteAdded(Id, Call);
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  const void *Params = Call.functionParams;
  if (!rolesOf(Id).any(Role::ExecutableGraph) || Call.callbackSite != CUPTI_API_EXIT || !Result ||
      !Params)
    return nullptr;
  bool Success = *Result == CUDA_SUCCESS;
  switch (plainForm(Id)) {
  case CARVE_CALL(cuGraphInstantiate):
  case CARVE_CALL(cuGraphInstantiate_v2): {
    // The structures of both are the same.
    CARVE_PARAMETERS(cuGraphInstantiate);
    return Success ? made(*P.phGraphExec, P.hGraph, 0) : nullptr;
  }
  case CARVE_CALL(cuGraphInstantiateWithFlags): {
    CARVE_PARAMETERS(cuGraphInstantiateWithFlags);
    return Success ? made(*P.phGraphExec, P.hGraph, P.flags) : nullptr;
  }
  case CARVE_CALL(cuGraphInstantiateWithParams): {
    CARVE_PARAMETERS(cuGraphInstantiateWithParams);
    return Success ? made(*P.phGraphExec, P.hGraph, P.instantiateParams->flags) : nullptr;
  }
  default:
    // The structures of all other calls begin with the executable graph.
    return changed(static_cast<const cuGraphExecDestroy_params *>(Params)->hGraphExec, Id, Params,
                   Success);
  }
}

std::shared_ptr<GraphCopy> ExecutableGraphs::changed(CUgraphExec Executable, CUpti_CallbackId Id,
                                                     const void *Params, bool Success) {
  std::shared_ptr<GraphCopy> Graph = find(Executable);
  if (!Graph)
    return nullptr;
  Graph->StayRecorded = Graph->OverlapRecorded = false;
  if (Id == CARVE_CALL(cuGraphExecDestroy)) {
    forget(Executable);
    return nullptr;
  }
  if (Success)
    update(*Graph, Id, Params);
  else // How much of a refused change was made is not known.
    Graph->stay(GraphStay::UnknownUpdate);
  return Graph;
}

/// Changes the work of \p Node to \p New, which must be of the same kind.
template <class Work> static void change(GraphCopy &Graph, CUgraphNode Node, Work New) {
  CopiedNode *Found = Graph.find(Node);
  if (Found && std::holds_alternative<Work>(Found->Work))
    Found->Work = std::move(New);
  else
    Graph.stay(GraphStay::UnknownUpdate);
}

/// The copy of \p Executable now has the handles of \p From.
void ExecutableGraphs::dropSourceUnless(CUgraphExec Executable, CUgraph From) {
  std::lock_guard<std::mutex> Guard(SourceLock);
  if (auto It = Sources.find(Executable); It != Sources.end() && It->second != From)
    Sources.erase(It);
}

void ExecutableGraphs::update(GraphCopy &Graph, CUpti_CallbackId Id, const void *Params) {
  switch (plainForm(Id)) {
  case CARVE_CALL(cuGraphExecUpdate):
  case CARVE_CALL(cuGraphExecUpdate_v2): {
    // The structures of both begin with the two graphs.
    CARVE_PARAMETERS(cuGraphExecUpdate);
    dropSourceUnless(P.hGraphExec, P.hGraph);
    return updateWhole(Graph, P.hGraph);
  }
  case CARVE_CALL(cuGraphNodeSetEnabled): {
    CARVE_PARAMETERS(cuGraphNodeSetEnabled);
    CopiedNode *Node = Graph.find(P.hNode);
    return Node ? void(Node->Enabled = P.isEnabled != 0) : Graph.stay(GraphStay::UnknownUpdate);
  }
  case CARVE_CALL(cuGraphExecNodeSetParams): {
    CARVE_PARAMETERS(cuGraphExecNodeSetParams);
    return updateAny(Graph, P.hNode, *P.nodeParams);
  }
  case CARVE_CALL(cuGraphExecKernelNodeSetParams): {
    CARVE_PARAMETERS(cuGraphExecKernelNodeSetParams);
    // The second version of the structure has two more members at its end.
    CUDA_KERNEL_NODE_PARAMS Whole{};
    static_assert(sizeof *P.nodeParams == offsetof(CUDA_KERNEL_NODE_PARAMS, kern));
    std::memcpy(&Whole, P.nodeParams, sizeof *P.nodeParams);
    return updateKernel(Graph, P.hNode, Whole);
  }
  case CARVE_CALL(cuGraphExecKernelNodeSetParams_v2): {
    CARVE_PARAMETERS(cuGraphExecKernelNodeSetParams_v2);
    return updateKernel(Graph, P.hNode, *P.nodeParams);
  }
  case CARVE_CALL(cuGraphExecMemcpyNodeSetParams): {
    CARVE_PARAMETERS(cuGraphExecMemcpyNodeSetParams);
    return updateCopy(Graph, P.hNode, *P.copyParams);
  }
  case CARVE_CALL(cuGraphExecMemsetNodeSetParams): {
    CARVE_PARAMETERS(cuGraphExecMemsetNodeSetParams);
    return change(Graph, P.hNode, *P.memsetParams);
  }
  case CARVE_CALL(cuGraphExecHostNodeSetParams): {
    CARVE_PARAMETERS(cuGraphExecHostNodeSetParams);
    return change(Graph, P.hNode, *P.nodeParams);
  }
  case CARVE_CALL(cuGraphExecChildGraphNodeSetParams): {
    CARVE_PARAMETERS(cuGraphExecChildGraphNodeSetParams);
    return updateChild(Graph, P.hNode, P.childGraph);
  }
  case CARVE_CALL(cuGraphExecEventRecordNodeSetEvent): {
    CARVE_PARAMETERS(cuGraphExecEventRecordNodeSetEvent);
    return change(Graph, P.hNode, EventRecordWork{P.event});
  }
  case CARVE_CALL(cuGraphExecEventWaitNodeSetEvent): {
    CARVE_PARAMETERS(cuGraphExecEventWaitNodeSetEvent);
    return change(Graph, P.hNode, EventWaitWork{P.event});
  }
  // Nodes of these kinds keep their graph one and are not copied. Such a change leaves all other
  // nodes as they are.
  case CARVE_CALL(cuGraphExecExternalSemaphoresSignalNodeSetParams):
  case CARVE_CALL(cuGraphExecExternalSemaphoresWaitNodeSetParams):
    return Graph.stay(GraphStay::Semaphore);
  case CARVE_CALL(cuGraphExecBatchMemOpNodeSetParams):
    return Graph.stay(GraphStay::MemoryOperation);
  default:
    return Graph.stay(GraphStay::UnknownUpdate);
  }
}

static bool anyDisabled(const GraphCopy &Graph) {
  return std::any_of(Graph.Nodes.begin(), Graph.Nodes.end(),
                     [](const CopiedNode &Node) { return !Node.Enabled; });
}

/// The nodes of \p From have the places of the old ones. Their handles are others unless the
/// executable graph was made of \p From itself; then later changes name nodes that are not found.
void ExecutableGraphs::updateWhole(GraphCopy &Graph, CUgraph From) {
  bool AnyOff = anyDisabled(Graph);
  std::optional<GraphStay> Why = Graph.Stays;
  Graph = read(From);
  if (Why)
    Graph.stay(*Why);
  // The driver does not say whether nodes stay disabled.
  if (AnyOff)
    Graph.stay(GraphStay::UnknownUpdate);
}

/// As updateWhole(), for the nodes of one child graph.
void ExecutableGraphs::updateChild(GraphCopy &Graph, CUgraphNode Node, CUgraph From) {
  GraphCopy Child = read(From);
  if (anyDisabled(Graph) || !Graph.replace(Node, std::move(Child)))
    Graph.stay(GraphStay::UnknownUpdate);
}

void ExecutableGraphs::updateKernel(GraphCopy &Graph, CUgraphNode Node,
                                    const CUDA_KERNEL_NODE_PARAMS &Params) {
  CopiedNode *Found = Graph.find(Node);
  auto *Old = Found ? std::get_if<KernelWork>(&Found->Work) : nullptr;
  std::optional<KernelWork> New = copyKernel(Driver, Params);
  if (!Old || !New) {
    Graph.HidesKernels |= !New;
    return Graph.stay(GraphStay::UnknownUpdate);
  }
  New->Attributes = std::move(Old->Attributes);
  bind(*New);
  *Old = std::move(*New);
}

void ExecutableGraphs::updateCopy(GraphCopy &Graph, CUgraphNode Node, const CUDA_MEMCPY3D &Params) {
  change(Graph, Node, Params);
  if (isPageable(Driver, Params))
    Graph.stay(GraphStay::PageableCopy);
}

void ExecutableGraphs::updateAny(GraphCopy &Graph, CUgraphNode Node,
                                 const CUgraphNodeParams &Params) {
  switch (Params.type) {
  case CU_GRAPH_NODE_TYPE_KERNEL: {
    // The two versions of the structure have the same members.
    CUDA_KERNEL_NODE_PARAMS Same{};
    static_assert(sizeof Same == sizeof Params.kernel);
    std::memcpy(&Same, &Params.kernel, sizeof Same);
    return updateKernel(Graph, Node, Same);
  }
  case CU_GRAPH_NODE_TYPE_MEMCPY:
    return updateCopy(Graph, Node, Params.memcpy.copyParams);
  case CU_GRAPH_NODE_TYPE_MEMSET: {
    const CUDA_MEMSET_NODE_PARAMS_v2 &P = Params.memset;
    return change(
        Graph, Node,
        CUDA_MEMSET_NODE_PARAMS{P.dst, P.pitch, P.value, P.elementSize, P.width, P.height});
  }
  case CU_GRAPH_NODE_TYPE_HOST:
    return change(Graph, Node, CUDA_HOST_NODE_PARAMS{Params.host.fn, Params.host.userData});
  case CU_GRAPH_NODE_TYPE_GRAPH:
    return updateChild(Graph, Node, Params.graph.graph);
  case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
    return change(Graph, Node, EventRecordWork{Params.eventRecord.event});
  case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    return change(Graph, Node, EventWaitWork{Params.eventWait.event});
  case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
  case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
    return Graph.stay(GraphStay::Semaphore);
  case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
    return Graph.stay(GraphStay::MemoryOperation);
  default:
    return Graph.stay(GraphStay::UnknownUpdate);
  }
}
