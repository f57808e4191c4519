/// \file
/// Streams of the stand-in. Each has a thread and runs its work in order. Streams run concurrently,
/// except for the order that the legacy default stream imposes.

#include "unit/Probe/StandIn/Calls.h"

#include <chrono>
#include <thread>

using namespace carve::standin;

uint64_t carve::standin::nowNs() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}

void Completion::set(uint64_t AtNs) {
  std::lock_guard<std::mutex> Guard(Lock);
  Done = true;
  TimeNs = AtNs;
  Changed.notify_all();
}

void Completion::wait() {
  std::unique_lock<std::mutex> Guard(Lock);
  Changed.wait(Guard, [&] { return Done; });
}

bool Completion::done() {
  std::lock_guard<std::mutex> Guard(Lock);
  return Done;
}

uint64_t Completion::timeNs() {
  std::lock_guard<std::mutex> Guard(Lock);
  return TimeNs;
}

static void runStream(const std::shared_ptr<StreamState> &Stream) {
  while (true) {
    Work Next;
    {
      std::unique_lock<std::mutex> Guard(Stream->Lock);
      Stream->Changed.wait(Guard, [&] { return !Stream->Queue.empty(); });
      Next = std::move(Stream->Queue.front());
      Stream->Queue.pop_front();
      Stream->Changed.notify_all();
    }
    for (const CompletionPtr &Earlier : Next.After)
      Earlier->wait();
    if (!Next.Run)
      return;
    Next.Run(*Stream);
    Next.Run = nullptr;
    Next.Done->set(std::max(nowNs(), Stream->ClockNs));
  }
}

std::shared_ptr<StreamState> carve::standin::makeStream(Context *Owner, bool Blocking) {
  auto Stream = std::make_shared<StreamState>();
  Stream->Owner = Owner;
  Stream->Blocking = Blocking;
  Stream->Id = driver().NextId++;
  std::thread(runStream, Stream).detach();
  return Stream;
}

std::shared_ptr<StreamState> carve::standin::streamOf(CUstream Handle) {
  Context *C = currentContext();
  if (!C)
    return nullptr;
  std::lock_guard<std::mutex> Guard(driver().Lock);
  if (!Handle || Handle == CU_STREAM_LEGACY)
    return C->Legacy;
  if (Handle == CU_STREAM_PER_THREAD) {
    static thread_local std::map<Context *, std::shared_ptr<StreamState>> Own;
    std::shared_ptr<StreamState> &Stream = Own[C];
    if (!Stream) {
      Stream = makeStream(C, /*Blocking=*/true);
      C->Streams[Stream.get()] = Stream;
    }
    return Stream;
  }
  for (Context *Any : driver().Contexts)
    if (auto It = Any->Streams.find(Handle); It != Any->Streams.end())
      return It->second;
  return nullptr;
}

/// Returns for what work of \p Stream must wait besides the work of its own stream.
static std::vector<CompletionPtr> predecessors(const StreamState &Stream) {
  std::vector<CompletionPtr> After;
  if (Stream.Legacy) {
    for (auto &[Handle, Other] : Stream.Owner->Streams)
      if (Other->Blocking && Other->Last)
        After.push_back(Other->Last);
  } else if (Stream.Blocking && Stream.Owner->Legacy->Last) {
    After.push_back(Stream.Owner->Legacy->Last);
  }
  return After;
}

static CompletionPtr enqueue(const std::shared_ptr<StreamState> &Stream, Work Next) {
  CompletionPtr Done = Next.Done = std::make_shared<Completion>();
  Stream->Last = Done;
  std::lock_guard<std::mutex> Guard(Stream->Lock);
  Stream->Queue.push_back(std::move(Next));
  Stream->Changed.notify_all();
  return Done;
}

/// The driver lets a thread wait as long as its stream has so much work that has not begun.
static constexpr size_t MostQueued = 1000;

static void waitForRoom(StreamState &Stream) {
  std::unique_lock<std::mutex> Guard(Stream.Lock);
  Stream.Changed.wait(Guard, [&] { return Stream.Queue.size() < MostQueued; });
}

CompletionPtr carve::standin::submit(const std::shared_ptr<StreamState> &Stream,
                                     std::function<void(StreamState &)> Run,
                                     CUgraphNodeType Captured) {
  waitForRoom(*Stream);
  std::lock_guard<std::mutex> Guard(driver().Lock);
  if (Stream->Captured) {
    GraphNode Node;
    Node.Type = Captured;
    Node.Other = std::move(Run);
    Stream->Captured->Nodes.push_back(std::move(Node));
    return nullptr;
  }
  Work Next;
  Next.Run = std::move(Run);
  Next.After = predecessors(*Stream);
  return enqueue(Stream, std::move(Next));
}

