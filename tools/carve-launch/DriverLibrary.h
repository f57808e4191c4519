/// \file
/// Finds the driver's functions that a launch needs in libcuda.so.1 at run time. The tool does not
/// link the driver, because it is also built on machines without one.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <cuda.h>

namespace carve {

/// The functions, with the symbols to which cuda.h maps their names.
#define CARVE_DRIVER_FUNCTIONS(X)                                                                  \
  X(cuInit, "cuInit")                                                                              \
  X(cuGetErrorName, "cuGetErrorName")                                                              \
  X(cuDeviceGet, "cuDeviceGet")                                                                    \
  X(cuDeviceGetName, "cuDeviceGetName")                                                            \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute")                                                  \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")                                          \
  X(cuCtxSetCurrent, "cuCtxSetCurrent")                                                            \
  X(cuCtxSetLimit, "cuCtxSetLimit")                                                                \
  X(cuCtxSynchronize, "cuCtxSynchronize")                                                          \
  X(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity")                                \
  X(cuMemAddressReserve, "cuMemAddressReserve")                                                    \
  X(cuMemAddressFree, "cuMemAddressFree")                                                          \
  X(cuMemCreate, "cuMemCreate")                                                                    \
  X(cuMemMap, "cuMemMap")                                                                          \
  X(cuMemSetAccess, "cuMemSetAccess")                                                              \
  X(cuMemcpyHtoD, "cuMemcpyHtoD_v2")                                                               \
  X(cuMemcpyDtoH, "cuMemcpyDtoH_v2")                                                               \
  X(cuMemsetD8, "cuMemsetD8_v2")                                                                   \
  X(cuLibraryLoadData, "cuLibraryLoadData")                                                        \
  X(cuLibraryGetKernel, "cuLibraryGetKernel")                                                      \
  X(cuLibraryGetGlobal, "cuLibraryGetGlobal")                                                      \
  X(cuKernelSetAttribute, "cuKernelSetAttribute")                                                  \
  X(cuModuleLoadData, "cuModuleLoadData")                                                          \
  X(cuModuleGetFunction, "cuModuleGetFunction")                                                    \
  X(cuModuleGetGlobal, "cuModuleGetGlobal_v2")                                                     \
  X(cuFuncSetAttribute, "cuFuncSetAttribute")                                                      \
  X(cuLaunchKernelEx, "cuLaunchKernelEx")

/// A pointer to each of these functions.
struct DriverLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a name
#define CARVE_MEMBER(Function, Name) decltype(&::Function) Function = nullptr;
  CARVE_DRIVER_FUNCTIONS(CARVE_MEMBER)
#undef CARVE_MEMBER

  /// Loads the driver. Fails if there is none, or if it lacks one of these functions (drivers
  /// before CUDA 12.0).
  static llvm::Expected<DriverLibrary> load();

  /// Returns success, or the error `<What>: CUDA_ERROR_...` if \p Result is one.
  llvm::Error check(CUresult Result, const llvm::Twine &What) const;
};

} // namespace carve
