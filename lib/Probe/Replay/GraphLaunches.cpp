#include "Probe/Replay/GraphLaunches.h"

#include "Probe/Driver/CallbackScope.h"
#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/StreamCaptures.h"
#include "Protocol/TimingRecords.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

namespace {
/// The program's launch of a graph in which this thread is.
struct CurrentGraph {
  std::shared_ptr<LaunchedGraph> Its; ///< Null if nothing is kept for the graph.
  CUstream Stream = nullptr;
  std::optional<ExchangedLaunch> Exchanged; ///< Set if kernels may have been exchanged.
};
} // namespace

static thread_local CurrentGraph ThisGraph;

GraphLaunches::GraphLaunches(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
                             Submissions &Submitted, NodeKernels Wanted, Watchdog &Dog,
                             NodeVariants *Variants)
    : Driver(Driver), File(File), Submitted(Submitted), Wanted(std::move(Wanted)), Dog(Dog),
      Graphs(Cupti, Driver) {
  // With an older driver every graph is launched as it is.
  if (!Driver.launchesNodes())
    this->Wanted.Names.clear();
  if (Variants)
    Rotating.emplace(Driver, Graphs, Dog, *Variants);
}

void GraphLaunches::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Roles Means = rolesOf(Id);
  if (Means.any(Role::GraphLaunch) && Call.functionParams)
    return Call.callbackSite == CUPTI_API_ENTER ? onLaunch(Id, Call) : onLaunched(Call);
  if (Call.callbackSite == CUPTI_API_ENTER && Id == CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy &&
      Call.functionParams)
    onDestroy(Call);
  // A program that has waited may rely on what the end of a graph does.
  if (Call.callbackSite == CUPTI_API_EXIT && Means.any(Role::Waits))
    destroyEnded();
  (void)Graphs.note(Id, Call);
}

bool GraphLaunches::isWanted(const CopiedNode &Node) const {
  const auto *Kernel = std::get_if<KernelWork>(&Node.Work);
  return Kernel && Wanted.Names.count(Kernel->Name) > 0;
}

std::vector<std::string> GraphLaunches::wantedKernels(const GraphCopy &Graph) const {
  std::set<std::string> Kernels;
  for (const CopiedNode &Node : Graph.Nodes)
    if (isWanted(Node))
      Kernels.insert(std::get<KernelWork>(Node.Work).Name);
  return {Kernels.begin(), Kernels.end()};
}

std::shared_ptr<LaunchedGraph> GraphLaunches::launchedGraph(CUgraphExec Executable,
                                                            CUcontext Context) {
  std::lock_guard<std::mutex> Guard(Lock);
  std::shared_ptr<LaunchedGraph> &Its = Known[Executable];
  if (!Its) {
    Its = std::make_shared<LaunchedGraph>();
    Its->Context = Context;
  }
  Its->Unordered |= Its->Context != Context;
  return Its;
}

std::mutex &GraphLaunches::orderOf(CUstream Stream) {
  std::lock_guard<std::mutex> Guard(Lock);
  std::unique_ptr<std::mutex> &Order = Orders[Stream];
  if (!Order)
    Order = std::make_unique<std::mutex>();
  return *Order;
}

/// Waits until no other thread submits the nodes of a graph to \p Stream.
std::unique_lock<std::mutex> GraphLaunches::takeOrder(CUstream Stream) {
  std::unique_lock<std::mutex> Order(orderOf(Stream), std::try_to_lock);
  if (Order.owns_lock())
    return Order;
  // That thread may be about to replay a launch, and then waits for the calls of all others.
  OutsideGate Outside(Submitted.Gate);
  Order.lock();
  return Order;
}

/// Returns whether the nodes can be launched one by one now: nothing is being captured, and stream
/// and earlier launches belong to \p Context.
bool GraphLaunches::mayCarryOut(const GraphCopy &Graph, const LaunchedGraph &Its, CUstream Stream,
                                CUcontext Context) const {
  CUcontext OfStream = nullptr;
  return !Graph.Stays && !Its.Unordered && !Submitted.Captures.any() &&
         Driver.StreamGetCtx(Stream, &OfStream) == CUDA_SUCCESS && OfStream == Context;
}

