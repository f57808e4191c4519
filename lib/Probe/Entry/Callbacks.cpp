#include "Probe/Entry/Callbacks.h"
#include "Probe/Driver/Hazards.h"
#include "Probe/Driver/LoadCalls.h"
#include "Probe/Entry/TracedProcess.h"
#include "Probe/Process/ThreadGuards.h"
#include "Probe/Trace/LoadedImages.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

using namespace carve::probe;

namespace {
/// A call whose answer may depend on a kernel's registers, and where its parameters hold the
/// kernel.
struct QueryCall {
  CUpti_CallbackId Id;
  const void *(*Function)(const void *Params);
};

/// The probe itself calls the driver inside a callback; such a call is not the program's.
struct CallbackScope {
  CallbackScope() { ++depth(); }
  ~CallbackScope() { --depth(); }
  static int &depth() {
    static thread_local int Depth = 0;
    return Depth;
  }
};
} // namespace

template <auto Member, class Params, class Handle>
static const void *memberOf(const void *Data, Handle Params::*) {
  return static_cast<const Params *>(Data)->*Member;
}

template <auto Member> static const void *handleIn(const void *Data) {
  return memberOf<Member>(Data, Member);
}

#define CARVE_QUERY(Call, Field)                                                                   \
  QueryCall { CUPTI_DRIVER_TRACE_CBID_##Call, handleIn<&Call##_params::Field> }
static constexpr QueryCall Queries[] = {
    CARVE_QUERY(cuFuncGetAttribute, hfunc),
    CARVE_QUERY(cuKernelGetAttribute, kernel),
    CARVE_QUERY(cuOccupancyMaxActiveBlocksPerMultiprocessor, func),
    CARVE_QUERY(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, func),
    CARVE_QUERY(cuOccupancyMaxPotentialBlockSize, func),
    CARVE_QUERY(cuOccupancyMaxPotentialBlockSizeWithFlags, func),
    CARVE_QUERY(cuOccupancyAvailableDynamicSMemPerBlock, func),
    CARVE_QUERY(cuOccupancyMaxPotentialClusterSize, func),
    CARVE_QUERY(cuOccupancyMaxActiveClusters, func),
};
#undef CARVE_QUERY

static constexpr CUpti_CallbackId FileCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,
};

static constexpr CUpti_CallbackId LaunchCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

/// The parameter that points to the image, in the driver's own copy of the call's parameters:
/// writing it is what replaces the image.
static const void **imageParameter(CUpti_CallbackId Id, const void *Params) {
  void *Writable = const_cast<void *>(Params);
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
    return &static_cast<cuLibraryLoadData_params *>(Writable)->code;
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
    return &static_cast<cuModuleLoadData_params *>(Writable)->image;
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
    return &static_cast<cuModuleLoadDataEx_params *>(Writable)->image;
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
    return &static_cast<cuModuleLoadFatBinary_params *>(Writable)->fatCubin;
  default:
    return nullptr;
  }
}

static const char *pathParameter(CUpti_CallbackId Id, const void *Params) {
  if (Id == CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile)
    return static_cast<const cuLibraryLoadFromFile_params *>(Params)->fileName;
  if (Id == CUPTI_DRIVER_TRACE_CBID_cuModuleLoad)
    return static_cast<const cuModuleLoad_params *>(Params)->fname;
  return nullptr;
}

static void onQuery(TracedProcess &P, CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  for (const QueryCall &Query : Queries) {
    if (Query.Id != Id)
      continue;
    const void *Handle = Query.Function(Call.functionParams);
    if (const char *Name = Handle ? kernelName(P.Driver, Handle) : nullptr)
      P.recordOnce(recordLine({"query", Name, Call.functionName}));
    return;
  }
}

static bool isLaunch(CUpti_CallbackId Id) {
  return std::find(std::begin(LaunchCalls), std::end(LaunchCalls), Id) != std::end(LaunchCalls);
}

/// Holds a launch back. Short delays spin: a sleep takes some 60 us at least, which a program of a
/// million launches would feel.
static void holdBack(uint64_t DelayNs) {
  using Clock = std::chrono::steady_clock;
  auto End = Clock::now() + std::chrono::nanoseconds(DelayNs);
  if (DelayNs > 200000)
    std::this_thread::sleep_until(End);
  while (Clock::now() < End) {
  }
}

