#include "unit/Probe/Graphs/FakeGraphs.h"

using namespace carve::probe;
using namespace carve::probe::test;

static FakeGraph &fakeGraph(CUgraph Handle) { return *reinterpret_cast<FakeGraph *>(Handle); }
static FakeNode &fakeNode(CUgraphNode Handle) { return *reinterpret_cast<FakeNode *>(Handle); }

FakeNode &FakeGraph::add(CUgraphNodeType Type, std::vector<FakeNode *> After) {
  Nodes.push_back(std::make_unique<FakeNode>());
  Nodes.back()->Type = Type;
  for (FakeNode *Before : After)
    Edges.emplace_back(Before, Nodes.back().get());
  return *Nodes.back();
}

static CUresult fakeEdges(CUgraph Of, CUgraphNode *From, CUgraphNode *To, size_t *Count) {
  FakeGraph &G = fakeGraph(Of);
  if (!G.Data.empty())
    return CUDA_ERROR_LOSSY_QUERY;
  for (size_t I = 0; From && I < *Count; ++I) {
    From[I] = G.Edges.at(I).first->handle();
    To[I] = G.Edges.at(I).second->handle();
  }
  *Count = G.Edges.size();
  return CUDA_SUCCESS;
}

static CUresult fakeEdgesWithData(CUgraph Of, CUgraphNode *From, CUgraphNode *To,
                                  CUgraphEdgeData *Data, size_t *Count) {
  FakeGraph &G = fakeGraph(Of);
  for (size_t I = 0; From && I < *Count; ++I) {
    From[I] = G.Edges.at(I).first->handle();
    To[I] = G.Edges.at(I).second->handle();
    auto It = G.Data.find(I);
    Data[I] = It == G.Data.end() ? CUgraphEdgeData{} : It->second;
  }
  *Count = G.Edges.size();
  return CUDA_SUCCESS;
}

/// The kernels of fakes have two parameters.
static CUresult fakeParameter(CUfunction, size_t Index, size_t *Offset, size_t *Bytes) {
  *Offset = Index * 8;
  *Bytes = Index == 0 ? 8 : 4;
  return Index < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void fakeNodes(DriverApi &Driver) {
  Driver.GraphGetNodes = [](CUgraph Of, CUgraphNode *Nodes, size_t *Count) {
    for (size_t I = 0; Nodes && I < *Count; ++I)
      Nodes[I] = fakeGraph(Of).Nodes.at(I)->handle();
    *Count = fakeGraph(Of).Nodes.size();
    return CUDA_SUCCESS;
  };
  Driver.GraphGetEdges = fakeEdges;
  Driver.GraphGetEdgesWithData = fakeEdgesWithData;
  Driver.GraphNodeGetType = [](CUgraphNode Node, CUgraphNodeType *Type) {
    *Type = fakeNode(Node).Type;
    return CUDA_SUCCESS;
  };
  Driver.GraphKernelNodeGetParams = [](CUgraphNode Node, CUDA_KERNEL_NODE_PARAMS *Params) {
    *Params = fakeNode(Node).Kernel;
    return CUDA_SUCCESS;
  };
  Driver.GraphKernelNodeGetAttribute = [](CUgraphNode Node, CUkernelNodeAttrID Id,
                                          CUkernelNodeAttrValue *Value) {
    if (Id == CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE)
      Value->deviceUpdatableKernelNode.deviceUpdatable = fakeNode(Node).DeviceUpdatable;
    return CUDA_SUCCESS;
  };
  Driver.GraphMemcpyNodeGetParams = [](CUgraphNode Node, CUDA_MEMCPY3D *Params) {
    *Params = fakeNode(Node).Copy;
    return CUDA_SUCCESS;
  };
  Driver.GraphMemsetNodeGetParams = [](CUgraphNode, CUDA_MEMSET_NODE_PARAMS *) {
    return CUDA_SUCCESS;
  };
  Driver.GraphHostNodeGetParams = [](CUgraphNode, CUDA_HOST_NODE_PARAMS *) { return CUDA_SUCCESS; };
  Driver.GraphChildGraphNodeGetGraph = [](CUgraphNode Node, CUgraph *Child) {
    *Child = fakeNode(Node).Child->handle();
    return CUDA_SUCCESS;
  };
  Driver.GraphEventRecordNodeGetEvent = [](CUgraphNode, CUevent *) { return CUDA_SUCCESS; };
  Driver.GraphEventWaitNodeGetEvent = [](CUgraphNode, CUevent *) { return CUDA_SUCCESS; };
}

DriverApi carve::probe::test::driverOfFakeGraphs() {
  DriverApi Driver;
  fakeNodes(Driver);
  Driver.FuncGetName = [](const char **Name, CUfunction Kernel) {
    *Name = reinterpret_cast<FakeKernel *>(Kernel)->Name;
    return CUDA_SUCCESS;
  };
  Driver.FuncGetAttribute = [](int *, CUfunction_attribute, CUfunction) { return CUDA_SUCCESS; };
  Driver.FuncGetModule = [](CUmodule *Module, CUfunction Kernel) {
    *Module = reinterpret_cast<CUmodule>(Kernel);
    return CUDA_SUCCESS;
  };
  Driver.FuncGetParamInfo = fakeParameter;
  Driver.PointerGetAttribute = [](void *, CUpointer_attribute, CUdeviceptr Address) {
    return Address < 4096 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  return Driver;
}