/// Makes what is launched in the place of the program's graph.
bool GraphLaunches::makeEmpty(LaunchedGraph &Its) const {
  if (Its.Empty)
    return true;
  CUgraph Graph = nullptr;
  if (Driver.GraphCreate(&Graph, 0) != CUDA_SUCCESS)
    return false;
  CUresult Made = Driver.GraphInstantiate(&Its.Empty, Graph, 0);
  (void)Driver.GraphDestroy(Graph);
  if (Made != CUDA_SUCCESS)
    Its.Empty = nullptr;
  return Its.Empty != nullptr;
}

void GraphLaunches::onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  ThisGraph = {};
  auto &P = *static_cast<cuGraphLaunch_params *>(const_cast<void *>(Call.functionParams));
  std::shared_ptr<GraphCopy> Graph = Graphs.find(P.hGraph);
  if (!Graph)
    return;
  destroyEnded();
  CUstream Stream = streamOf(P.hStream, Id);
  // The launch becomes a node of the graph that is recorded.
  if (isCapturing(Driver, Stream))
    return;
  std::shared_ptr<LaunchedGraph> Its = launchedGraph(P.hGraph, Call.context);
  if (Graph->needsOtherContext(Call.context))
    Graph->stay(GraphStay::OtherContext);
  if (std::none_of(Graph->Nodes.begin(), Graph->Nodes.end(),
                   [&](const CopiedNode &Node) { return isWanted(Node); })) {
    // A later change may give it a wanted kernel.
    Its->Unordered = true;
    return;
  }
  recordStay(File, *Graph);
  CaptureRelaxed Relaxed(Driver);
  if (!Its->Last && Driver.EventCreate(&Its->Last, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    Its->Last = nullptr;
    Its->Unordered = true;
    return;
  }
  ThisGraph = {Its, Stream, std::nullopt};
  // Launches of one executable graph never overlap, not even on several streams.
  if (Its->Launched && Driver.StreamWaitEvent(Stream, Its->Last, 0) != CUDA_SUCCESS)
    Its->Unordered = true;
  if (mayCarryOut(*Graph, *Its, Stream, Call.context) && makeEmpty(*Its) &&
      carryOut(*Graph, Stream, Call.context))
    P.hGraph = Its->Empty;
  else if (Rotating && Graph->Stays)
    ThisGraph.Exchanged = Rotating->exchange(P.hGraph, Graph, Stream, Call);
}

/// Returns false if the program's own call must be made.
bool GraphLaunches::carryOut(const GraphCopy &Graph, CUstream Stream, CUcontext Context) {
  std::shared_ptr<Watch> Watching = Graph.Branches ? watch(Graph, Context) : nullptr;
  // The threads' own streams share a handle, and no other thread submits to them.
  std::unique_lock<std::mutex> Order;
  if (Stream != CU_STREAM_PER_THREAD)
    Order = takeOrder(Stream);
  bool Done = carryOutNodes(Graph, Stream, Watching.get());
  if (!Done)
    stopWatching(Watching.get());
  return Done;
}

void GraphLaunches::onLaunched(const CUpti_CallbackData &Call) {
  CurrentGraph Launch = std::exchange(ThisGraph, {});
  if (Launch.Exchanged) {
    CaptureRelaxed Relaxed(Driver);
    Rotating->putBack(*Launch.Exchanged, Call);
  }
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (!Launch.Its || !Result || *Result != CUDA_SUCCESS)
    return;
  LaunchedGraph &Its = *Launch.Its;
  CaptureRelaxed Relaxed(Driver);
  Its.Launched = Driver.EventRecord(Its.Last, Launch.Stream) == CUDA_SUCCESS;
  Its.Unordered |= !Its.Launched;
}

GraphLaunches::Submitting::Submitting(GraphLaunches &Of, std::vector<std::string> Kernels)
    : Of(Of), Kernels(std::move(Kernels)), SinceMs(steadyMs()) {
  std::lock_guard<std::mutex> Guard(Of.Lock);
  Of.UnderWay.insert(this);
}

