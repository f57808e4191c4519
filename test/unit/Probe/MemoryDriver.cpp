#include "unit/Probe/MemoryDriver.h"

#include "Probe/Memory/HelperImage.h"
#include "unit/Probe/EmulatedHelper.h"

#include <cstdlib>
#include <cstring>
#include <utility>

using namespace carve;
using carve::test::MemoryDriver;

static MemoryDriver *Driver = nullptr;
static constexpr size_t Granularity = 4096;

MemoryDriver::MemoryDriver() { Driver = this; }

MemoryDriver::~MemoryDriver() {
  for (void *Memory : Owned)
    std::free(Memory);
  Driver = nullptr;
}

CUdeviceptr MemoryDriver::programMemory(size_t Bytes, size_t Remainder) {
  // The block ends where the allocation ends.
  void *Memory = nullptr;
  if (posix_memalign(&Memory, 256, Remainder + Bytes) != 0)
    std::abort();
  Owned.push_back(Memory);
  std::memset(Memory, 0, Remainder + Bytes);
  CUdeviceptr Address = reinterpret_cast<CUdeviceptr>(Memory) + Remainder;
  Known[Address] = Bytes;
  return Address;
}

static CUresult giveMemory(CUdeviceptr *Out, size_t Bytes) {
  void *Memory = nullptr;
  if (posix_memalign(&Memory, Granularity, Bytes) != 0)
    return CUDA_ERROR_OUT_OF_MEMORY;
  *Out = reinterpret_cast<CUdeviceptr>(Memory);
  return CUDA_SUCCESS;
}

static bool use(size_t Bytes) {
  if (Driver->UsedBytes + Bytes > Driver->DeviceBytes)
    return false;
  Driver->UsedBytes += Bytes;
  return true;
}

static CUresult memAlloc(CUdeviceptr *Out, size_t Bytes) {
  if (!use(Bytes))
    return CUDA_ERROR_OUT_OF_MEMORY;
  CUresult Result = giveMemory(Out, Bytes);
  Driver->Known[*Out] = Bytes;
  return Result;
}

static CUresult memFree(CUdeviceptr Address) {
  auto At = Driver->Known.find(Address);
  if (At == Driver->Known.end())
    return CUDA_ERROR_INVALID_VALUE;
  Driver->UsedBytes -= At->second;
  Driver->Known.erase(At);
  std::free(reinterpret_cast<void *>(Address));
  return CUDA_SUCCESS;
}

