/// \file
/// Follows the executable graphs of the program: the driver tells the nodes of a graph, but hardly
/// anything of an executable one. So each graph is copied when it is made executable, and what the
/// program changes in the executable graph is changed in the copy.
#pragma once

#include "Probe/Driver/DriverCalls.h"
#include "Probe/Graphs/GraphCopy.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

namespace carve::probe {

/// The executable graphs of a process. Thread-safe, except that two calls about the same executable
/// graph must not be made at once; the driver demands that of the program, too.
class ExecutableGraphs {
public:
  ExecutableGraphs(const CuptiApi &Cupti, const DriverApi &Driver);

  /// The driver calls that note() must see, at entry and exit.
  static constexpr Roles Calls = Role::ExecutableGraph | Role::EndsGraph | Role::AddsNode |
                                 Role::LoadsImage | Role::LoadsFile | Role::Unloads;
  /// Further calls that note() must see and that have no roles. After one of them every graph stays
  /// a graph.
  const std::set<CUpti_CallbackId> &unknownCalls() const { return UnknownCalls; }
  /// Returns the graph that the call has made or changed; null if there is none.
  std::shared_ptr<GraphCopy> note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  /// Forgets the modules of \p Context.
  void contextDestroyed(CUcontext Context);
  /// Forgets \p Executable, whose end note() will not see.
  void forget(CUgraphExec Executable);
  /// Returns the copy of what \p Executable runs; null if it was not seen being made.
  std::shared_ptr<GraphCopy> find(CUgraphExec Executable);

  /// Returns whether the graph of which \p Executable was made still exists unchanged, so that the
  /// handles in its copy name nodes.
  bool hasSource(CUgraphExec Executable);
  /// The same as a lock, which keeps the program from ending that graph meanwhile. It is not held
  /// if the graph is gone. A call of the driver may be made under it.
  std::unique_lock<std::mutex> holdSource(CUgraphExec Executable);

private:
  void noteEnd(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void noteAdded(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  GraphCopy read(CUgraph Graph);
  std::shared_ptr<GraphCopy> made(CUgraphExec Executable, CUgraph From, unsigned long long Flags);
  std::shared_ptr<GraphCopy> changed(CUgraphExec Executable, CUpti_CallbackId Id,
                                     const void *Params, bool Success);
  void update(GraphCopy &Graph, CUpti_CallbackId Id, const void *Params);
  void dropSourceUnless(CUgraphExec Executable, CUgraph From);
  void updateWhole(GraphCopy &Graph, CUgraph From);
  void updateChild(GraphCopy &Graph, CUgraphNode Node, CUgraph From);
  void updateKernel(GraphCopy &Graph, CUgraphNode Node, const CUDA_KERNEL_NODE_PARAMS &Params);
  void updateCopy(GraphCopy &Graph, CUgraphNode Node, const CUDA_MEMCPY3D &Params);
  void noteModule(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void bind(KernelWork &Kernel);
  void bindAll(GraphCopy &Graph);
  void updateAny(GraphCopy &Graph, CUgraphNode Node, const CUgraphNodeParams &Params);

  const DriverApi &Driver;
  const std::set<CUpti_CallbackId> UnknownCalls;
  std::mutex Lock; ///< Protects the members below. It is never held across a call of the driver.
  std::unordered_map<CUgraphExec, std::shared_ptr<GraphCopy>> Known;
  std::mutex SourceLock; ///< Protects Sources. It is taken before Lock.
  std::unordered_map<CUgraphExec, CUgraph> Sources;
  bool Unfollowed = false; ///< Set after a call that is not known.
  /// The bodies of each conditional node that was added.
  std::unordered_map<CUgraphNode, std::vector<CUgraph>> Bodies;
  bool ForTheDevice = false;                 ///< Set after a graph that the device may launch.
  std::map<const void *, CUcontext> Modules; ///< The contexts of the modules that are loaded.
};

} // namespace carve::probe