GraphLaunches::Submitting::~Submitting() {
  std::lock_guard<std::mutex> Guard(Of.Lock);
  Of.UnderWay.erase(this);
}

/// Returns false if not even the first node could be launched, so that the program's own call must
/// be made.
bool GraphLaunches::carryOutNodes(const GraphCopy &Graph, CUstream Stream, Watch *Watching) {
  Submitting Progress(*this, wantedKernels(Graph));
  auto Pass = [](void *Of) {
    auto *W = static_cast<Watch *>(Of);
    if (++W->Done == W->Marks)
      W->Self = nullptr;
  };
  auto Mark = [&] {
    if (!Watching)
      return;
    ++Watching->Queued;
    // Without all marks nobody knows how far the stream is.
    if (Driver.LaunchHostFunc(Stream, Pass, Watching) != CUDA_SUCCESS)
      stopWatching(std::exchange(Watching, nullptr));
  };
  bool Any = false;
  Mark();
  for (const CopiedNode &Node : Graph.Nodes) {
    if (!Node.Enabled)
      continue;
    Progress.SinceMs = steadyMs();
    CUresult Result;
    {
      ProgramCalls AsTheProgram;
      Result = probe::carryOut(Driver, Node.Work, Stream);
    }
    // The program's own call returns the error of a broken context, too.
    if (Result != CUDA_SUCCESS && (!Any || breaksContext(Result)))
      return false;
    if (Result != CUDA_SUCCESS)
      fail(Progress.Kernels,
           "a node of a graph could not be launched by itself: " + errorName(Driver, Result));
    Any |= !std::holds_alternative<std::monostate>(Node.Work);
    Mark();
  }
  return true;
}

/// Begins to watch a launch of \p Graph, unless a graph with the same nodes is or was watched.
std::shared_ptr<GraphLaunches::Watch> GraphLaunches::watch(const GraphCopy &Graph,
                                                           CUcontext Context) {
  auto Watching = std::make_shared<Watch>();
  for (const CopiedNode &Node : Graph.Nodes) {
    Watching->Marks += Node.Enabled;
    Watching->Key += std::to_string(Node.Work.index());
    if (const auto *Kernel = std::get_if<KernelWork>(&Node.Work))
      Watching->Key += " " + Kernel->Name;
    Watching->Key += '\n';
  }
  ++Watching->Marks; // One before the first node.
  Watching->Context = Context;
  Watching->Kernels = wantedKernels(Graph);
  std::lock_guard<std::mutex> Guard(Lock);
  std::erase_if(Watched, [](const auto &W) { return W->Done == W->Marks; });
  if (!WatchedGraphs.insert(Watching->Key).second)
    return nullptr;
  Watching->Self = Watching;
  Watched.push_back(Watching);
  return Watching;
}

/// Ends a watch that tells nothing. The graph's next launch is watched instead.
void GraphLaunches::stopWatching(const Watch *Watching) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = std::find_if(Watched.begin(), Watched.end(),
                         [&](const auto &W) { return W.get() == Watching; });
  if (It == Watched.end())
    return;
  WatchedGraphs.erase((*It)->Key);
  Watched.erase(It);
}

/// Returns whether none of the launch's nodes has ended for \p LimitMs.
bool GraphLaunches::Watch::hangs(uint64_t LimitMs) {
  const size_t Passed = Done;
  // Before the first mark the stream has not reached the graph. With all marks passed that there
  // are, the probe itself is at work, such as on a replay.
  if (Passed != Seen || Passed == 0 || Passed == Queued) {
    Seen = Passed;
    SinceMs = steadyMs();
  }
  return steadyMs() > SinceMs + LimitMs;
}

/// Returns a watched launch that hangs; null if there is none.
std::shared_ptr<GraphLaunches::Watch> GraphLaunches::hungLaunch() {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = std::find_if(Watched.begin(), Watched.end(),
                         [&](const auto &W) { return W->hangs(Wanted.HangMs); });
  return It == Watched.end() ? nullptr : *It;
}

