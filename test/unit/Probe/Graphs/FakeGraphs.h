/// \file
/// Graphs of which a test says what the driver would tell of them. A graph here runs nothing.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace carve::probe::test {

/// A kernel with two parameters, of 8 and 4 bytes.
struct FakeKernel {
  const char *Name;
  CUfunction handle() { return reinterpret_cast<CUfunction>(this); }
};

struct FakeGraph;

struct FakeNode {
  CUgraphNodeType Type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUDA_KERNEL_NODE_PARAMS Kernel{};
  CUDA_MEMCPY3D Copy{};
  bool DeviceUpdatable = false;
  FakeGraph *Child = nullptr;
  CUgraphNode handle() { return reinterpret_cast<CUgraphNode>(this); }
};

struct FakeGraph {
  std::vector<std::unique_ptr<FakeNode>> Nodes;
  std::vector<std::pair<FakeNode *, FakeNode *>> Edges;
  /// What an edge means beside that one node runs after the other, by its place in Edges.
  std::map<size_t, CUgraphEdgeData> Data;

  FakeNode &add(CUgraphNodeType Type, std::vector<FakeNode *> After = {});
  CUgraph handle() { return reinterpret_cast<CUgraph>(this); }
};

/// A driver that tells of such graphs. Of memory it knows only addresses below 4096.
DriverApi driverOfFakeGraphs();

} // namespace carve::probe::test
