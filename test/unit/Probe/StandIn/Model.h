/// \file
/// The state of the stand-in driver: contexts, streams with their queued work, memory, modules,
/// graphs. One lock protects all of it; it is never held while a callback or a kernel runs.
#pragma once

#include "unit/Probe/StandIn/StandIn.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>

namespace carve::standin {

/// Says that one piece of work of a stream is done, for those who wait for it.
class Completion {
public:
  void set(uint64_t AtNs);
  void wait();
  bool done();
  uint64_t timeNs();

private:
  std::mutex Lock;
  std::condition_variable Changed;
  bool Done = false;
  uint64_t TimeNs = 0;
};
using CompletionPtr = std::shared_ptr<Completion>;

struct Context;
struct Capture;
struct StreamState;

struct Work {
  std::function<void(StreamState &)> Run; ///< If null, the stream's thread ends.
  std::vector<CompletionPtr> After;
  CompletionPtr Done;
};

struct StreamState {
  Context *Owner = nullptr;
  bool Blocking = true; ///< Waits for the legacy default stream, which waits for it.
  bool Legacy = false;
  unsigned Id = 0;
  /// The device time at which the last kernel ended. Only the stream's own thread uses it.
  uint64_t ClockNs = 0;
  std::mutex Lock;
  std::condition_variable Changed;
  std::deque<Work> Queue;
  CompletionPtr Last; ///< Protected by the driver's lock.
  /// Also protected by the driver's lock; null if the stream is not being captured.
  std::shared_ptr<Capture> Captured;
};

struct Context {
  unsigned Id = 0;
  CUdevice Device = 0;
  std::shared_ptr<StreamState> Legacy;
  std::map<void *, std::shared_ptr<StreamState>> Streams; ///< All streams except the legacy one.
  CUresult Broken = CUDA_SUCCESS;                         ///< The error stays, as on a GPU.
};

enum class Kind { Device, Managed, Host, Mapped, Global };

struct Physical {
  size_t Bytes = 0;
  unsigned Users = 1; ///< The handle and the mappings of the memory.
};

struct Allocation {
  size_t Bytes = 0;
  Kind What = Kind::Device;
  Context *Owner = nullptr;
  CUmemGenericAllocationHandle Handle = 0; ///< The handle of what is mapped.
};

/// A loaded image. The driver's CUmodule and CUlibrary are both of this type.
struct Image {
  std::string Text; ///< Names its kernels, and its variables as in Modules.cpp.
  std::map<std::string, std::unique_ptr<struct Entry>> Entries;
  std::map<std::string, std::pair<CUdeviceptr, size_t>> Globals;
  bool Library = false;
  Context *Owner = nullptr; ///< The context of a module; null for a library.
};

/// A kernel of an image: a CUkernel if the image is a library, otherwise a CUfunction. Launches
/// take both.
struct Entry {
  std::shared_ptr<const KernelCode> Code;
  Image *Owner = nullptr;
  std::shared_ptr<std::map<int, int>> Attributes; ///< The attributes that the program has set.
  std::unique_ptr<Entry> Function;                ///< The function of a CUkernel.
  bool isKernel() const { return Function != nullptr; }
};

struct Graph;
struct EventState;

/// One node of a graph. Which members mean something depends on the type.
struct GraphNode {
  CUgraphNodeType Type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUfunction Function = nullptr;
  KernelCall Call;
  std::vector<void *> Parameters; ///< The arguments of Call, as the program is told them.
  CUDA_MEMCPY3D Copy{};
  CUDA_MEMSET_NODE_PARAMS Fill{};
  CUDA_HOST_NODE_PARAMS Host{};
  CUevent Event = nullptr;
  std::shared_ptr<Graph> Child;
  /// Of a conditional node: it runs the first body while its condition is not 0. CUDA owns the
  /// array of the bodies' handles.
  std::vector<std::shared_ptr<Graph>> Bodies;
  std::vector<CUgraph> BodyHandles;
  std::shared_ptr<struct Condition> Decides;
  std::function<void(StreamState &)> Other; ///< What was captured and is not one of these.
  bool Enabled = true;
};
/// The value of a conditional node.
struct Condition {
  unsigned Default = 0;
  std::atomic<unsigned> Value{0};
};
/// A type that no probe of today knows: the last one that the enumeration has room for.
inline constexpr auto UnheardOfNode = CUgraphNodeType(15);

/// What a program has tied to a graph: it is told when nothing needs the graph any more.
struct UserObject {
  void *Data = nullptr;
  CUhostFn Destroy = nullptr;
  ~UserObject() { Destroy(Data); }
};

struct Graph {
  Graph() = default;
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
  ~Graph();
  std::vector<std::unique_ptr<GraphNode>> Nodes;
  std::vector<std::shared_ptr<UserObject>> Tied;
  std::vector<std::shared_ptr<Condition>> Conditions; ///< Executable graphs keep them, too.
  std::set<std::pair<GraphNode *, GraphNode *>> Edges;
  /// What an edge means beside that one node runs after the other.
  std::map<std::pair<GraphNode *, GraphNode *>, CUgraphEdgeData> EdgeData;
  GraphNode *add(GraphNode Node);
};
struct Capture {
  std::vector<GraphNode> Nodes; ///< Each runs after the one before it.
  CUstreamCaptureMode Mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  unsigned long long Id = 0;
  unsigned long Thread = 0;
  bool Invalid = false;
};

struct EventState {
  CompletionPtr Recorded;
};

/// Never destroyed, because the streams' threads use it until the process ends.
struct Driver {
  std::mutex Lock;
  size_t TotalBytes = size_t(32) << 20, UsedBytes = 0;
  std::map<CUdeviceptr, Allocation> Memory;
  std::map<CUmemGenericAllocationHandle, Physical> Physicals;
  std::map<std::string, std::shared_ptr<const KernelCode>> Codes;
  std::set<Context *> Contexts;
  Context *Primary = nullptr;
  std::set<std::shared_ptr<Capture>> Captures;
  unsigned NextId = 1;
  bool RecordsHaveOtherIds = false; ///< See giveRecordsOtherIds().
};
Driver &driver();

uint64_t nowNs();

/// Returns the calling thread's context, or null.
Context *currentContext();
CUresult contextStatus(); ///< Returns why no call can succeed now, or CUDA_SUCCESS.

/// Returns the stream of a handle in the current context. The handles null, 1 and 2 are the
/// driver's own.
std::shared_ptr<StreamState> streamOf(CUstream Handle);
std::shared_ptr<StreamState> makeStream(Context *Owner, bool Blocking);

/// Queues \p Run after everything for which it must wait. In a capture it becomes a node of the
/// type
/// \p Captured instead, and the result is null.
CompletionPtr submit(const std::shared_ptr<StreamState> &Stream,
                     std::function<void(StreamState &)> Run,
                     CUgraphNodeType Captured = UnheardOfNode);
/// Waits for all work of \p C.
void synchronize(Context *C);

/// Handles a call that a capture in the driver's strict mode forbids: it invalidates the capture.
CUresult forbiddenInCapture();

/// Allocates device memory. Returns 0 if the device has no more.
CUdeviceptr allocate(size_t Bytes, Kind What);
bool release(CUdeviceptr Base);

/// Adds \p Node to \p To. It runs after the \p Count nodes \p After.
CUresult addNode(CUgraphNode *Out, CUgraph To, const CUgraphNode *After, size_t Count,
                 GraphNode Node);
/// Calls \p Change with the node of \p Of that was made of \p Node. Fails if there is none of this
/// type.
CUresult changeNode(CUgraphExec Of, CUgraphNode Node, CUgraphNodeType Type,
                    const std::function<void(GraphNode &)> &Change);
/// Returns what a node with external semaphores or memory operations does; null for any other node.
std::function<void(StreamState &)> syncWorkOf(const CUgraphNodeParams &Params);

/// Returns the values of a launch's arguments.
std::vector<std::vector<char>> copyArguments(CUfunction Function, void **Params, void **Extra);

/// Returns what the copy of \p Copy does with memory.
std::function<void(StreamState &)> copyOf(const CUDA_MEMCPY3D &Copy);
std::function<void(StreamState &)> fillOf(const CUDA_MEMSET_NODE_PARAMS &Fill);

/// Runs \p Code now, on the thread of \p Stream, and leaves its record.
CUresult runKernel(StreamState &Stream, const KernelCode &Code, const KernelCall &Call,
                   unsigned Graph, unsigned Correlation);

/// Registers code of the probe's own device kernels, for the images that name them.
void registerProbeKernels();

} // namespace carve::standin
