#include "Probe/Driver/LoadedHandles.h"

#include <algorithm>
#include <iterator>

using namespace carve;
using namespace carve::probe;

#define CARVE_CALL(R, Name) callOf<Role::R>(CUPTI_DRIVER_TRACE_CBID_##Name)

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
  case CARVE_CALL(LoadsImage, cuLibraryLoadData):
    return library<cuLibraryLoadData_params>(Data);
  case CARVE_CALL(LoadsFile, cuLibraryLoadFromFile):
    return library<cuLibraryLoadFromFile_params>(Data);
  case CARVE_CALL(LoadsFile, cuModuleLoad):
    return module<cuModuleLoad_params>(Data, Call.context);
  case CARVE_CALL(LoadsImage, cuModuleLoadData):
    return module<cuModuleLoadData_params>(Data, Call.context);
  case CARVE_CALL(LoadsImage, cuModuleLoadDataEx):
    return module<cuModuleLoadDataEx_params>(Data, Call.context);
  case CARVE_CALL(LoadsImage, cuModuleLoadFatBinary):
    return module<cuModuleLoadFatBinary_params>(Data, Call.context);
  default:
    return {};
  }
}

void *carve::probe::unloadedBy(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  if (!Call.functionParams)
    return nullptr;
  switch (Id) {
  case CARVE_CALL(Unloads, cuLibraryUnload):
    return static_cast<const cuLibraryUnload_params *>(Call.functionParams)->library;
  case CARVE_CALL(Unloads, cuModuleUnload):
    return static_cast<const cuModuleUnload_params *>(Call.functionParams)->hmod;
  default:
    return nullptr;
  }
}

const void **carve::probe::imageParameter(CUpti_CallbackId Id, const void *Params) {
  void *Writable = const_cast<void *>(Params);
  switch (Id) {
  case CARVE_CALL(LoadsImage, cuLibraryLoadData):
    return &static_cast<cuLibraryLoadData_params *>(Writable)->code;
  case CARVE_CALL(LoadsImage, cuModuleLoadData):
    return &static_cast<cuModuleLoadData_params *>(Writable)->image;
  case CARVE_CALL(LoadsImage, cuModuleLoadDataEx):
    return &static_cast<cuModuleLoadDataEx_params *>(Writable)->image;
  case CARVE_CALL(LoadsImage, cuModuleLoadFatBinary):
    return &static_cast<cuModuleLoadFatBinary_params *>(Writable)->fatCubin;
  default:
    return nullptr;
  }
}

const char *carve::probe::pathParameter(CUpti_CallbackId Id, const void *Params) {
  switch (Id) {
  case CARVE_CALL(LoadsFile, cuLibraryLoadFromFile):
    return static_cast<const cuLibraryLoadFromFile_params *>(Params)->fileName;
  case CARVE_CALL(LoadsFile, cuModuleLoad):
    return static_cast<const cuModuleLoad_params *>(Params)->fname;
  default:
    return nullptr;
  }
}

/// Returns the library of which the call \p Id asks for something, or null if it is no such call.
static void *usedBy(CUpti_CallbackId Id, const void *Data) {
  switch (Id) {
  case CARVE_CALL(UsesLibrary, cuLibraryGetKernel):
    return static_cast<const cuLibraryGetKernel_params *>(Data)->library;
  case CARVE_CALL(UsesLibrary, cuLibraryGetModule):
    return static_cast<const cuLibraryGetModule_params *>(Data)->library;
  case CARVE_CALL(UsesLibrary, cuLibraryGetGlobal):
    return static_cast<const cuLibraryGetGlobal_params *>(Data)->library;
  case CARVE_CALL(UsesLibrary, cuLibraryGetManaged):
    return static_cast<const cuLibraryGetManaged_params *>(Data)->library;
  default:
    return nullptr;
  }
}

bool LoadedHandles::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  LoadedHandle New = loadedBy(Id, Call);
  // The handle must not be used any more from the entry of the unloading call on.
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
