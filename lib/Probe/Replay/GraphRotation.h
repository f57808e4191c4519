/// \file
/// Rotates variants in graphs that stay graphs: exchanges the kernels of their nodes for one launch
/// at a time. At its end each node has again what the program gave it, so that nobody has to know
/// what an executable graph holds.
#pragma once

#include "Probe/Driver/LaunchCall.h"
#include "Probe/Graphs/ExecutableGraphs.h"
#include "Probe/Replay/Watchdog.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace carve::probe {

/// A variant that a kernel node becomes for one launch of its graph.
struct NodeVariant {
  CUfunction Function = nullptr;
  std::string Kernel, Variant; ///< Their names.
};

/// Chooses variants for kernel nodes.
class NodeVariants {
public:
  NodeVariants() = default;
  NodeVariants(const NodeVariants &) = delete;
  NodeVariants &operator=(const NodeVariants &) = delete;
  virtual ~NodeVariants() = default;

  /// Returns what the node that makes the launch \p Node becomes at the graph launch with the id
  /// \p Correlation in \p Context; nothing if it stays the program's.
  virtual std::optional<NodeVariant> next(const LaunchCall &Node, CUcontext Context,
                                          uint64_t Correlation) = 0;
  /// Takes note that this graph launch was not made, or was made without variants.
  virtual void failed(uint64_t Correlation) = 0;
  /// Takes note that the driver does not give nodes the variant \p To, because of \p Why.
  virtual void refused(const NodeVariant &To, const std::string &Why) = 0;
};

/// The graph launch whose kernels are exchanged.
struct ExchangedLaunch {
  CUgraphExec Executable = nullptr;
  std::shared_ptr<GraphCopy> Graph;
  struct Node {
    size_t Place = 0; ///< In GraphCopy::Nodes.
    NodeVariant Now;
  };
  std::vector<Node> Nodes;
};

/// The rotation in the graphs of a process.
class GraphRotation {
public:
  GraphRotation(const DriverApi &Driver, ExecutableGraphs &Graphs, Watchdog &Dog,
                NodeVariants &Variants)
      : Driver(Driver), Graphs(Graphs), Dog(Dog), Variants(Variants) {}

  /// Exchanges kernels of \p Graph, which \p Executable is, at the entry of the launch \p Call on
  /// \p Stream. If the driver refuses one, the launch has only the program's own kernels.
  ExchangedLaunch exchange(CUgraphExec Executable, std::shared_ptr<GraphCopy> Graph,
                           CUstream Stream, const CUpti_CallbackData &Call);
  /// Puts the program's kernels back, at the exit of the launch. Ends the process if that fails, or
  /// if a variant has made the launch fail.
  void putBack(const ExchangedLaunch &Launch, const CUpti_CallbackData &Call);

private:
  bool mayExchange(const GraphCopy &Graph, CUstream Stream, CUcontext Context) const;
  CUresult set(CUgraphExec Executable, const CopiedNode &Node, CUfunction Function);
  void restore(const ExchangedLaunch &Launch);

  const DriverApi &Driver;
  ExecutableGraphs &Graphs;
  Watchdog &Dog;
  NodeVariants &Variants;
};

} // namespace carve::probe
