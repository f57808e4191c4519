#include "Probe/Capture/CaptureRun.h"

#include "Probe/Capture/LaunchWriter.h"
#include "Probe/Driver/ShapeRecord.h"
#include "Probe/Entry/TracedProcess.h"
#include "Probe/Replay/KernelHandles.h"

#include <algorithm>

using namespace carve::probe;

/// A capture is made once: it may wait longer than a measurement.
static constexpr std::chrono::milliseconds CaptureGateLimit{2000};

/// The captured launch that this thread is in, from its entry to its exit.
static thread_local std::unique_ptr<LaunchWriter> OwnWriter;

std::string carve::probe::startCaptureRun(TracedProcess &P, const char *File) {
  CapturePlan Wanted;
  if (!Wanted.read(File))
    return "capture-plan-unreadable";
  P.Capturing = std::make_unique<CaptureRun>(P, std::move(Wanted));
  return "";
}

CaptureRun::CaptureRun(TracedProcess &P, CapturePlan W)
    : P(P), Wanted(std::move(W)), Memory(&P.Driver), Modules(P.Driver), Seen(Wanted.Wishes.size()) {
  Gated.insert(SubmissionGate::calls().begin(), SubmissionGate::calls().end());
  Launches.insert(LaunchCall::calls().begin(), LaunchCall::calls().end());
  Memories.insert(DeviceMemory::calls().begin(), DeviceMemory::calls().end());
}

CaptureRun::~CaptureRun() = default;

/// Calls whose effect is only counted.
static constexpr CUpti_CallbackId CountedCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate,
    CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy,
    CUPTI_DRIVER_TRACE_CBID_cuTexRefSetArray,
    CUPTI_DRIVER_TRACE_CBID_cuTexRefSetAddress_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph,
    CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
    CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz,
};

std::vector<CUpti_CallbackId> CaptureRun::calls() const {
  std::set<CUpti_CallbackId> All = Gated;
  All.insert(Launches.begin(), Launches.end());
  All.insert(Memories.begin(), Memories.end());
  All.insert(CapturedModules::calls().begin(), CapturedModules::calls().end());
  All.insert(std::begin(CountedCalls), std::end(CountedCalls));
  return {All.begin(), All.end()};
}

void CaptureRun::noteHazards(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Call.callbackSite != CUPTI_API_EXIT || !Result)
    return;
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuTexObjectCreate:
  case CUPTI_DRIVER_TRACE_CBID_cuTexRefSetArray:
  case CUPTI_DRIVER_TRACE_CBID_cuTexRefSetAddress_v2:
    Textures += *Result == CUDA_SUCCESS;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuTexObjectDestroy:
    Textures -= *Result == CUDA_SUCCESS;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz:
    Captures += *Result == CUDA_SUCCESS;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture:
  case CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz:
    // One that was invalidated ends with an error, too.
    if (Captures > 0)
      --Captures;
    break;
  default:
    break;
  }
}

void CaptureRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER, IsGated = Gated.count(Id);
  if (Entry && IsGated)
    Gate.enter();
  if (Memories.count(Id))
    Memory.note(Id, Call);
  noteHazards(Id, Call);
  Modules.note(Id, Call);
  if (Launches.count(Id) && Call.functionParams)
    Entry ? onLaunch(Id, Call) : onLaunched(Call);
  if (!Entry && IsGated)
    Gate.leave();
}

void CaptureRun::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
    Memory.dropContext(Resource.context);
  if (Id != CUPTI_CBID_RESOURCE_MODULE_LOADED)
    return;
  auto *Module = static_cast<const CUpti_ModuleResourceData *>(Resource.resourceDescriptor);
  if (Module && Module->pCubin)
    Modules.noteImage(Module->pCubin, Module->cubinSize);
}