static CUresult deviceAttribute(int *Value, CUdevice_attribute Attribute, CUdevice) {
  *Value = 2048;
  if (Attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
    *Value = Driver->L2Bytes;
  if (Attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
    *Value = Driver->MapsMemory;
  return CUDA_SUCCESS;
}

static CUresult addressRange(CUdeviceptr *Base, size_t *Bytes, CUdeviceptr Address) {
  auto Next = Driver->Known.upper_bound(Address);
  if (Next == Driver->Known.begin() || Address - std::prev(Next)->first >= std::prev(Next)->second)
    return CUDA_ERROR_NOT_FOUND;
  *Base = std::prev(Next)->first;
  *Bytes = std::prev(Next)->second;
  return CUDA_SUCCESS;
}

static CUresult launchKernel(CUfunction Function, unsigned GridX, unsigned GridY, unsigned GridZ,
                             unsigned, unsigned, unsigned, unsigned, CUstream, void **Parameters,
                             void **) {
  const auto &Name = *reinterpret_cast<std::string *>(Function);
  if (GridX == 0 || GridY != 1 || GridZ != 1 || !test::runEmulated(Name, Parameters))
    return CUDA_ERROR_INVALID_VALUE;
  Driver->Launches.push_back(Name.substr(std::strlen(probe::HelperKernelPrefix)));
  if (Driver->Launches.back() == "read")
    (*static_cast<uint32_t *>(Parameters[3]) ? Driver->EvictFirstBytes : Driver->ReadBytes) +=
        *static_cast<uint64_t *>(Parameters[1]) * 16;
  return CUDA_SUCCESS;
}

static CUresult getFunction(CUfunction *Function, CUmodule, const char *Name) {
  // Kernels are known by their names for as long as the tests run.
  static std::map<std::string, std::string> Names;
  *Function =
      reinterpret_cast<CUfunction>(&Names.try_emplace(std::string(Name), Name).first->second);
  return CUDA_SUCCESS;
}

static CUresult streamQuery(CUstream) {
  if (Driver->NotReady > 0) {
    --Driver->NotReady;
    return CUDA_ERROR_NOT_READY;
  }
  return Driver->StreamResult;
}

static CUresult exchangeCaptureMode(CUstreamCaptureMode *Mode) {
  std::swap(*Mode, Driver->CaptureMode);
  ++Driver->CaptureExchanges;
  return CUDA_SUCCESS;
}

static void mapping(probe::DriverApi &Api) {
  Api.MemAddressReserve = [](CUdeviceptr *Out, size_t Bytes, size_t, CUdeviceptr,
                             unsigned long long) { return giveMemory(Out, Bytes); };
  Api.MemAddressFree = [](CUdeviceptr Address, size_t) {
    std::free(reinterpret_cast<void *>(Address));
    return CUDA_SUCCESS;
  };
  Api.MemGetAllocationGranularity = [](size_t *Bytes, const CUmemAllocationProp *,
                                       CUmemAllocationGranularity_flags) {
    *Bytes = Granularity;
    return CUDA_SUCCESS;
  };
  Api.MemCreate = [](CUmemGenericAllocationHandle *Handle, size_t Bytes,
                     const CUmemAllocationProp *, unsigned long long) {
    *Handle = Bytes;
    return Bytes % Granularity == 0 && use(Bytes) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  };
  Api.MemRelease = [](CUmemGenericAllocationHandle) { return CUDA_SUCCESS; };
  Api.MemMap = [](CUdeviceptr Address, size_t Bytes, size_t, CUmemGenericAllocationHandle,
                  unsigned long long) {
    Driver->Known[Address] = Bytes;
    return CUDA_SUCCESS;
  };
  Api.MemUnmap = [](CUdeviceptr Address, size_t Bytes) {
    Driver->UsedBytes -= Bytes;
    return Driver->Known.erase(Address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  Api.MemSetAccess = [](CUdeviceptr, size_t, const CUmemAccessDesc *, size_t) {
    return CUDA_SUCCESS;
  };
}

static void copies(probe::DriverApi &Api) {
  Api.MemcpyHtoDAsync = [](CUdeviceptr To, const void *From, size_t Bytes, CUstream) {
    std::memcpy(reinterpret_cast<void *>(To), From, Bytes);
    return CUDA_SUCCESS;
  };
  Api.MemcpyDtoHAsync = [](void *To, CUdeviceptr From, size_t Bytes, CUstream) {
    std::memcpy(To, reinterpret_cast<void *>(From), Bytes);
    return CUDA_SUCCESS;
  };
  Api.MemsetD8Async = [](CUdeviceptr At, unsigned char Value, size_t Bytes, CUstream) {
    std::memset(reinterpret_cast<void *>(At), Value, Bytes);
    Driver->FilledBytes += Bytes;
    return CUDA_SUCCESS;
  };
}

probe::DriverApi MemoryDriver::api() const {
  probe::DriverApi Api;
  Api.DeviceGetAttribute = deviceAttribute;
  Api.CtxGetCurrent = [](CUcontext *Out) {
    *Out = Driver->Context;
    return CUDA_SUCCESS;
  };
  Api.CtxGetDevice = [](CUdevice *Out) {
    *Out = 0;
    return CUDA_SUCCESS;
  };
  Api.CtxGetId = [](CUcontext, unsigned long long *Out) {
    *Out = Driver->ContextNumber;
    return CUDA_SUCCESS;
  };
  Api.ThreadExchangeStreamCaptureMode = exchangeCaptureMode;
  Api.ModuleLoadData = [](CUmodule *, const void *Image) {
    // This is the magic number of a fat binary.
    uint32_t Magic;
    std::memcpy(&Magic, Image, sizeof Magic);
    ++Driver->ModulesLoaded;
    return Magic == 0xba55ed50 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
  };
  Api.ModuleGetFunction = getFunction;
  Api.LaunchKernel = launchKernel;
  Api.StreamQuery = streamQuery;
  Api.MemGetInfo = [](size_t *Free, size_t *Total) {
    *Free = Driver->DeviceBytes - Driver->UsedBytes;
    *Total = Driver->DeviceBytes;
    return CUDA_SUCCESS;
  };
  Api.MemGetAddressRange = addressRange;
  Api.MemAlloc = memAlloc;
  Api.MemFree = memFree;
  mapping(Api);
  copies(Api);
  return Api;
}
