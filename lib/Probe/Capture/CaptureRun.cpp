#include "Probe/Capture/CaptureRun.h"

#include "Probe/Capture/LaunchWriter.h"
#include "Probe/Driver/KernelSignature.h"
#include "Protocol/CaptureRecords.h"

#include <algorithm>

using namespace carve;
using namespace carve::probe;

/// A capture is made once, so it may wait longer than a measurement.
static constexpr std::chrono::milliseconds CaptureGateLimit{2000};

/// The captured launch in which this thread is, from its entry to its exit.
static thread_local std::unique_ptr<LaunchWriter> OwnWriter;

Failure carve::probe::startCaptureRun(const char *Path, const CuptiApi &Cupti,
                                      const DriverApi &Driver, RecordFile &File,
                                      Submissions &Submitted, std::unique_ptr<ProbeMode> &Mode) {
  CapturePlan Wanted;
  if (!Wanted.read(Path))
    return Failure("capture-plan-unreadable");
  Mode = std::make_unique<CaptureRun>(Cupti, Driver, File, Submitted, std::move(Wanted));
  return Failure::none();
}

CaptureRun::CaptureRun(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
                       Submissions &Submitted, CapturePlan W)
    : Driver(Driver), Submitted(Submitted), Wanted(std::move(W)), Dog(Driver, File),
      ByNode(Cupti, Driver, File, Submitted, kernelsOf(Wanted.Wishes), Dog),
      Memory(Submitted.Captures, &Driver), Modules(Driver), Seen(Wanted.Wishes.size()) {}

std::set<CUpti_CallbackId> CaptureRun::resources() const {
  return {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_MODULE_LOADED};
}

void CaptureRun::noteTextures(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Call.callbackSite != CUPTI_API_EXIT || !Result || *Result != CUDA_SUCCESS)
    return;
  if (rolesOf(Id).any(Role::BindsTexture))
    ++Textures;
  else if (rolesOf(Id).any(Role::UnbindsTexture))
    --Textures;
}

void CaptureRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  ByNode.onCall(Id, Call);
  Memory.note(Id, Call);
  noteTextures(Id, Call);
  Modules.note(Id, Call);
  if (rolesOf(Id).any(LaunchCall::Calls) && Call.functionParams)
    Call.callbackSite == CUPTI_API_ENTER ? onLaunch(Id, Call) : onLaunched(Call);
}

void CaptureRun::onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) {
    Memory.dropContext(Resource.context);
    ByNode.contextDestroyed(Resource.context);
  }
  if (Id != CUPTI_CBID_RESOURCE_MODULE_LOADED)
    return;
  auto *Module = static_cast<const CUpti_ModuleResourceData *>(Resource.resourceDescriptor);
  if (Module && Module->pCubin)
    Modules.noteImage(Module->pCubin, Module->cubinSize);
}

size_t CaptureRun::wishOf(const LaunchCall &Launch) {
  const size_t None = Wanted.Wishes.size();
  const char *Name = *Launch.Slot ? kernelName(Driver, *Launch.Slot) : nullptr;
  if (!Name)
    return None;
  size_t Found = None;
  std::lock_guard<std::mutex> Guard(Lock);
  for (size_t I = 0; I < None; ++I) {
    const CaptureWish &W = Wanted.Wishes[I];
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
  auto Writer = std::make_unique<LaunchWriter>(Driver, Modules.Api, Wanted.Directory, Index);
  Failure Why = whyNot(*Launch);
  bool Closed = !Why && Submitted.Gate.close(CaptureGateLimit);
  if (!Why && !Closed)
    Why = Failure("other threads' calls were under way");
  if (!Why)
    Why = capture(Wanted.Wishes[Index], *Launch, Call, *Writer);
  if (!Why) {
    OwnWriter = std::move(Writer);
    return;
  }
  Writer->Folder.refuse(Why.reason());
  if (Closed)
    Submitted.Gate.open();
}

Failure CaptureRun::whyNot(const LaunchCall &Launch) const {
  if (Submitted.Captures.any() || isCapturing(Driver, Launch.Stream))
    return Failure("the program was recording a CUDA graph");
  if (Textures > 0)
    return Failure("the program uses textures, which cannot be made again");
  if (Memory.surfaces())
    return Failure("the program uses surfaces, which cannot be made again");
  if (Memory.peers())
    return Failure("memory of one GPU can be reached from another");
  if (!Modules.Api.complete() || !Driver.CtxSynchronize)
    return Failure("the driver is too old");
  // Work before the launch must have ended. The program would also wait for it at its next copy.
  if (Driver.CtxSynchronize() != CUDA_SUCCESS)
    return Failure("the context is broken");
  return Failure::none();
}

Failure CaptureRun::capture(const CaptureWish &Wish, const LaunchCall &Launch,
                            const CUpti_CallbackData &Call, LaunchWriter &Writer) {
  // Calls of other threads may have submitted work before the gate closed.
  if (Driver.CtxSynchronize() != CUDA_SUCCESS)
    return Failure("the context is broken");
  CapturedModules::Kernel Kernel;
  if (Failure Why = Modules.find(*Launch.Slot, Kernel))
    return Why;
  if (Failure Why = Writer.Folder.create())
    return Why;
  Writer.Folder.add(RawKernel{Wish.Kernel, Launch.Shape, Launch.Cooperative, Wish.Launch});
  Writer.addAttributes(Launch, Kernel.Function);
  Writer.choose(Memory.ranges(), Call.context, Kernel);
  if (Failure Why = Writer.addParameters(Launch, Kernel))
    return Why;
  if (Failure Why = Writer.addMemory())
    return Why;
  return Writer.addContainer(*Kernel.Container);
}

void CaptureRun::onLaunched(const CUpti_CallbackData &Call) {
  std::unique_ptr<LaunchWriter> Writer = std::move(OwnWriter);
  if (!Writer)
    return;
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  Failure Why = Failure::none();
  if (Result && *Result != CUDA_SUCCESS)
    Why = Failure("the driver refused the launch");
  else if (Driver.CtxSynchronize() != CUDA_SUCCESS)
    Why = Failure("the kernel failed");
  else
    Why = Writer->addAfter();
  if (!Why)
    Why = Writer->Folder.complete();
  if (Why)
    Writer->Folder.refuse(Why.reason());
  Submitted.Gate.open();
}