/// The name is asked for at this kernel's first such launch alone: others cost a look.
static void onProgrammaticLaunch(TracedProcess &P, const void *Handle) {
  if (!P.Programmatic.first(Handle))
    return;
  if (const char *Name = kernelName(P.Driver, Handle))
    P.recordOnce(recordLine({"attribute", Name, "programmatic"}));
}

/// What a trace notes of a call beside images and queries.
static void onTracedCall(TracedProcess &P, CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  if (const void *Handle = programmaticKernel(Id, Call.functionParams))
    onProgrammaticLaunch(P, Handle);
  else if (const char *Kind = hazardKind(Id, Call.functionParams))
    P.recordOnce(recordLine({"hazard", Kind, Call.functionName}));
}

static void onDriverCall(TracedProcess &P, CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  if (P.Planned)
    P.Planned->onCall(Id, Call);
  if (P.Capturing)
    P.Capturing->onCall(Id, Call);
  if (P.Counting)
    P.Counting->onCall(Id, Call);
  if (P.Measuring)
    P.Measuring->onCall(Id, Call);
  if (Call.callbackSite != CUPTI_API_ENTER || !Call.functionParams)
    return;
  if (P.Tracing)
    onTracedCall(P, Id, Call);
  if (isLaunch(Id)) {
    holdBack(P.LaunchDelayNs);
    return;
  }
  if (const void **Image = imageParameter(Id, Call.functionParams)) {
    P.recordDevices();
    P.Programmatic.clear();
    const void *New = onImageLoad(P, *Image, Call.functionName);
    if (New != *Image) {
      *Image = New;
      if (P.Counting)
        P.Counting->onReplaced();
    }
  } else if (const char *Path = pathParameter(Id, Call.functionParams)) {
    onFileLoad(P, Path, Call.functionName);
  } else {
    onQuery(P, Id, Call);
  }
}

static void onResource(TracedProcess &P, CUpti_CallbackId Id, const CUpti_ResourceData &Resource) {
  if (P.Planned)
    P.Planned->onResource(Id, Resource);
  if (P.Capturing)
    P.Capturing->onResource(Id, Resource);
  if (P.Counting)
    P.Counting->onResource(Id, Resource);
  if (P.Measuring)
    P.Measuring->onResource(Id, Resource);
  if (Id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    uint32_t Device = 0;
    if (P.Cupti.GetDeviceId(Resource.context, &Device) == CUPTI_SUCCESS)
      P.Used.note(Device);
    if (P.Used.several())
      P.recordOnce(recordLine({"hazard", "gpus", "-"}));
    return;
  }
  auto *Module = static_cast<const CUpti_ModuleResourceData *>(Resource.resourceDescriptor);
  if (Id == CUPTI_CBID_RESOURCE_MODULE_LOADED && Module && Module->pCubin)
    P.recordOnce(recordLine({"module", digestOfImage(Module->pCubin, Module->cubinSize),
                             std::to_string(Module->cubinSize)}));
}

static void onPlannedModule(TracedProcess &P, const CUpti_ResourceData &Resource) {
  auto *Module = static_cast<const CUpti_ModuleResourceData *>(Resource.resourceDescriptor);
  if (Module && Module->pCubin)
    P.Planned->onModule(*Module);
}

static void CUPTIAPI onCallback(void *User, CUpti_CallbackDomain Domain, CUpti_CallbackId Id,
                                const void *Data) {
  TracedProcess &P = *static_cast<TracedProcess *>(User);
  if (!Data || !P.File.owned())
    return;
  CancellationOff Uncancelled;
  try {
    // A call of ours may be what makes the driver load a module of the program's.
    if (P.Planned && Domain == CUPTI_CB_DOMAIN_RESOURCE && Id == CUPTI_CBID_RESOURCE_MODULE_LOADED)
      onPlannedModule(P, *static_cast<const CUpti_ResourceData *>(Data));
    if (CallbackScope::depth() > 0)
      return;
    CallbackScope Scope;
    if (Domain == CUPTI_CB_DOMAIN_DRIVER_API)
      onDriverCall(P, Id, *static_cast<const CUpti_CallbackData *>(Data));
    else if (Domain == CUPTI_CB_DOMAIN_RESOURCE)
      onResource(P, Id, *static_cast<const CUpti_ResourceData *>(Data));
  } catch (...) {
    // Out of memory in a program that goes on: the tuner must not trust this file.
    P.File.abandon();
  }
}