size_t CaptureRun::wishOf(const LaunchCall &Launch) {
  const size_t None = Wanted.Wishes.size();
  const char *Name = *Launch.Slot ? kernelName(P.Driver, *Launch.Slot) : nullptr;
  if (!Name)
    return None;
  size_t Found = None;
  std::lock_guard<std::mutex> Guard(Lock);
  for (size_t I = 0; I < None; ++I) {
    const CapturePlan::Wish &W = Wanted.Wishes[I];
    LaunchShape Shape = Launch.Shape;
    // A kernel may demand its cluster itself.
    if (Shape.Cluster == std::array<uint32_t, 3>{1, 1, 1})
      Shape.Cluster = W.Shape.Cluster;
    if (W.Kernel == Name && W.Shape == Shape && Seen[I]++ == W.Launch)
      Found = I;
  }
  return Found;
}

void CaptureRun::onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  OwnWriter.reset();
  std::optional<LaunchCall> Launch = LaunchCall::decode(Id, Call.functionParams);
  if (!Launch)
    return;
  size_t Index = wishOf(*Launch);
  if (Index == Wanted.Wishes.size())
    return;
  auto Writer = std::make_unique<LaunchWriter>(P.Driver, Modules.Api, Wanted.Directory, Index);
  std::string Why = whyNot(*Launch);
  bool Closed = Why.empty() && Gate.close(CaptureGateLimit);
  if (Why.empty() && !Closed)
    Why = "other threads' calls were under way";
  if (Why.empty())
    Why = capture(Wanted.Wishes[Index], *Launch, Call, *Writer);
  if (Why.empty()) {
    OwnWriter = std::move(Writer);
    return;
  }
  Writer->Folder.refuse(Why);
  if (Closed)
    Gate.open();
}

std::string CaptureRun::whyNot(const LaunchCall &Launch) const {
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (Captures > 0 || (P.Driver.StreamIsCapturing &&
                       (P.Driver.StreamIsCapturing(Launch.Stream, &Status) != CUDA_SUCCESS ||
                        Status != CU_STREAM_CAPTURE_STATUS_NONE)))
    return "the program was recording a CUDA graph";
  if (Textures > 0)
    return "the program uses textures, which cannot be made again";
  if (Memory.surfaces())
    return "the program uses surfaces, which cannot be made again";
  if (Memory.peers())
    return "memory of one GPU can be reached from another";
  if (!Modules.Api.complete() || !P.Driver.CtxSynchronize)
    return "the driver is too old";
  // What came before has to have ended; the program would wait for it at its next copy, too.
  if (P.Driver.CtxSynchronize() != CUDA_SUCCESS)
    return "the context is broken";
  return "";
}

std::string CaptureRun::capture(const CapturePlan::Wish &Wish, const LaunchCall &Launch,
                                const CUpti_CallbackData &Call, LaunchWriter &Writer) {
  // Calls of other threads may have come in before the gate closed.
  if (P.Driver.CtxSynchronize() != CUDA_SUCCESS)
    return "the context is broken";
  CapturedModules::Kernel Kernel;
  if (std::string Why = Modules.find(*Launch.Slot, Kernel); !Why.empty())
    return Why;
  if (!Writer.Folder.create())
    return Writer.Folder.error();
  Writer.Folder.addText(shapeRecord("kernel", Wish.Kernel, Launch.Shape,
                                    {Launch.Cooperative ? "1" : "0", std::to_string(Wish.Launch)}));
  Writer.addAttributes(Launch, Kernel.Function);
  Writer.choose(Memory.ranges(), Call.context, Kernel);
  if (std::string Why = Writer.addParameters(Launch, Kernel); !Why.empty())
    return Why;
  if (std::string Why = Writer.addMemory(); !Why.empty())
    return Why;
  return Writer.addContainer(*Kernel.Container);
}

void CaptureRun::onLaunched(const CUpti_CallbackData &Call) {
  std::unique_ptr<LaunchWriter> Writer = std::move(OwnWriter);
  if (!Writer)
    return;
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  std::string Why;
  if (Result && *Result != CUDA_SUCCESS)
    Why = "the driver refused the launch";
  else if (P.Driver.CtxSynchronize() != CUDA_SUCCESS)
    Why = "the kernel failed";
  else
    Why = Writer->addAfter();
  if (Why.empty() && !Writer->Folder.complete())
    Why = Writer->Folder.error();
  if (!Why.empty())
    Writer->Folder.refuse(Why);
  Gate.open();
}
