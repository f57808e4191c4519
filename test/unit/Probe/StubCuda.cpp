/// \file
/// A stand-in for libcuda.so.1 with one device, and with functions whose handles are their names.
/// Handles that begin with `K` are CUkernels, which cuFuncGetName of this driver refuses.

#include <cuda.h>

#include <cstring>

#define STUB_API extern "C" __attribute__((visibility("default")))

STUB_API CUresult cuDriverGetVersion(int *Version) {
  *Version = 13000;
  return CUDA_SUCCESS;
}

STUB_API CUresult cuDeviceGet(CUdevice *Device, int Ordinal) {
  *Device = Ordinal;
  return Ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

STUB_API CUresult cuDeviceGetName(char *Name, int Bytes, CUdevice) {
  std::strncpy(Name, "Stub\tGPU", size_t(Bytes));
  return CUDA_SUCCESS;
}

STUB_API CUresult cuDeviceGetUuid(CUuuid *Uuid, CUdevice) {
  for (int I = 0; I < 16; ++I)
    Uuid->bytes[I] = char(0xf0 + I);
  return CUDA_SUCCESS;
}

STUB_API CUresult cuDeviceTotalMem(size_t *Bytes, CUdevice) {
  *Bytes = 1000;
  return CUDA_SUCCESS;
}

STUB_API CUresult cuDeviceGetAttribute(int *Value, CUdevice_attribute Attribute, CUdevice) {
  *Value = Attribute;
  return CUDA_SUCCESS;
}

STUB_API CUresult cuFuncGetName(const char **Name, CUfunction Function) {
  *Name = reinterpret_cast<const char *>(Function);
  return **Name == 'K' ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}

STUB_API CUresult cuKernelGetName(const char **Name, CUkernel Kernel) {
  *Name = reinterpret_cast<const char *>(Kernel);
  return CUDA_SUCCESS;
}
