// Graphs are copied in an order that their edges allow, and what cannot be launched by itself is
// found.
#include "Probe/Graphs/GraphCopy.h"
#include "unit/Probe/Graphs/FakeGraphs.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>

using namespace carve;
using namespace carve::probe;
using namespace carve::probe::test;

static std::vector<CUgraphNode> handlesOf(const GraphCopy &Copy) {
  std::vector<CUgraphNode> Handles;
  for (const CopiedNode &Node : Copy.Nodes)
    Handles.push_back(Node.Handle);
  return Handles;
}

TEST(GraphCopy, chain_isCopiedInItsOrder) {
  FakeGraph G;
  FakeNode &Last = G.add(CU_GRAPH_NODE_TYPE_EMPTY), &First = G.add(CU_GRAPH_NODE_TYPE_MEMSET),
           &Middle = G.add(CU_GRAPH_NODE_TYPE_HOST, {&First});
  G.Edges.emplace_back(&Middle, &Last);
  G.Edges.emplace_back(&First, &Last);
  GraphCopy Copy = copyGraph(driverOfFakeGraphs(), G.handle());
  EXPECT_EQ(handlesOf(Copy),
            (std::vector<CUgraphNode>{First.handle(), Middle.handle(), Last.handle()}));
  EXPECT_FALSE(Copy.Branches);
  EXPECT_FALSE(Copy.Stays);
}

TEST(GraphCopy, nodesWithoutAFixedOrder_areBranches) {
  FakeGraph G;
  FakeNode &First = G.add(CU_GRAPH_NODE_TYPE_EMPTY);
  G.add(CU_GRAPH_NODE_TYPE_EMPTY, {&First});
  EXPECT_FALSE(copyGraph(driverOfFakeGraphs(), G.handle()).Branches);
  G.add(CU_GRAPH_NODE_TYPE_EMPTY, {&First});
  EXPECT_TRUE(copyGraph(driverOfFakeGraphs(), G.handle()).Branches);
  FakeGraph Outer;
  Outer.add(CU_GRAPH_NODE_TYPE_GRAPH).Child = &G;
  EXPECT_TRUE(copyGraph(driverOfFakeGraphs(), Outer.handle()).Branches);
}

TEST(GraphCopy, nodeThatCannotBeLaunchedByItself_isTheReason) {
  struct {
    CUgraphNodeType Type;
    GraphStay Why;
    bool Hides;
  } Cases[] = {
      {CU_GRAPH_NODE_TYPE_CONDITIONAL, GraphStay::Conditional, true},
      {CU_GRAPH_NODE_TYPE_MEM_ALLOC, GraphStay::MemoryNode, false},
      {CU_GRAPH_NODE_TYPE_MEM_FREE, GraphStay::MemoryNode, false},
      {CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, GraphStay::Semaphore, false},
      {CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, GraphStay::Semaphore, false},
      {CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, GraphStay::MemoryOperation, false},
      {CUgraphNodeType(15), GraphStay::UnknownNode, true},
  };
  for (const auto &Case : Cases) {
    FakeGraph Inner, Outer;
    Inner.add(Case.Type);
    Outer.add(CU_GRAPH_NODE_TYPE_GRAPH).Child = &Inner;
    for (FakeGraph *G : {&Inner, &Outer}) {
      GraphCopy Copy = copyGraph(driverOfFakeGraphs(), G->handle());
      EXPECT_EQ(Copy.Stays, Case.Why) << Case.Type;
      EXPECT_EQ(Copy.HidesKernels, Case.Hides) << Case.Type;
    }
  }
}

TEST(GraphCopy, bodiesOfConditionalNodes_tellTheirKernelsIfAllAreKnown) {
  FakeKernel InBody{"body"}, InInner{"inner"}, Outside{"outside"};
  unsigned long long Address = 0;
  unsigned Count = 0;
  void *Values[] = {&Address, &Count};
  auto AddKernel = [&](FakeGraph &To, FakeKernel &Kernel) {
    FakeNode &Node = To.add(CU_GRAPH_NODE_TYPE_KERNEL);
    Node.Kernel.func = Kernel.handle();
    Node.Kernel.kernelParams = Values;
  };
  FakeGraph Inner, Body, Top;
  AddKernel(Inner, InInner);
  AddKernel(Body, InBody);
  AddKernel(Top, Outside);
  FakeNode &Nested = Body.add(CU_GRAPH_NODE_TYPE_CONDITIONAL),
           &While = Top.add(CU_GRAPH_NODE_TYPE_CONDITIONAL);
  std::map<CUgraphNode, std::vector<CUgraph>> Seen = {{While.handle(), {Body.handle()}}};
  auto Bodies = [&](CUgraphNode Node) { return Seen[Node]; };
  GraphCopy Copy = copyGraph(driverOfFakeGraphs(), Top.handle(), Bodies);
  EXPECT_TRUE(Copy.HidesKernels) << "the inner body is not known";
  Seen[Nested.handle()] = {Inner.handle()};
  Copy = copyGraph(driverOfFakeGraphs(), Top.handle(), Bodies);
  EXPECT_FALSE(Copy.HidesKernels);
  EXPECT_EQ(Copy.Stays, GraphStay::BesideConditional);
  EXPECT_EQ(Copy.InBodies, (std::set<std::string>{"body", "inner"}));
  ASSERT_EQ(Copy.Nodes.size(), 1u);
  EXPECT_EQ(std::get<KernelWork>(Copy.Nodes[0].Work).Name, "outside");
}