/// Returns the kernels of a graph with a node whose submission does not end; nothing if there is
/// none. The driver lets a thread wait if a stream has very much work before it. The program's one
/// call would not wait: its graph may wait for what the program does next.
std::vector<std::string> GraphLaunches::stuckSubmission() {
  uint64_t NowMs = steadyMs();
  std::lock_guard<std::mutex> Guard(Lock);
  for (Submitting *Each : UnderWay) {
    // The probe itself is at work, such as on a replay.
    if (Submitted.Gate.closed())
      Each->SinceMs = NowMs;
    else if (NowMs > Each->SinceMs + Wanted.HangMs)
      return Each->Kernels;
  }
  return {};
}

void GraphLaunches::check() {
  if (std::shared_ptr<Watch> Hung = hungLaunch())
    failHung(Hung->Kernels);
  if (std::vector<std::string> Stuck = stuckSubmission(); !Stuck.empty())
    failHung(Stuck);
}

void GraphLaunches::failHung(const std::vector<std::string> &Kernels) {
  fail(Kernels, "hung after " + std::to_string(Wanted.HangMs) +
                    " ms in a graph whose nodes were launched one by one");
}

void GraphLaunches::fail(const std::vector<std::string> &Kernels, const std::string &Why) {
  for (size_t I = 1; I < Kernels.size(); ++I)
    Dog.note(recordLine(VariantFault{Kernels[I], DefaultVariant, Why}));
  Dog.fail(Kernels.front(), DefaultVariant, Why);
}

std::shared_ptr<LaunchedGraph> GraphLaunches::takeLaunched(CUgraphExec Executable) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Known.find(Executable);
  if (It == Known.end())
    return nullptr;
  std::shared_ptr<LaunchedGraph> Its = std::move(It->second);
  Known.erase(It);
  return Its;
}

/// The driver keeps a graph until its last launch has ended, and does not know that the nodes in
/// progress belong to this one. So the program's call destroys the empty graph, and this one
/// follows later.
void GraphLaunches::onDestroy(const CUpti_CallbackData &Call) {
  destroyEnded();
  auto &P = *static_cast<cuGraphExecDestroy_params *>(const_cast<void *>(Call.functionParams));
  std::shared_ptr<LaunchedGraph> Its = takeLaunched(P.hGraphExec);
  if (!Its)
    return;
  CaptureRelaxed Relaxed(Driver);
  if (Its->Empty && Its->Launched && Driver.EventQuery(Its->Last) == CUDA_ERROR_NOT_READY) {
    Graphs.forget(P.hGraphExec);
    std::lock_guard<std::mutex> Guard(Lock);
    Destroyed[P.hGraphExec] = Its;
    P.hGraphExec = Its->Empty;
    return;
  }
  if (Its->Empty)
    (void)Driver.GraphExecDestroy(Its->Empty);
  if (Its->Last)
    (void)Driver.EventDestroy(Its->Last);
}

/// Destroys what the program has destroyed and what has ended since.
void GraphLaunches::destroyEnded() {
  std::map<CUgraphExec, std::shared_ptr<LaunchedGraph>> All;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    std::swap(All, Destroyed);
  }
  if (All.empty())
    return;
  CaptureRelaxed Relaxed(Driver);
  std::erase_if(All, [&](const auto &Entry) {
    const auto &[Executable, Its] = Entry;
    if (Driver.EventQuery(Its->Last) == CUDA_ERROR_NOT_READY)
      return false;
    (void)Driver.GraphExecDestroy(Executable);
    (void)Driver.EventDestroy(Its->Last);
    return true;
  });
  std::lock_guard<std::mutex> Guard(Lock);
  Destroyed.merge(All);
}

void GraphLaunches::contextDestroyed(CUcontext Context) {
  Graphs.contextDestroyed(Context);
  std::lock_guard<std::mutex> Guard(Lock);
  auto IsThere = [&](const auto &Entry) { return Entry.second->Context == Context; };
  std::erase_if(Known, IsThere);
  std::erase_if(Destroyed, IsThere);
  std::erase_if(Watched, [&](const auto &W) { return W->Context == Context; });
}
