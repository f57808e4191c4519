/// \file
/// A stand-in for libcupti with one subscriber and one activity buffer. The environment says:
///   STUB_CUPTI_VERSION, STUB_CUPTI_SUBSCRIBE    what these calls return
///   STUB_CUPTI_DROPPED                          how many records it says were dropped
///   STUB_CUPTI_HANG                             the forced flush never returns
///   STUB_CUPTI_THREAD                           it starts a thread with its subscriber

#include "StubControl.h"
#include "StubProfiler.h"
#include "unit/Probe/StandIn/StandIn.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <thread>
#include <unistd.h>
#include <utility>

#define STUB_API extern "C" __attribute__((visibility("default")))

static std::recursive_mutex Lock;
static std::atomic<CUpti_CallbackFunc> Callback;
static void *CallbackUser;
static std::shared_mutex EnabledLock;
/// The state is never destroyed: at the exit of the process other threads may still make calls.
static auto &Enabled = *new std::set<std::pair<int, unsigned>>;
static CUpti_BuffersCallbackRequestFunc Request;
static CUpti_BuffersCallbackCompleteFunc Complete;
static bool KernelsEnabled;
static uint8_t *Buffer;
static size_t BufferBytes, ValidBytes;

static unsigned setting(const char *Name, unsigned Default) {
  const char *Value = std::getenv(Name);
  return Value ? unsigned(std::atoi(Value)) : Default;
}

STUB_API CUptiResult cuptiGetVersion(uint32_t *Version) {
  *Version = setting("STUB_CUPTI_VERSION", CUPTI_API_VERSION);
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *Subscriber, CUpti_CallbackFunc Function,
                                    void *User) {
  auto Result = static_cast<CUptiResult>(setting("STUB_CUPTI_SUBSCRIBE", CUPTI_SUCCESS));
  if (Result != CUPTI_SUCCESS)
    return Result;
  if (setting("STUB_CUPTI_THREAD", 0))
    std::thread([] {
      while (true)
        ::pause();
    }).detach();
  CallbackUser = User;
  Callback = Function;
  *Subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&Callback);
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  Callback = nullptr;
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiEnableCallback(uint32_t On, CUpti_SubscriberHandle,
                                         CUpti_CallbackDomain Domain, CUpti_CallbackId Id) {
  std::lock_guard<std::shared_mutex> Guard(EnabledLock);
  if (On)
    Enabled.emplace(Domain, Id);
  else
    Enabled.erase({Domain, Id});
  return CUPTI_SUCCESS;
}

/// The names of the real calls do not matter here.
STUB_API CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain Domain, uint32_t Id,
                                          const char **Name) {
  if (Domain != CUPTI_CB_DOMAIN_DRIVER_API || Id > carve::standin::UnheardOfId)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *Name = Id == carve::standin::UnheardOfId ? "cuMemUnheardOf" : "cuCall";
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiGetDeviceId(CUcontext, uint32_t *Device) {
  *Device = 0;
  return CUPTI_SUCCESS;
}

/// Returns a function of the stand-in driver, which is loaded before this library.
template <class F> static F driverCall(const char *Name) {
  void *Driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<F>(Driver ? ::dlsym(Driver, Name) : nullptr);
}

STUB_API CUptiResult cuptiGetContextId(CUcontext Context, uint32_t *Id) {
  auto *Get = driverCall<decltype(&cuCtxGetId)>("cuCtxGetId");
  unsigned long long Number = 0;
  if (!Get || Get(Context, &Number) != CUDA_SUCCESS)
    return CUPTI_ERROR_NOT_SUPPORTED;
  *Id = uint32_t(Number);
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiGetStreamIdEx(CUcontext, CUstream Stream, uint8_t, uint32_t *Id) {
  auto *Get = driverCall<decltype(&cuStreamGetId)>("cuStreamGetId");
  unsigned long long Number = 0;
  if (!Get || Get(Stream, &Number) != CUDA_SUCCESS)
    return CUPTI_ERROR_NOT_SUPPORTED;
  *Id = uint32_t(Number);
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc Requested,
                                                    CUpti_BuffersCallbackCompleteFunc Completed) {
  Request = Requested;
  Complete = Completed;
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiActivityEnable(CUpti_ActivityKind Kind) {
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  KernelsEnabled |= Kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  return CUPTI_SUCCESS;
}

static void deliver() {
  uint8_t *Full = std::exchange(Buffer, nullptr);
  if (Full)
    Complete(nullptr, 0, Full, BufferBytes, ValidBytes);
}

STUB_API CUptiResult cuptiActivityFlushAll(uint32_t Flag) {
  while (Flag && setting("STUB_CUPTI_HANG", 0))
    ::pause();
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  deliver();
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiActivityGetNextRecord(uint8_t *From, size_t Valid,
                                                CUpti_Activity **Record) {
  auto *Next =
      *Record ? reinterpret_cast<uint8_t *>(*Record) + sizeof(CUpti_ActivityKernel10) : From;
  if (Next + sizeof(CUpti_ActivityKernel10) > From + Valid)
    return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *Record = reinterpret_cast<CUpti_Activity *>(Next);
  return CUPTI_SUCCESS;
}

STUB_API CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t *Dropped) {
  *Dropped = setting("STUB_CUPTI_DROPPED", 0);
  return CUPTI_SUCCESS;
}

void stubActivity(const CUpti_ActivityKernel10 *Record) {
  stubProfiledKernel(Record->end - Record->start);
  std::lock_guard<std::recursive_mutex> Guard(Lock);
  if (!KernelsEnabled)
    return;
  if (Buffer && ValidBytes + sizeof *Record > BufferBytes)
    deliver();
  size_t MaxRecords = 0;
  if (!Buffer) {
    Request(&Buffer, &BufferBytes, &MaxRecords);
    ValidBytes = 0;
  }
  std::memcpy(Buffer + ValidBytes, Record, sizeof *Record);
  ValidBytes += sizeof *Record;
}

void stubCallback(CUpti_CallbackDomain Domain, CUpti_CallbackId Id, const void *Data) {
  CUpti_CallbackFunc Subscribed = Callback;
  {
    std::shared_lock<std::shared_mutex> Guard(EnabledLock);
    if (!Subscribed || !Enabled.count({Domain, Id}))
      return;
  }
  Subscribed(CallbackUser, Domain, Id, Data);
}
