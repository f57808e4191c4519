/// \file
/// Start, device and contexts of the stand-in. cuInit loads the injected library, as the driver's
/// does.

#include "unit/Probe/StandIn/Calls.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

using namespace carve::standin;

Driver &carve::standin::driver() {
  static auto *D = new Driver;
  return *D;
}

CuptiHooks &carve::standin::hooks() {
  static CuptiHooks Hooks;
  return Hooks;
}

unsigned carve::standin::nextCorrelation() {
  static std::atomic<unsigned> Next{1};
  return Next++;
}

void carve::standin::setDeviceMemory(size_t Bytes) {
  std::lock_guard<std::mutex> Guard(driver().Lock);
  driver().TotalBytes = Bytes;
}

static std::vector<Context *> &contextStack() {
  static thread_local std::vector<Context *> Stack;
  return Stack;
}

Context *carve::standin::currentContext() {
  return contextStack().empty() ? nullptr : contextStack().back();
}

CUresult carve::standin::contextStatus() {
  Context *C = currentContext();
  if (!C)
    return CUDA_ERROR_INVALID_CONTEXT;
  std::lock_guard<std::mutex> Guard(driver().Lock);
  return C->Broken;
}

static void loadInjection() {
  registerProbeKernels();
  const char *Path = std::getenv("CUDA_INJECTION64_PATH");
  if (!Path || !*Path)
    return;
  void *Library = ::dlopen(Path, RTLD_NOW);
  if (!Library) {
    std::puts(::dlerror());
    std::exit(99);
  }
  reinterpret_cast<int (*)()>(::dlsym(Library, "InitializeInjection"))();
  void *Cupti = ::dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (!Cupti)
    return;
  CuptiHooks &Hooks = hooks();
  Hooks.Activity = reinterpret_cast<decltype(Hooks.Activity)>(::dlsym(Cupti, "stubActivity"));
  Hooks.Callback = reinterpret_cast<decltype(Hooks.Callback)>(::dlsym(Cupti, "stubCallback"));
}

STANDIN_API cuInit(unsigned) {
  static std::once_flag Once;
  std::call_once(Once, loadInjection);
  return CUDA_SUCCESS;
}

STANDIN_API cuDriverGetVersion(int *Version) {
  *Version = 13000;
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGetCount(int *Count) {
  *Count = 1;
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGet(CUdevice *Device, int Ordinal) {
  *Device = Ordinal;
  return Ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

STANDIN_API cuDeviceGetName(char *Name, int Bytes, CUdevice) {
  std::snprintf(Name, size_t(Bytes), "%s", "Stand-in GPU");
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGetUuid(CUuuid *Uuid, CUdevice) {
  std::memset(Uuid->bytes, 7, sizeof Uuid->bytes);
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceTotalMem(size_t *Bytes, CUdevice) {
  *Bytes = driver().TotalBytes;
  return CUDA_SUCCESS;
}

STANDIN_API cuDeviceGetAttribute(int *Value, CUdevice_attribute Attribute, CUdevice) {
  // Never destroyed, because threads of the probe and the program may ask while the process ends.
  static const auto &Known = *new const std::map<int, int>{
      {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
      {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 4},
      {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, int(L2Bytes)},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 << 10},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 << 10},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 << 10},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
      {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
      {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
      {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
  };
  auto It = Known.find(Attribute);
  *Value = It == Known.end() ? 0 : It->second;
  return CUDA_SUCCESS;
}

STANDIN_API cuGetErrorName(CUresult Error, const char **Name) {
  static thread_local std::string Text;
  Text = "CUDA_ERROR_" + std::to_string(Error);
  *Name = Text.c_str();
  return CUDA_SUCCESS;
}

STANDIN_API cuGetErrorString(CUresult Error, const char **Text) {
  return cuGetErrorName(Error, Text);
}

static Context *makeContext(CUdevice Device) {
  auto *C = new Context;
  {
    std::lock_guard<std::mutex> Guard(driver().Lock);
    C->Id = driver().NextId++;
    C->Device = Device;
    C->Legacy = makeStream(C, /*Blocking=*/true);
    C->Legacy->Legacy = true;
    driver().Contexts.insert(C);
  }
  if (!hooks().Callback)
    return C;
  CUpti_ResourceData Resource{};
  Resource.context = reinterpret_cast<CUcontext>(C);
  hooks().Callback(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &Resource);
  return C;
}

STANDIN_API cuDevicePrimaryCtxRetain(CUcontext *Out, CUdevice Device) {
  return traced(CALL(cuDevicePrimaryCtxRetain){Out, Device}, [](auto &P, unsigned) {
    static std::once_flag Once;
    std::call_once(Once, [&] { driver().Primary = makeContext(P.dev); });
    *P.pctx = reinterpret_cast<CUcontext>(driver().Primary);
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }

STANDIN_API cuCtxCreate(CUcontext *Out, CUctxCreateParams *Params, unsigned Flags,
                        CUdevice Device) {
  return traced(CALL(cuCtxCreate_v4){Out, Params, Flags, Device}, [](auto &P, unsigned) {
    Context *C = makeContext(P.dev);
    contextStack().push_back(C);
    *P.pctx = reinterpret_cast<CUcontext>(C);
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuCtxDestroy(CUcontext C) {
  return traced(CALL(cuCtxDestroy_v2){C}, [](auto &P, unsigned) {
    auto *Gone = reinterpret_cast<Context *>(P.ctx);
    synchronize(Gone);
    if (hooks().Callback) {
      CUpti_ResourceData Resource{};
      Resource.context = P.ctx;
      hooks().Callback(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING,
                       &Resource);
    }
    std::erase(contextStack(), Gone);
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuCtxGetCurrent(CUcontext *Out) {
  *Out = reinterpret_cast<CUcontext>(currentContext());
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxSetCurrent(CUcontext C) {
  return traced(CALL(cuCtxSetCurrent){C}, [](auto &P, unsigned) {
    if (!contextStack().empty())
      contextStack().pop_back();
    if (P.ctx)
      contextStack().push_back(reinterpret_cast<Context *>(P.ctx));
    return CUDA_SUCCESS;
  });
}

STANDIN_API cuCtxPushCurrent(CUcontext C) {
  contextStack().push_back(reinterpret_cast<Context *>(C));
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxPopCurrent(CUcontext *Out) {
  if (contextStack().empty())
    return CUDA_ERROR_INVALID_CONTEXT;
  if (Out)
    *Out = reinterpret_cast<CUcontext>(contextStack().back());
  contextStack().pop_back();
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxGetDevice(CUdevice *Device) {
  Context *C = currentContext();
  *Device = C ? C->Device : 0;
  return C ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

STANDIN_API cuCtxGetId(CUcontext C, unsigned long long *Id) {
  *Id = (C ? reinterpret_cast<Context *>(C) : currentContext())->Id;
  return CUDA_SUCCESS;
}

STANDIN_API cuCtxGetStreamPriorityRange(int *Least, int *Greatest) {
  *Least = 0;
  *Greatest = -5;
  return CUDA_SUCCESS;
}

#undef cuCtxSynchronize
STANDIN_API cuCtxSynchronize() {
  CUpti_CallbackId Id = CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize;
  return traced(Id, "cuCtxSynchronize", 0, [](auto &, unsigned) -> CUresult {
    if (CUresult Status = forbiddenInCapture())
      return Status;
    if (CUresult Status = contextStatus())
      return Status;
    synchronize(currentContext());
    return contextStatus();
  });
}
