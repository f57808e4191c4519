#include "Probe/Entry/Callbacks.h"
#include "Probe/Driver/CallbackScope.h"
#include "Probe/Driver/Hazards.h"
#include "Probe/Driver/LoadedHandles.h"
#include "Probe/Entry/TracedProcess.h"
#include "Probe/Process/ThreadGuards.h"
#include "Probe/Trace/LoadedImages.h"

using namespace carve;
using namespace carve::probe;

/// Does what every mode needs at the entry of a call.
static void onEntry(TracedProcess &P, CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  if (const void **Image = imageParameter(Id, Call.functionParams)) {
    P.recordDevices();
    const void *New = onImageLoad(P.Images, P.File, *Image, Call.functionName);
    if (New == *Image)
      return;
    *Image = New;
    for (const auto &Mode : P.Modes)
      Mode->onImageReplaced();
  } else if (const char *Path = pathParameter(Id, Call.functionParams)) {
    onFileLoad(P.File, Path, Call.functionName);
  }
}

static void onDriverCall(TracedProcess &P, CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  bool Entry = Call.callbackSite == CUPTI_API_ENTER;
  if (Entry)
    P.Submitted.enter(Id);
  for (const auto &Mode : P.Modes)
    Mode->onCall(Id, Call);
  if (Entry && Call.functionParams)
    onEntry(P, Id, Call);
  if (!Entry)
    P.Submitted.leave(Id, Call);
}

static void onResource(TracedProcess &P, CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  for (const auto &Mode : P.Modes)
    Mode->onResource(Id, Resource);
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    uint32_t Device = 0;
    if (P.Cupti.GetDeviceId(Resource.context, &Device) == CUPTI_SUCCESS)
      P.Used.note(Device);
    if (P.Used.several())
      P.File.addOnce(HazardRecord{HazardKind::Gpus, "-"});
    return;
  }
  auto *Module = static_cast<const CUpti_ModuleResourceData *>(Resource.resourceDescriptor);
  if (Id == CUPTI_CBID_RESOURCE_MODULE_LOADED && Module && Module->pCubin)
    P.File.addOnce(
        ModuleRecord{digestOfImage(Module->pCubin, Module->cubinSize), Module->cubinSize});
}

static void onModule(TracedProcess &P, const CUpti_ResourceData &Resource) {
  auto *Module = static_cast<const CUpti_ModuleResourceData *>(Resource.resourceDescriptor);
  if (Module && Module->pCubin)
    for (const auto &Mode : P.Modes)
      Mode->onModule(*Module);
}

static void CUPTIAPI onCallback(void *User, CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                                const void *Data) {
  TracedProcess &P = *static_cast<TracedProcess *>(User);
  if (!Data || !P.File.owned())
    return;
  CancellationOff Uncancelled;
  try {
    // A driver call of the probe may make the driver load a module of the program.
    if (Domain == CUPTI_CB_DOMAIN_RESOURCE && Id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
      onModule(P, *static_cast<const CUpti_ResourceData *>(Data));
    if (CallbackScope::inside())
      return;
    CallbackScope Scope;
    if (Domain == CUPTI_CB_DOMAIN_DRIVER_API)
      onDriverCall(P, Id, *static_cast<const CUpti_CallbackData *>(Data));
    else if (Domain == CUPTI_CB_DOMAIN_RESOURCE)
      onResource(P, Id, *static_cast<const CUpti_ResourceData *>(Data));
  } catch (...) {
    // There is no memory left, but the program goes on. The tuner must not trust this file.
    P.File.abandon();
  }
}

/// The roles whose calls the oldest supported CUPTI knows. If a CUPTI does not know a call that is
/// newer, its driver does not let the program make it, either.
static constexpr Roles KnownToAll =
    Role::LoadsImage | Role::LoadsFile | Role::StartsKernels | Role::AsksKernel;

static bool enableCallbacks(TracedProcess &P) {
  Roles Wanted = Role::LoadsImage;
  std::set<CUpti_CallbackId> Unknown, Events;
  for (const auto &Mode : P.Modes) {
    Wanted |= Mode->calls();
    Unknown.merge(Mode->unknownCalls());
    Events.merge(Mode->resources());
  }
  if (Wanted.any(Role::Gated))
    P.Submitted.guard(Unknown);
  auto Enable = [&](CUpti_CallbackDomain Domain, CUpti_CallbackId Id) {
    return P.Cupti.EnableCallback(1, P.Subscriber, Domain, Id) == CUPTI_SUCCESS;
  };
  bool Enabled = true;
  for (CUpti_CallbackId Id : callsWith(Wanted))
    Enabled &= Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id) || !rolesOf(Id).any(KnownToAll);
  for (CUpti_CallbackId Id : Unknown)
    (void)Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
  for (CUpti_CallbackId Id : Events)
    Enabled &= Enable(CUPTI_CB_DOMAIN_RESOURCE, Id);
  return Enabled;
}

Failure carve::probe::startCallbacks(TracedProcess &P) {
  CUptiResult Result = P.Cupti.Subscribe(&P.Subscriber, onCallback, &P);
  if (Result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    return Failure("profiler-present");
  if (Result != CUPTI_SUCCESS)
    return Failure("cupti-subscribe " + std::to_string(Result));
  if (enableCallbacks(P))
    return Failure::none();
  P.Cupti.Unsubscribe(P.Subscriber);
  return Failure("cupti-enable-callback");
}