/// A CUPTI that does not know one of the many calls cannot let the program make it, either.
static void enablePlanned(TracedProcess &P, bool &Enabled) {
  for (CUpti_CallbackId Id : P.Planned->calls())
    (void)P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, Id);
  for (CUpti_CallbackId Id : LaunchCall::calls())
    Enabled &=
        P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, Id) == CUPTI_SUCCESS;
  for (CUpti_CallbackId Id :
       {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_STREAM_CREATED,
        CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, CUPTI_CBID_RESOURCE_MODULE_LOADED})
    Enabled &=
        P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_RESOURCE, Id) == CUPTI_SUCCESS;
}

/// As enablePlanned().
static void enableCapturing(TracedProcess &P, bool &Enabled) {
  for (CUpti_CallbackId Id : P.Capturing->calls())
    (void)P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, Id);
  for (CUpti_CallbackId Id :
       {CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, CUPTI_CBID_RESOURCE_MODULE_LOADED})
    Enabled &=
        P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_RESOURCE, Id) == CUPTI_SUCCESS;
}

/// As enablePlanned().
static void enableCounting(TracedProcess &P, bool &Enabled) {
  for (CUpti_CallbackId Id : CountedRun::calls())
    (void)P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, Id);
  for (CUpti_CallbackId Id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING})
    Enabled &=
        P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_RESOURCE, Id) == CUPTI_SUCCESS;
}

/// As enablePlanned().
static void enableMeasuring(TracedProcess &P, bool &Enabled) {
  for (CUpti_CallbackId Id : P.Measuring->calls())
    (void)P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, Id);
  Enabled &= P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                    CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) == CUPTI_SUCCESS;
}

static bool enableCallbacks(TracedProcess &P) {
  bool Enabled = true;
  auto Enable = [&](CUpti_CallbackDomain Domain, CUpti_CallbackId Id) {
    Enabled &= P.Cupti.EnableCallback(1, P.Subscriber, Domain, Id) == CUPTI_SUCCESS;
  };
  for (CUpti_CallbackId Id : LoadCalls)
    Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
  if (P.LaunchDelayNs > 0)
    for (CUpti_CallbackId Id : LaunchCalls)
      Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
  if (P.Planned)
    enablePlanned(P, Enabled);
  if (P.Capturing)
    enableCapturing(P, Enabled);
  if (P.Counting)
    enableCounting(P, Enabled);
  if (P.Measuring)
    enableMeasuring(P, Enabled);
  if (!P.Tracing)
    return Enabled;
  for (CUpti_CallbackId Id : FileCalls)
    Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
  for (const QueryCall &Query : Queries)
    Enable(CUPTI_CB_DOMAIN_DRIVER_API, Query.Id);
  for (CUpti_CallbackId Id : attributeCallbacks())
    Enable(CUPTI_CB_DOMAIN_DRIVER_API, Id);
  // An older CUPTI does not know all of these calls; nor does its driver have them then.
  for (CUpti_CallbackId Id : hazardCallbacks())
    (void)P.Cupti.EnableCallback(1, P.Subscriber, CUPTI_CB_DOMAIN_DRIVER_API, Id);
  Enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  Enable(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_MODULE_LOADED);
  return Enabled;
}

std::string carve::probe::startCallbacks(TracedProcess &P) {
  CUptiResult Result = P.Cupti.Subscribe(&P.Subscriber, onCallback, &P);
  if (Result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    return "profiler-present";
  if (Result != CUPTI_SUCCESS)
    return "cupti-subscribe " + std::to_string(Result);
  if (enableCallbacks(P))
    return "";
  P.Cupti.Unsubscribe(P.Subscriber);
  return "cupti-enable-callback";
}