static std::vector<CompletionPtr> lastOf(Context *C) {
  std::vector<CompletionPtr> All;
  std::lock_guard<std::mutex> Guard(driver().Lock);
  if (C->Legacy->Last)
    All.push_back(C->Legacy->Last);
  for (auto &[Handle, Stream] : C->Streams)
    if (Stream->Last)
      All.push_back(Stream->Last);
  return All;
}

void carve::standin::synchronize(Context *C) {
  for (const CompletionPtr &Last : lastOf(C))
    Last->wait();
}

static void tellOfStream(CUpti_CallbackIdResource What, Context *Owner, CUstream Stream) {
  if (!hooks().Callback)
    return;
  CUpti_ResourceData Resource{};
  Resource.context = reinterpret_cast<CUcontext>(Owner);
  Resource.resourceHandle.stream = Stream;
  hooks().Callback(CUPTI_CB_DOMAIN_RESOURCE, What, &Resource);
}

static CUresult createStream(CUstream *Out, unsigned Flags) {
  if (CUresult Status = contextStatus())
    return Status;
  Context *C = currentContext();
  {
    std::lock_guard<std::mutex> Guard(driver().Lock);
    auto Stream = makeStream(C, !(Flags & CU_STREAM_NON_BLOCKING));
    C->Streams[Stream.get()] = Stream;
    *Out = reinterpret_cast<CUstream>(Stream.get());
  }
  tellOfStream(CUPTI_CBID_RESOURCE_STREAM_CREATED, C, *Out);
  return CUDA_SUCCESS;
}

STANDIN_API cuStreamCreate(CUstream *Out, unsigned Flags) {
  return traced(CALL(cuStreamCreate){Out, Flags},
                [](auto &P, unsigned) { return createStream(P.phStream, P.Flags); });
}

STANDIN_API cuStreamCreateWithPriority(CUstream *Out, unsigned Flags, int Priority) {
  return traced(CALL(cuStreamCreateWithPriority){Out, Flags, Priority},
                [](auto &P, unsigned) { return createStream(P.phStream, P.flags); });
}

STANDIN_API cuStreamDestroy(CUstream Handle) {
  return traced(CALL(cuStreamDestroy_v2){Handle}, [](auto &P, unsigned) -> CUresult {
    auto Stream = streamOf(P.hStream);
    if (!Stream)
      return CUDA_ERROR_INVALID_HANDLE;
    tellOfStream(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, Stream->Owner, P.hStream);
    std::lock_guard<std::mutex> Guard(driver().Lock);
    enqueue(Stream, Work());
    Stream->Owner->Streams.erase(Stream.get());
    return CUDA_SUCCESS;
  });
}

static bool capturing(const StreamState &Stream) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  return Stream.Captured != nullptr;
}

/// Returns the last work of \p Stream and, for the legacy stream, the last work of all streams for
/// which it waits.
static std::vector<CompletionPtr> pending(const std::shared_ptr<StreamState> &Stream) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  std::vector<CompletionPtr> All;
  if (Stream->Legacy)
    All = predecessors(*Stream);
  if (Stream->Last)
    All.push_back(Stream->Last);
  return All;
}

static CUresult waitFor(CUstream Handle) {
  auto Stream = streamOf(Handle);
  if (!Stream)
    return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult Status = forbiddenInCapture())
    return Status;
  if (capturing(*Stream))
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  for (const CompletionPtr &Last : pending(Stream))
    Last->wait();
  return contextStatus();
}

STANDIN_API cuStreamSynchronize(CUstream Handle) {
  return traced(CALL(cuStreamSynchronize){Handle},
                [](auto &P, unsigned) { return waitFor(P.hStream); });
}

static CompletionPtr lastOwn(const std::shared_ptr<StreamState> &Stream) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  return Stream->Last;
}

STANDIN_API cuStreamQuery(CUstream Handle) {
  return traced(CALL(cuStreamQuery){Handle}, [](auto &P, unsigned) -> CUresult {
    auto Stream = streamOf(P.hStream);
    if (!Stream)
      return CUDA_ERROR_INVALID_HANDLE;
    if (CUresult Status = forbiddenInCapture())
      return Status;
    // The driver's documentation does not promise that a question about the legacy stream is also
    // one about the streams that wait for it.
    if (CompletionPtr Last = lastOwn(Stream); Last && !Last->done())
      return CUDA_ERROR_NOT_READY;
    return contextStatus();
  });
}

