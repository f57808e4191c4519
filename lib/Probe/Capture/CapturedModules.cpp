#include "Probe/Capture/CapturedModules.h"

#include "Probe/Driver/KernelSignature.h"
#include "Probe/Driver/LoadedHandles.h"
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

void CapturedModules::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  const void *Handle = loadedBy(Id, Call).Handle;
  if (!Handle)
    return;
  auto New = std::make_shared<LoadedContainer>();
  New->Call = Call.functionName;
  const void **Image = imageParameter(Id, Call.functionParams);
  if (const char *Path = pathParameter(Id, Call.functionParams)) {
    if (auto File = loadFile(Path)) {
      New->Copy.assign(static_cast<const char *>(File->Data), File->Bytes);
      unloadFile(*File);
    }
  } else if (auto Found = findLoadedContainer(Image ? *Image : nullptr)) {
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
  // The driver may reuse the handle of an unloaded module.
  if (New->Data)
    Containers[Handle] = std::move(New);
  else
    Containers.erase(Handle);
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

Failure CapturedModules::find(CUfunction Handle, Kernel &Found) {
  CUlibrary Library = nullptr;
  CUmodule Module = moduleOfFunction(Driver, Handle);
  if (Module) {
    Found.Function = Handle;
  } else {
    auto Kernel = reinterpret_cast<CUkernel>(Handle);
    if (!Driver.KernelGetFunction || !Driver.KernelGetLibrary ||
        Driver.KernelGetFunction(&Found.Function, Kernel) != CUDA_SUCCESS ||
        Driver.KernelGetLibrary(&Library, Kernel) != CUDA_SUCCESS)
      return Failure("the kernel's module is not known");
  }
  Found.Container = containerOf(Library ? static_cast<const void *>(Library) : Module);
  if (!Found.Container && !Library && Api.LibraryGetModule) {
    // The handle is the function of a library's kernel, so its module is the library's.
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
    return Failure("the kernel's module was not loaded from a fatbinary or cubin");
  findVariables(Library, Module, Found);
  if (!Driver.FuncGetParamInfo)
    return Failure("the driver does not tell the kernel's parameters (it needs CUDA 12.4)");
  ParameterPlace Place;
  while (Driver.FuncGetParamInfo(Found.Function, Found.Parameters.size(), &Place.Offset,
                                 &Place.Bytes) == CUDA_SUCCESS)
    Found.Parameters.push_back(Place);
  return Failure::none();
}