/// An edge by which the second node may begin before the first one ends.
static CUgraphEdgeData earlyEdge() {
  CUgraphEdgeData Data{};
  Data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  Data.from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
  return Data;
}

TEST(GraphCopy, programmaticEdges_areFullOnes) {
  FakeGraph G;
  FakeNode &Last = G.add(CU_GRAPH_NODE_TYPE_EMPTY);
  FakeNode &First = G.add(CU_GRAPH_NODE_TYPE_EMPTY), &Middle = G.add(CU_GRAPH_NODE_TYPE_EMPTY);
  G.Edges = {{&Middle, &Last}, {&First, &Middle}};
  for (unsigned char Port :
       {CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC, CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER}) {
    G.Data[0] = earlyEdge();
    G.Data[0].from_port = Port;
    GraphCopy Copy = copyGraph(driverOfFakeGraphs(), G.handle());
    EXPECT_FALSE(Copy.Stays);
    EXPECT_TRUE(Copy.Overlaps);
    EXPECT_TRUE(Copy.Branches) << "a node may wait for one that would run beside it";
    ASSERT_EQ(Copy.Nodes.size(), 3u);
    EXPECT_EQ(Copy.Nodes[2].Handle, Last.handle());
    EXPECT_FALSE(Copy.Nodes[1].BeginsEarly);
    EXPECT_TRUE(Copy.Nodes[2].BeginsEarly);
  }
  FakeGraph Outer;
  Outer.add(CU_GRAPH_NODE_TYPE_GRAPH).Child = &G;
  EXPECT_TRUE(copyGraph(driverOfFakeGraphs(), Outer.handle()).Overlaps);
}

TEST(GraphCopy, edgesThatAreNotUnderstood_keepTheGraph) {
  FakeGraph G;
  FakeNode &First = G.add(CU_GRAPH_NODE_TYPE_EMPTY);
  G.add(CU_GRAPH_NODE_TYPE_EMPTY, {&First});
  G.Data[0] = earlyEdge();
  DriverApi Older = driverOfFakeGraphs();
  Older.GraphGetEdgesWithData = nullptr;
  GraphCopy Copy = copyGraph(Older, G.handle());
  EXPECT_EQ(Copy.Stays, GraphStay::Programmatic);
  EXPECT_FALSE(Copy.HidesKernels);
  EXPECT_FALSE(copyGraph(driverOfFakeGraphs(), G.handle()).Stays);
  for (unsigned char CUgraphEdgeData::*Member :
       {&CUgraphEdgeData::type, &CUgraphEdgeData::from_port, &CUgraphEdgeData::to_port}) {
    G.Data[0] = earlyEdge();
    G.Data[0].*Member = 9;
    EXPECT_EQ(copyGraph(driverOfFakeGraphs(), G.handle()).Stays, GraphStay::Programmatic);
  }
}

/// In such a graph, a variant's time would have a part of its neighbours' time.
TEST(GraphCopy, overlapInAGraphThatStaysOne_letsNoKernelBeExchanged) {
  FakeGraph Overlaps, Allocates, Both;
  FakeNode &First = Overlaps.add(CU_GRAPH_NODE_TYPE_EMPTY);
  Overlaps.add(CU_GRAPH_NODE_TYPE_EMPTY, {&First});
  Overlaps.Data[0] = earlyEdge();
  Allocates.add(CU_GRAPH_NODE_TYPE_MEM_ALLOC);
  for (auto [Outer, Inner] :
       {std::pair{CU_GRAPH_NODE_TYPE_MEM_ALLOC, &Overlaps}, {CU_GRAPH_NODE_TYPE_EMPTY, &Both}}) {
    FakeGraph G;
    G.add(Outer);
    G.add(CU_GRAPH_NODE_TYPE_GRAPH).Child = Inner;
    if (Inner == &Both) {
      FakeNode &Before = Both.add(CU_GRAPH_NODE_TYPE_EMPTY);
      Both.add(CU_GRAPH_NODE_TYPE_MEM_FREE, {&Before});
      Both.Data[0] = earlyEdge();
    }
    EXPECT_EQ(copyGraph(driverOfFakeGraphs(), G.handle()).Stays, GraphStay::Programmatic);
  }
  EXPECT_EQ(copyGraph(driverOfFakeGraphs(), Allocates.handle()).Stays, GraphStay::MemoryNode);
}

