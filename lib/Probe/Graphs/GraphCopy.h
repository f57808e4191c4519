/// \file
/// A copy of a graph's nodes in an order that its edges allow, read from the driver when the graph
/// is made executable. The nodes of child graphs are among them, in the place of their node.
#pragma once

#include "Probe/Graphs/NodeWork.h"
#include "Probe/Process/RecordFile.h"
#include "Protocol/GraphRotation.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

/// One node. Its handle is that of the graph that was read; it only names the node.
struct CopiedNode {
  CUgraphNode Handle = nullptr;
  NodeWork Work;
  bool Enabled = true;
  /// Whether the node may begin before a node ahead of it ends (programmatic dependent launch).
  bool BeginsEarly = false;
};

/// The nodes of a child graph, as places in GraphCopy::Nodes.
struct ChildNodes {
  CUgraphNode Parent = nullptr;
  size_t First = 0, Count = 0;
};

/// A copied graph.
struct GraphCopy {
  /// What was read, in an order that the edges allow. If Stays is set, it is not complete.
  std::vector<CopiedNode> Nodes;
  std::vector<ChildNodes> Children;
  /// Whether the edges leave open in which order some two nodes run, so that one of them may rely
  /// on the other to run beside it.
  bool Branches = false;
  /// Whether a node begins early (CopiedNode::BeginsEarly). Launched one by one, none does: CUDA
  /// never promises the overlap. But the times of such nodes inside the graph are not their own.
  bool Overlaps = false;
  /// Why the nodes cannot be launched one by one; nothing if they can.
  std::optional<GraphStay> Stays;
  /// Whether it is not known which kernels the graph has.
  bool HidesKernels = false;
  /// The names of the kernels in the bodies of conditional nodes. They are not in Nodes, because
  /// the device decides how often they run.
  std::set<std::string> InBodies;
  /// Whether recordStay() has recorded this state of the graph.
  bool StayRecorded = false;
  /// The same for recordOverlap().
  bool OverlapRecorded = false;

  /// Returns whether the node at \p Place is one of a child graph.
  bool isOfChild(size_t Place) const;
  /// Returns the node with \p Handle, or null.
  CopiedNode *find(CUgraphNode Handle);
  /// Returns whether a kernel of the graph runs only in another context than \p Context.
  bool needsOtherContext(CUcontext Context) const;
  /// Appends the nodes of \p Child, whose node is \p Parent.
  void append(CUgraphNode Parent, GraphCopy Child);
  /// Puts the nodes of \p Child into the place of those of \p Parent. Returns false if the two do
  /// not have the same number of nodes, or if \p Parent is not found.
  bool replace(CUgraphNode Parent, GraphCopy Child);
  /// Sets the reason \p Why unless there is one already. One with which kernels can still be
  /// exchanged gives way. In a graph whose nodes overlap none is exchanged.
  void stay(GraphStay Why) {
    if (Overlaps && rotatesAsGraph(Why))
      Why = GraphStay::Programmatic;
    if (Stays && (!rotatesAsGraph(*Stays) || rotatesAsGraph(Why)))
      return;
    Stays = Why;
    StayRecorded = false;
  }

private:
  void take(const GraphCopy &Child, size_t First);
};

/// Records for each kernel of \p Graph why it stays a graph. Does nothing if it does not stay one,
/// or if that was recorded.
void recordStay(RecordFile &File, GraphCopy &Graph);

/// Records the kernels of \p Graph that begin early. Does nothing if that was recorded.
void recordOverlap(RecordFile &File, GraphCopy &Graph);

/// Returns the bodies of a conditional node, which the driver tells only when it is added; nothing
/// if that was not seen.
using BodiesOf = std::function<std::vector<CUgraph>(CUgraphNode)>;

/// Reads \p Graph.
GraphCopy copyGraph(
    const DriverApi &Driver, CUgraph Graph,
    const BodiesOf &Bodies = [](CUgraphNode) { return std::vector<CUgraph>(); });

} // namespace carve::probe
