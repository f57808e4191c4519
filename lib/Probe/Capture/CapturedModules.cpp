#include "Probe/Capture/CapturedModules.h"

#include "Probe/Driver/VariableNames.h"
#include "Probe/Trace/ImageMap.h"

#include <dlfcn.h>

using namespace carve::probe;

void CaptureApi::load() {
  void *Handle = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (!Handle)
    return;
  auto Resolve = [&](const char *Name, auto &Out) {
    Out = reinterpret_cast<std::decay_t<decltype(Out)>>(::dlsym(Handle, Name));
  };
  Resolve("cuMemcpyDtoH_v2", MemcpyDtoH);
  Resolve("cuCtxGetLimit", CtxGetLimit);
  Resolve("cuLibraryGetGlobal", LibraryGetGlobal);
  Resolve("cuLibraryGetModule", LibraryGetModule);
  Resolve("cuModuleGetGlobal_v2", ModuleGetGlobal);
}

bool CaptureApi::complete() const { return MemcpyDtoH && ModuleGetGlobal; }

const std::vector<CUpti_CallbackId> &CapturedModules::calls() {
  static const std::vector<CUpti_CallbackId> Calls = {
      CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,     CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile,
      CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,      CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,
      CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary, CUPTI_DRIVER_TRACE_CBID_cuModuleLoad,
  };
  return Calls;
}

namespace {
/// What a load call made of which image or file.
struct LoadedBy {
  const void *Handle = nullptr;
  const void *Image = nullptr;
  const char *Path = nullptr;
};
} // namespace

template <class Params> static LoadedBy library(const void *Data) {
  auto *P = static_cast<const Params *>(Data);
  return {P->library ? *P->library : nullptr, nullptr, nullptr};
}

template <class Params> static LoadedBy module(const void *Data) {
  auto *P = static_cast<const Params *>(Data);
  return {P->module ? *P->module : nullptr, nullptr, nullptr};
}

static LoadedBy loadedBy(CUpti_CallbackId Id, const void *Data) {
  LoadedBy By;
  switch (Id) {
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData:
    By = library<cuLibraryLoadData_params>(Data);
    By.Image = static_cast<const cuLibraryLoadData_params *>(Data)->code;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadFromFile:
    By = library<cuLibraryLoadFromFile_params>(Data);
    By.Path = static_cast<const cuLibraryLoadFromFile_params *>(Data)->fileName;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData:
    By = module<cuModuleLoadData_params>(Data);
    By.Image = static_cast<const cuModuleLoadData_params *>(Data)->image;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx:
    By = module<cuModuleLoadDataEx_params>(Data);
    By.Image = static_cast<const cuModuleLoadDataEx_params *>(Data)->image;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary:
    By = module<cuModuleLoadFatBinary_params>(Data);
    By.Image = static_cast<const cuModuleLoadFatBinary_params *>(Data)->fatCubin;
    break;
  case CUPTI_DRIVER_TRACE_CBID_cuModuleLoad:
    By = module<cuModuleLoad_params>(Data);
    By.Path = static_cast<const cuModuleLoad_params *>(Data)->fname;
    break;
  default:
    break;
  }
  return By;
}

void CapturedModules::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (Call.callbackSite != CUPTI_API_EXIT || !Call.functionParams || !Result ||
      *Result != CUDA_SUCCESS)
    return;
  LoadedBy By = loadedBy(Id, Call.functionParams);
  if (!By.Handle)
    return;
  auto New = std::make_shared<LoadedContainer>();
  New->Call = Call.functionName;
  if (By.Path) {
    if (auto File = loadFile(By.Path)) {
      New->Copy.assign(static_cast<const char *>(File->Data), File->Bytes);
      unloadFile(*File);
    }
  } else if (auto Found = findLoadedContainer(By.Image)) {
    New->Data = Found->Data;
    New->Bytes = Found->Bytes;
    Dl_info Where;
    if (!::dladdr(Found->Data, &Where))
      New->Copy.assign(static_cast<const char *>(Found->Data), Found->Bytes);
  }
  if (!New->Copy.empty()) {
    New->Data = New->Copy.data();
    New->Bytes = New->Copy.size();
  }
  std::lock_guard<std::mutex> Guard(Lock);
  // A handle of an unloaded module may be given again.
  if (New->Data)
    Containers[By.Handle] = std::move(New);
  else
    Containers.erase(By.Handle);
}

