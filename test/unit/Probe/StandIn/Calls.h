/// \file
/// How CUPTI sees a call of the driver: a callback before it and one after it, with the parameters
/// in a structure to which a callback may write. Callbacks are nested if a callback makes calls
/// itself.
#pragma once

#include "unit/Probe/StandIn/Model.h"
#include "unit/Probe/StubControl.h"

#define STANDIN_API extern "C" __attribute__((visibility("default"))) CUresult

namespace carve::standin {

/// The stand-in for CUPTI, if the probe has loaded it.
struct CuptiHooks {
  decltype(&stubActivity) Activity = nullptr;
  decltype(&stubCallback) Callback = nullptr;
};
CuptiHooks &hooks();

unsigned nextCorrelation();

/// Runs \p Body(Parameters, correlation id) between its two callbacks.
template <class Parameters, class F>
CUresult traced(CUpti_CallbackId Id, const char *Name, Parameters P, F Body) {
  CUresult Result = CUDA_SUCCESS;
  uint64_t CorrelationData = 0;
  Context *C = currentContext();
  CUpti_CallbackData Data{};
  Data.callbackSite = CUPTI_API_ENTER;
  Data.functionName = Name;
  Data.functionParams = &P;
  Data.functionReturnValue = &Result;
  Data.context = reinterpret_cast<CUcontext>(C);
  Data.contextUid = C ? C->Id : 0;
  Data.correlationData = &CorrelationData;
  Data.correlationId = nextCorrelation();
  auto Call = [&] {
    if (hooks().Callback)
      hooks().Callback(CUPTI_CB_DOMAIN_DRIVER_API, Id, &Data);
  };
  Call();
  Result = Body(P, Data.correlationId);
  Data.callbackSite = CUPTI_API_EXIT;
  Call();
  return Result;
}

} // namespace carve::standin

/// `traced(CALL(cuMemFree_v2){Pointer}, ...)`: the call's id, name and parameters.
#define CALL(Name) CUPTI_DRIVER_TRACE_CBID_##Name, #Name, Name##_params
