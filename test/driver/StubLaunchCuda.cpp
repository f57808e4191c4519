/// \file
/// A stand-in for libcuda.so.1 under carve-launch: device memory is memory of the process, mapped
/// where it is asked for. Containers begin with `stub`; the kernels are
///   increment(pointer, count)   adds the variable Step to each byte
///   moody(pointer, count)       leaves other bytes in every run
///   broken()                    breaks the context
/// Addresses are given at multiples of 32 MiB only.
/// STUB_TAKEN=FILE: while FILE is there, no such address is given; the first refusal removes it.

#include <cuda.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

#define STUB_API extern "C" __attribute__((visibility("default")))

static unsigned char Step;
static bool Broken;

STUB_API CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
STUB_API CUresult cuGetErrorName(CUresult Result, const char **Name) {
  *Name = Result == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS" : "CUDA_ERROR_STUB";
  return CUDA_SUCCESS;
}
STUB_API CUresult cuDeviceGet(CUdevice *Device, int Ordinal) {
  *Device = Ordinal;
  return CUDA_SUCCESS;
}
STUB_API CUresult cuDeviceGetName(char *Name, int Bytes, CUdevice) {
  std::strncpy(Name, "Stub GPU", size_t(Bytes));
  return CUDA_SUCCESS;
}
STUB_API CUresult cuDeviceGetAttribute(int *Value, CUdevice_attribute Attribute, CUdevice) {
  *Value = Attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
  return CUDA_SUCCESS;
}
STUB_API CUresult cuDevicePrimaryCtxRetain(CUcontext *Context, CUdevice) {
  *Context = nullptr;
  return CUDA_SUCCESS;
}
STUB_API CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
STUB_API CUresult cuCtxSetLimit(CUlimit, size_t) { return CUDA_SUCCESS; }
STUB_API CUresult cuCtxSynchronize() { return Broken ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS; }

STUB_API CUresult cuMemGetAllocationGranularity(size_t *Bytes, const CUmemAllocationProp *,
                                                CUmemAllocationGranularity_flags) {
  *Bytes = 2 << 20;
  return CUDA_SUCCESS;
}
STUB_API CUresult cuMemAddressReserve(CUdeviceptr *Given, size_t Bytes, size_t, CUdeviceptr Wanted,
                                      unsigned long long) {
  // The real driver does so for addresses at which it has nothing yet.
  if (Wanted % (32u << 20) != 0) {
    *Given = (Wanted / (32u << 20) + 1) * (32u << 20);
    return CUDA_SUCCESS;
  }
  const char *Taken = std::getenv("STUB_TAKEN");
  if (Taken && ::unlink(Taken) == 0) {
    *Given = Wanted + (1ull << 40);
    return CUDA_SUCCESS;
  }
  void *At = ::mmap(reinterpret_cast<void *>(Wanted), Bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
  *Given = reinterpret_cast<CUdeviceptr>(At);
  return At == MAP_FAILED ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
STUB_API CUresult cuMemAddressFree(CUdeviceptr, size_t) { return CUDA_SUCCESS; }
STUB_API CUresult cuMemCreate(CUmemGenericAllocationHandle *Handle, size_t,
                              const CUmemAllocationProp *, unsigned long long) {
  *Handle = 1;
  return CUDA_SUCCESS;
}
STUB_API CUresult cuMemMap(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle,
                           unsigned long long) {
  return CUDA_SUCCESS;
}
STUB_API CUresult cuMemSetAccess(CUdeviceptr At, size_t Bytes, const CUmemAccessDesc *, size_t) {
  return ::mprotect(reinterpret_cast<void *>(At), Bytes, PROT_READ | PROT_WRITE) == 0
             ? CUDA_SUCCESS
             : CUDA_ERROR_INVALID_VALUE;
}
STUB_API CUresult cuMemcpyHtoD_v2(CUdeviceptr To, const void *From, size_t Bytes) {
  std::memcpy(reinterpret_cast<void *>(To), From, Bytes);
  return CUDA_SUCCESS;
}
STUB_API CUresult cuMemcpyDtoH_v2(void *To, CUdeviceptr From, size_t Bytes) {
  std::memcpy(To, reinterpret_cast<void *>(From), Bytes);
  return CUDA_SUCCESS;
}
STUB_API CUresult cuMemsetD8_v2(CUdeviceptr At, unsigned char Byte, size_t Bytes) {
  std::memset(reinterpret_cast<void *>(At), Byte, Bytes);
  return CUDA_SUCCESS;
}

/// The handle of a kernel is the address of its name.
static CUresult kernelNamed(const char *Name, void **Kernel) {
  for (const char *Known : {"increment", "moody", "broken"})
    if (std::string(Known) == Name) {
      *Kernel = const_cast<char *>(Known);
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_NOT_FOUND;
}
static CUresult load(const void *Image) {
  return std::memcmp(Image, "stub", 4) == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_IMAGE;
}
static CUresult global(CUdeviceptr *At, size_t *Bytes, const char *Name) {
  *At = reinterpret_cast<CUdeviceptr>(&Step);
  *Bytes = 1;
  return std::string(Name) == "Step" ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

STUB_API CUresult cuLibraryLoadData(CUlibrary *Library, const void *Image, CUjit_option *, void **,
                                    unsigned, CUlibraryOption *, void **, unsigned) {
  *Library = reinterpret_cast<CUlibrary>(1);
  return load(Image);
}
STUB_API CUresult cuLibraryGetKernel(CUkernel *Kernel, CUlibrary, const char *Name) {
  return kernelNamed(Name, reinterpret_cast<void **>(Kernel));
}
STUB_API CUresult cuLibraryGetGlobal(CUdeviceptr *At, size_t *Bytes, CUlibrary, const char *Name) {
  return global(At, Bytes, Name);
}
STUB_API CUresult cuKernelSetAttribute(CUfunction_attribute, int, CUkernel, CUdevice) {
  return CUDA_SUCCESS;
}
STUB_API CUresult cuModuleLoadData(CUmodule *, const void *Image) { return load(Image); }
STUB_API CUresult cuModuleGetFunction(CUfunction *Function, CUmodule, const char *Name) {
  return kernelNamed(Name, reinterpret_cast<void **>(Function));
}
STUB_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *At, size_t *Bytes, CUmodule, const char *Name) {
  return global(At, Bytes, Name);
}
STUB_API CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }

STUB_API CUresult cuLaunchKernelEx(const CUlaunchConfig *Config, CUfunction Function,
                                   void **Parameters, void **) {
  std::string Kernel = reinterpret_cast<const char *>(Function);
  if (Config->gridDimX != 4)
    return CUDA_ERROR_INVALID_VALUE;
  if (Kernel == "broken") {
    Broken = true;
    return CUDA_SUCCESS;
  }
  auto *At = *static_cast<unsigned char **>(Parameters[0]);
  auto Count = *static_cast<uint64_t *>(Parameters[1]);
  timespec Now{};
  ::clock_gettime(CLOCK_MONOTONIC, &Now);
  if (Kernel == "moody")
    std::memcpy(At, &Now, sizeof Now);
  else
    for (uint64_t I = 0; I < Count; ++I)
      At[I] = static_cast<unsigned char>(At[I] + Step);
  return CUDA_SUCCESS;
}