void CapturedModules::noteImage(const void *Data, size_t Bytes) {
  std::lock_guard<std::mutex> Guard(Lock);
  addVariableNames(Data, Bytes, Names);
}

std::shared_ptr<const LoadedContainer> CapturedModules::containerOf(const void *Handle) {
  std::lock_guard<std::mutex> Guard(Lock);
  auto It = Containers.find(Handle);
  return It == Containers.end() ? nullptr : It->second;
}

void CapturedModules::findVariables(CUlibrary Library, CUmodule Module, Kernel &Found) {
  std::set<std::string> Asked;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    Asked = Names;
  }
  for (const std::string &Name : Asked) {
    CUdeviceptr Base = 0;
    size_t Bytes = 0;
    CUresult Result = Library && Api.LibraryGetGlobal
                          ? Api.LibraryGetGlobal(&Base, &Bytes, Library, Name.c_str())
                          : Api.ModuleGetGlobal(&Base, &Bytes, Module, Name.c_str());
    if (Result == CUDA_SUCCESS && Base && Bytes)
      Found.Variables.push_back({Name, Base, Bytes});
  }
}

std::string CapturedModules::find(CUfunction Handle, Kernel &Found) {
  CUlibrary Library = nullptr;
  CUmodule Module = nullptr;
  int Registers = 0;
  // A CUkernel is refused by the functions for a CUfunction, and known by its own.
  if (Driver.FuncGetAttribute(&Registers, CU_FUNC_ATTRIBUTE_NUM_REGS, Handle) == CUDA_SUCCESS &&
      Driver.FuncGetModule(&Module, Handle) == CUDA_SUCCESS) {
    Found.Function = Handle;
  } else {
    auto Kernel = reinterpret_cast<CUkernel>(Handle);
    Module = nullptr;
    if (!Driver.KernelGetFunction || !Driver.KernelGetLibrary ||
        Driver.KernelGetFunction(&Found.Function, Kernel) != CUDA_SUCCESS ||
        Driver.KernelGetLibrary(&Library, Kernel) != CUDA_SUCCESS)
      return "the kernel's module is not known";
  }
  Found.Container = containerOf(Library ? static_cast<const void *>(Library) : Module);
  if (!Found.Container && !Library && Api.LibraryGetModule) {
    // The function of a library's kernel: its module is the library's.
    std::map<const void *, std::shared_ptr<const LoadedContainer>> All;
    {
      std::lock_guard<std::mutex> Guard(Lock);
      All = Containers;
    }
    for (const auto &[Other, Container] : All) {
      CUmodule Of = nullptr;
      auto *Candidate = static_cast<CUlibrary>(const_cast<void *>(Other));
      if (Container->Call.rfind("cuLibrary", 0) == 0 &&
          Api.LibraryGetModule(&Of, Candidate) == CUDA_SUCCESS && Of == Module) {
        Found.Container = Container;
        Library = Candidate;
      }
    }
  }
  if (!Found.Container)
    return "the kernel's module was not loaded from a fatbinary or cubin";
  findVariables(Library, Module, Found);
  if (!Driver.FuncGetParamInfo)
    return "the driver does not tell the kernel's parameters (it needs CUDA 12.4)";
  ParameterPlace Place;
  while (Driver.FuncGetParamInfo(Found.Function, Found.Parameters.size(), &Place.Offset,
                                 &Place.Bytes) == CUDA_SUCCESS)
    Found.Parameters.push_back(Place);
  return "";
}
