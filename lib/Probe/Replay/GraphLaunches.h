/// \file
/// Carries graph launches out node by node: on the launch's stream, in an order that the edges
/// allow, and as calls of the program, so that kernels of graphs are replayed, rotated, captured
/// and counted as launches are. The program's own call then launches an empty graph.
#pragma once

#include "Probe/Driver/Submissions.h"
#include "Probe/Graphs/ExecutableGraphs.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Replay/GraphRotation.h"
#include "Probe/Replay/Watchdog.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace carve::probe {

/// What the probe keeps for an executable graph of the program that it has seen launched.
struct LaunchedGraph {
  CUcontext Context = nullptr; ///< The context of its first launch.
  CUgraphExec Empty = nullptr; ///< What is launched in its place.
  CUevent Last = nullptr;      ///< The end of its last launch.
  bool Launched = false;       ///< Whether Last was recorded.
  /// Whether there was a launch for whose end no other launch can wait. Then it stays a graph.
  bool Unordered = false;
};

/// The kernels whose launches a mode wants to see, also if a graph launches them.
struct NodeKernels {
  std::set<std::string> Names;
  /// For how long no node of a graph may end before the graph counts as hung.
  uint64_t HangMs = 10'000;
};

/// Returns the kernels of \p Wishes, records with a member Kernel.
template <class Wish> NodeKernels kernelsOf(const std::vector<Wish> &Wishes) {
  NodeKernels Wanted;
  for (const Wish &Each : Wishes)
    Wanted.Names.insert(Each.Kernel);
  return Wanted;
}

/// The graph launches of a process. Only graphs with a wanted kernel are carried out. In those that
/// stay graphs, kernels may be exchanged.
class GraphLaunches {
public:
  GraphLaunches(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
                Submissions &Submitted, NodeKernels Wanted, Watchdog &Dog,
                NodeVariants *Variants = nullptr);

  /// The driver calls that onCall() must see, at entry and exit.
  static constexpr Roles Calls =
      ExecutableGraphs::Calls | Role::GraphLaunch | Role::Waits | StreamCaptures::Calls;
  /// Further calls that onCall() must see and that have no roles.
  const std::set<CUpti_CallbackId> &unknownCalls() const { return Graphs.unknownCalls(); }
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  /// Forgets what belongs to \p Context.
  void contextDestroyed(CUcontext Context);
  /// Ends the process if a node of a graph waits for another one that would run beside it in the
  /// graph, or for something that the program does after the launch. Whoever started the run then
  /// leaves the graph's kernels as they are.
  void check();

private:
  /// The progress of a launch whose nodes may wait for each other.
  struct Watch {
    std::string Key;               ///< What WatchedGraphs has of the graph.
    std::atomic<size_t> Queued{0}; ///< The marks that were submitted to the stream.
    std::atomic<size_t> Done{0};   ///< The marks that the stream has passed.
    size_t Seen = 0;               ///< What Done was when check() last saw it change.
    uint64_t SinceMs = 0;
    size_t Marks = 0;
    CUcontext Context = nullptr;
    std::vector<std::string> Kernels; ///< The wanted ones.
    std::shared_ptr<Watch> Self;      ///< Kept until the last mark is passed.

    bool hangs(uint64_t LimitMs);
  };

  /// A thread that submits the nodes of a graph. It is in UnderWay while it lives.
  struct Submitting {
    Submitting(GraphLaunches &Of, std::vector<std::string> Kernels);
    Submitting(const Submitting &) = delete;
    Submitting &operator=(const Submitting &) = delete;
    ~Submitting();

    GraphLaunches &Of;
    const std::vector<std::string> Kernels; ///< The wanted ones.
    std::atomic<uint64_t> SinceMs{0};       ///< When the submission of its current node began.
  };

  void onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onLaunched(const CUpti_CallbackData &Call);
  void onDestroy(const CUpti_CallbackData &Call);
  std::shared_ptr<LaunchedGraph> takeLaunched(CUgraphExec Executable);
  void destroyEnded();
  bool isWanted(const CopiedNode &Node) const;
  std::vector<std::string> wantedKernels(const GraphCopy &Graph) const;
  std::shared_ptr<LaunchedGraph> launchedGraph(CUgraphExec Executable, CUcontext Context);
  bool mayCarryOut(const GraphCopy &Graph, const LaunchedGraph &Its, CUstream Stream,
                   CUcontext Context) const;
  bool makeEmpty(LaunchedGraph &Its) const;
  bool carryOut(const GraphCopy &Graph, CUstream Stream, CUcontext Context);
  bool carryOutNodes(const GraphCopy &Graph, CUstream Stream, Watch *Watching);
  std::shared_ptr<Watch> watch(const GraphCopy &Graph, CUcontext Context);
  void stopWatching(const Watch *Watching);
  std::shared_ptr<Watch> hungLaunch();
  std::vector<std::string> stuckSubmission();
  std::mutex &orderOf(CUstream Stream);
  std::unique_lock<std::mutex> takeOrder(CUstream Stream);
  [[noreturn]] void failHung(const std::vector<std::string> &Kernels);
  [[noreturn]] void fail(const std::vector<std::string> &Kernels, const std::string &Why);

  const DriverApi &Driver;
  RecordFile &File;
  Submissions &Submitted;
  NodeKernels Wanted;
  Watchdog &Dog;
  ExecutableGraphs Graphs;
  std::optional<GraphRotation> Rotating; ///< Nothing if no kernel is exchanged.

  std::mutex Lock; ///< Protects the members below. It is never held across a call of the driver.
  std::unordered_map<CUgraphExec, std::shared_ptr<LaunchedGraph>> Known;
  /// What the program has destroyed although its last launch had not ended. The objects that the
  /// program has tied to a graph must live until then.
  std::map<CUgraphExec, std::shared_ptr<LaunchedGraph>> Destroyed;
  /// Held while the nodes of a graph are submitted to a stream, so that those of another launch do
  /// not come between them.
  std::map<CUstream, std::unique_ptr<std::mutex>> Orders;
  std::set<Submitting *> UnderWay;             ///< The threads that submit nodes now.
  std::vector<std::shared_ptr<Watch>> Watched; ///< The launches that are watched.
  std::set<std::string> WatchedGraphs;         ///< The nodes of each graph that is or was watched.
};

} // namespace carve::probe
