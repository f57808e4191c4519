/// \file
/// Stream capture of the stand-in. A capture is as easily disturbed as the driver's: calls that may
/// wait invalidate it.

#include "unit/Probe/StandIn/Calls.h"

#include <atomic>

using namespace carve::standin;

static CUstreamCaptureMode &threadMode() {
  static thread_local CUstreamCaptureMode Mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return Mode;
}

static unsigned long threadId() {
  static std::atomic<unsigned long> Next{1};
  static thread_local unsigned long Own = Next++;
  return Own;
}

CUresult carve::standin::forbiddenInCapture() {
  if (threadMode() == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  bool Found = false;
  std::lock_guard<std::mutex> Guard(driver().Lock);
  for (const std::shared_ptr<Capture> &C : driver().Captures) {
    bool Concerns = C->Thread == threadId() ? C->Mode != CU_STREAM_CAPTURE_MODE_RELAXED
                                            : C->Mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
                                                  threadMode() == CU_STREAM_CAPTURE_MODE_GLOBAL;
    C->Invalid |= Concerns;
    Found |= Concerns;
  }
  return Found ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

STANDIN_API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *Mode) {
  std::swap(*Mode, threadMode());
  return CUDA_SUCCESS;
}

STANDIN_API cuStreamBeginCapture(CUstream Handle, CUstreamCaptureMode Mode) {
  return traced(CALL(cuStreamBeginCapture_v2){Handle, Mode}, [](auto &P, unsigned) -> CUresult {
    auto Stream = streamOf(P.hStream);
    if (!Stream || Stream->Legacy)
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    std::lock_guard<std::mutex> Guard(driver().Lock);
    Stream->Captured = std::make_shared<Capture>();
    Stream->Captured->Mode = P.mode;
    Stream->Captured->Thread = threadId();
    Stream->Captured->Id = driver().NextId++;
    driver().Captures.insert(Stream->Captured);
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuStreamEndCapture(CUstream Handle, CUgraph *Out) {
  return traced(CALL(cuStreamEndCapture){Handle, Out}, [](auto &P, unsigned) -> CUresult {
    auto Stream = streamOf(P.hStream);
    std::lock_guard<std::mutex> Guard(driver().Lock);
    std::shared_ptr<Capture> Ended = std::move(Stream->Captured);
    Stream->Captured = nullptr;
    driver().Captures.erase(Ended);
    *P.phGraph = nullptr;
    if (!Ended || Ended->Invalid)
      return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    auto Made = std::make_unique<Graph>();
    GraphNode *Last = nullptr;
    for (GraphNode &Node : Ended->Nodes) {
      GraphNode *Next = Made->add(std::move(Node));
      if (Last)
        Made->Edges.emplace(Last, Next);
      Last = Next;
    }
    *P.phGraph = reinterpret_cast<CUgraph>(Made.release());
    return CUDA_SUCCESS;
  });
}

static CUstreamCaptureStatus statusOf(const StreamState &Stream, cuuint64_t *Id) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  if (!Stream.Captured)
    return CU_STREAM_CAPTURE_STATUS_NONE;
  if (Id)
    *Id = Stream.Captured->Id;
  return Stream.Captured->Invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                  : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

STANDIN_API cuStreamIsCapturing(CUstream Handle, CUstreamCaptureStatus *Status) {
  auto Stream = streamOf(Handle);
  if (!Stream)
    return CUDA_ERROR_INVALID_HANDLE;
  *Status = statusOf(*Stream, nullptr);
  return CUDA_SUCCESS;
}

STANDIN_API cuStreamGetCaptureInfo_v2(CUstream Handle, CUstreamCaptureStatus *Status,
                                      cuuint64_t *Id, CUgraph *, const CUgraphNode **, size_t *) {
  auto Stream = streamOf(Handle);
  if (!Stream)
    return CUDA_ERROR_INVALID_HANDLE;
  *Status = statusOf(*Stream, Id);
  return CUDA_SUCCESS;
}

STANDIN_API cuStreamGetCaptureInfo_v3(CUstream Handle, CUstreamCaptureStatus *Status,
                                      cuuint64_t *Id, CUgraph *, const CUgraphNode **,
                                      const CUgraphEdgeData **, size_t *) {
  return cuStreamGetCaptureInfo_v2(Handle, Status, Id, nullptr, nullptr, nullptr);
}