TEST(GraphCopy, copyOfMemoryThatTheDriverDoesNotKnow_keepsTheGraph) {
  FakeGraph G;
  CUDA_MEMCPY3D &Copy = G.add(CU_GRAPH_NODE_TYPE_MEMCPY).Copy;
  Copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  Copy.srcDevice = 64;
  Copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  Copy.dstHost = reinterpret_cast<void *>(128); // NOLINT(performance-no-int-to-ptr)
  EXPECT_FALSE(copyGraph(driverOfFakeGraphs(), G.handle()).Stays);
  Copy.dstHost = &Copy;
  EXPECT_EQ(copyGraph(driverOfFakeGraphs(), G.handle()).Stays, GraphStay::PageableCopy);
  Copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT_FALSE(copyGraph(driverOfFakeGraphs(), G.handle()).Stays);
  Copy.srcDevice = reinterpret_cast<CUdeviceptr>(&Copy);
  EXPECT_EQ(copyGraph(driverOfFakeGraphs(), G.handle()).Stays, GraphStay::PageableCopy);
}

TEST(GraphCopy, argumentsOfKernels_areCopied) {
  FakeKernel Kernel{"k"};
  FakeGraph G;
  FakeNode &Node = G.add(CU_GRAPH_NODE_TYPE_KERNEL);
  uint64_t First = 0x1122334455667788;
  uint32_t Second = 0x99aabbcc;
  void *Values[] = {&First, &Second};
  Node.Kernel.func = Kernel.handle();
  Node.Kernel.gridDimY = 7;
  Node.Kernel.kernelParams = Values;
  GraphCopy Copy = copyGraph(driverOfFakeGraphs(), G.handle());
  ASSERT_EQ(Copy.Nodes.size(), 1u);
  First = Second = 0;
  const auto &Work = std::get<KernelWork>(Copy.Nodes[0].Work);
  EXPECT_EQ(Work.Name, "k");
  EXPECT_EQ(Work.Config.gridDimY, 7u);
  ASSERT_EQ(Work.Arguments.size(), 2u);
  std::memcpy(&First, Work.Arguments[0].data(), Work.Arguments[0].size());
  std::memcpy(&Second, Work.Arguments[1].data(), Work.Arguments[1].size());
  EXPECT_EQ(First, 0x1122334455667788u);
  EXPECT_EQ(Second, 0x99aabbccu);

  char Buffer[12] = "01234567890";
  size_t Bytes = sizeof Buffer;
  void *Extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, Buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &Bytes,
                   CU_LAUNCH_PARAM_END};
  Node.Kernel.kernelParams = nullptr;
  Node.Kernel.extra = Extra;
  Copy = copyGraph(driverOfFakeGraphs(), G.handle());
  ASSERT_FALSE(Copy.Stays);
  EXPECT_EQ(std::get<KernelWork>(Copy.Nodes[0].Work).Packed,
            std::vector<char>(Buffer, Buffer + sizeof Buffer));
  Extra[2] = CU_LAUNCH_PARAM_END;
  Copy = copyGraph(driverOfFakeGraphs(), G.handle());
  EXPECT_EQ(Copy.Stays, GraphStay::Unread) << "the size of the buffer is not known";
  EXPECT_TRUE(Copy.HidesKernels);
}

TEST(GraphCopy, kernelThatTheDeviceMayChange_keepsTheGraph) {
  FakeKernel Kernel{"k"};
  FakeGraph G;
  FakeNode &Node = G.add(CU_GRAPH_NODE_TYPE_KERNEL);
  uint64_t Value = 0;
  void *Values[] = {&Value, &Value};
  Node.Kernel.func = Kernel.handle();
  Node.Kernel.kernelParams = Values;
  Node.DeviceUpdatable = true;
  EXPECT_EQ(copyGraph(driverOfFakeGraphs(), G.handle()).Stays, GraphStay::DeviceUpdate);
}
