#include "Probe/Driver/LoadedHandles.h"

#include <algorithm>
#include <iterator>

using namespace carve::probe;

template <class Params> static LoadedHandle library(const void *Data) {
  auto *Out = static_cast<const Params *>(Data)->library;
  return {Out ? *Out : nullptr, nullptr};
}

template <class Params> static LoadedHandle module(const void *Data, CUcontext Context) {
  auto *Out = static_cast<const Params *>(Data)->module;
  return {Out ? *Out : nullptr, Context};
}

LoadedHandle carve::probe::loadedBy(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  const void *Data = Call.functionParams;
  if (Call.callbackSite != CUPTI_API_EXIT || !Data || !Result || *Result != CUDA_SUCCESS)
    return {};
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
    return library<cuLibraryLoadData_params>(Data);
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile:
    return library<cuLibraryLoadFromFile_params>(Data);
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
    return module<cuModuleLoad_params>(Data, Call.context);
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
    return module<cuModuleLoadData_params>(Data, Call.context);
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
    return module<cuModuleLoadDataEx_params>(Data, Call.context);
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
    return module<cuModuleLoadFatBinary_params>(Data, Call.context);
  default:
    return {};
  }
}

void *carve::probe::unloadedBy(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  if (!Call.functionParams)
    return nullptr;
  if (Id == CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload)
    return static_cast<const cuLibraryUnload_params *>(Call.functionParams)->library;
  if (Id == CUPTI_DRIVER_TRACE_CBID_cuModuleUnload)
    return static_cast<const cuModuleUnload_params *>(Call.functionParams)->hmod;
  return nullptr;
}

/// The library of which the call \p Id asks for something; null where it is no such call.
static void *usedBy(CUpti_CallbackId Id, const void *Data) {
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryGetKernel:
    return static_cast<const cuLibraryGetKernel_params *>(Data)->library;
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryGetModule:
    return static_cast<const cuLibraryGetModule_params *>(Data)->library;
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal:
    return static_cast<const cuLibraryGetGlobal_params *>(Data)->library;
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryGetManaged:
    return static_cast<const cuLibraryGetManaged_params *>(Data)->library;
  default:
    return nullptr;
  }
}

const std::vector<CUpti_CallbackId> &LoadedHandles::calls() {
  // Never destroyed: threads of the program may still call while it ends.
  static const auto &Calls = *new const std::vector<CUpti_CallbackId>{
      CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,     CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile,
      CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,          CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
      CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,    CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload,
      CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary, CUPTI_DRIVER_TRACE_CBID_cuModuleUnload,
      CUPTI_DRIVER_TRACE_CBID_cuLibraryGetKernel,    CUPTI_DRIVER_TRACE_CBID_cuLibraryGetModule,
      CUPTI_DRIVER_TRACE_CBID_cuLibraryGetGlobal,    CUPTI_DRIVER_TRACE_CBID_cuLibraryGetManaged,
  };
  return Calls;
}

bool LoadedHandles::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  LoadedHandle New = loadedBy(Id, Call);
  // From the entry of the call on it must not be asked any more.
  void *Gone = Call.callbackSite == CUPTI_API_ENTER ? unloadedBy(Id, Call) : nullptr;
  void *Asked = Call.functionParams ? usedBy(Id, Call.functionParams) : nullptr;
  std::lock_guard<std::mutex> Guard(Lock);
  if (Asked)
    return Used.insert(Asked).second;
  if (New.Handle)
    All.insert(New);
  else if (Gone)
    std::erase_if(All, [&](const LoadedHandle &Each) { return Each.Handle == Gone; });
  if (Gone)
    Used.erase(Gone);
  return New.Handle || Gone;
}

void LoadedHandles::contextDestroyed(CUcontext Context) {
  std::lock_guard<std::mutex> Guard(Lock);
  std::erase_if(All, [&](const LoadedHandle &Each) { return Each.Context == Context && Context; });
}

std::vector<LoadedHandle> LoadedHandles::of(CUcontext Context) const {
  std::vector<LoadedHandle> Found;
  std::lock_guard<std::mutex> Guard(Lock);
  std::copy_if(All.begin(), All.end(), std::back_inserter(Found), [&](const LoadedHandle &Each) {
    return Each.Context ? Each.Context == Context : Used.count(Each.Handle) > 0;
  });
  return Found;
}