STANDIN_API cuStreamWaitEvent(CUstream Handle, CUevent Event, unsigned Flags) {
  return traced(CALL(cuStreamWaitEvent){Handle, Event, Flags}, [](auto &P, unsigned) -> CUresult {
    auto Stream = streamOf(P.hStream);
    if (!Stream)
      return CUDA_ERROR_INVALID_HANDLE;
    CompletionPtr Recorded;
    {
      std::lock_guard<std::mutex> Guard(driver().Lock);
      Recorded = reinterpret_cast<EventState *>(P.hEvent)->Recorded;
    }
    submit(Stream, [Recorded](StreamState &) {
      if (Recorded)
        Recorded->wait();
    });
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuLaunchHostFunc(CUstream Handle, CUhostFn Function, void *User) {
  return traced(CALL(cuLaunchHostFunc){Handle, Function, User}, [](auto &P, unsigned) -> CUresult {
    auto Stream = streamOf(P.hStream);
    if (!Stream)
      return CUDA_ERROR_INVALID_HANDLE;
    submit(Stream, [Do = P.fn, With = P.userData](StreamState &) { Do(With); });
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuStreamGetCtx(CUstream Handle, CUcontext *Out) {
  auto Stream = streamOf(Handle);
  *Out = Stream ? reinterpret_cast<CUcontext>(Stream->Owner) : nullptr;
  return Stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

STANDIN_API cuStreamGetFlags(CUstream Handle, unsigned *Out) {
  auto Stream = streamOf(Handle);
  *Out = Stream && !Stream->Blocking ? CU_STREAM_NON_BLOCKING : 0;
  return Stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

STANDIN_API cuStreamCopyAttributes(CUstream, CUstream) { return CUDA_SUCCESS; }

STANDIN_API cuStreamGetId(CUstream Handle, unsigned long long *Out) {
  auto Stream = streamOf(Handle);
  *Out = Stream ? Stream->Id : 0;
  return Stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

STANDIN_API cuEventCreate(CUevent *Out, unsigned Flags) {
  return traced(CALL(cuEventCreate){Out, Flags}, [](auto &P, unsigned) {
    *P.phEvent = reinterpret_cast<CUevent>(new EventState);
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuEventDestroy(CUevent Event) {
  return traced(CALL(cuEventDestroy_v2){Event}, [](auto &P, unsigned) {
    delete reinterpret_cast<EventState *>(P.hEvent);
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuEventRecord(CUevent Event, CUstream Handle) {
  return traced(CALL(cuEventRecord){Event, Handle}, [](auto &P, unsigned) -> CUresult {
    auto Stream = streamOf(P.hStream);
    if (!Stream)
      return CUDA_ERROR_INVALID_HANDLE;
    CompletionPtr Done = submit(Stream, [](StreamState &) {});
    std::lock_guard<std::mutex> Guard(driver().Lock);
    reinterpret_cast<EventState *>(P.hEvent)->Recorded = Done;
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuCtxRecordEvent(CUcontext Handle, CUevent Event) {
  auto Done = std::make_shared<Completion>();
  std::vector<CompletionPtr> All;
  {
    std::lock_guard<std::mutex> Guard(driver().Lock);
    auto *C = reinterpret_cast<Context *>(Handle);
    if (C->Legacy->Last)
      All.push_back(C->Legacy->Last);
    for (const auto &[Key, Stream] : C->Streams)
      if (Stream->Last)
        All.push_back(Stream->Last);
    reinterpret_cast<EventState *>(Event)->Recorded = Done;
  }
  std::thread([All, Done] {
    for (const CompletionPtr &Each : All)
      Each->wait();
    Done->set(0);
  }).detach();
  return CUDA_SUCCESS;
}

static CompletionPtr recorded(CUevent Event) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  return reinterpret_cast<EventState *>(Event)->Recorded;
}

STANDIN_API cuEventSynchronize(CUevent Event) {
  return traced(CALL(cuEventSynchronize){Event}, [](auto &P, unsigned) -> CUresult {
    if (CUresult Status = forbiddenInCapture())
      return Status;
    if (CompletionPtr Done = recorded(P.hEvent))
      Done->wait();
    return contextStatus();
  });
}

STANDIN_API cuEventQuery(CUevent Event) {
  return traced(CALL(cuEventQuery){Event}, [](auto &P, unsigned) -> CUresult {
    if (CUresult Status = forbiddenInCapture())
      return Status;
    CompletionPtr Done = recorded(P.hEvent);
    if (Done && !Done->done())
      return CUDA_ERROR_NOT_READY;
    return contextStatus();
  });
}

static CUresult elapsed(float *Ms, CUevent Start, CUevent End) {
  CompletionPtr First = recorded(Start), Last = recorded(End);
  if (!First || !Last)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!First->done() || !Last->done())
    return CUDA_ERROR_NOT_READY;
  *Ms = float(double(int64_t(Last->timeNs() - First->timeNs())) / 1e6);
  return CUDA_SUCCESS;
}

#undef cuEventElapsedTime
STANDIN_API cuEventElapsedTime(float *Ms, CUevent Start, CUevent End) {
  return traced(CALL(cuEventElapsedTime){Ms, Start, End},
                [](auto &P, unsigned) { return elapsed(P.pMilliseconds, P.hStart, P.hEnd); });
}

STANDIN_API cuEventElapsedTime_v2(float *Ms, CUevent Start, CUevent End) {
  return traced(CALL(cuEventElapsedTime_v2){Ms, Start, End},
                [](auto &P, unsigned) { return elapsed(P.pMilliseconds, P.hStart, P.hEnd); });
}
