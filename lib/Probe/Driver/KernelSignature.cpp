#include "Probe/Driver/KernelSignature.h"

#include "Probe/Driver/StreamCaptures.h"

using namespace carve::probe;

const char *carve::probe::kernelName(const DriverApi &Driver, const void *Handle) {
  const char *Name = nullptr;
  void *Function = const_cast<void *>(Handle);
  if (Driver.FuncGetName &&
      Driver.FuncGetName(&Name, static_cast<CUfunction>(Function)) == CUDA_SUCCESS && Name)
    return Name;
  if (Driver.KernelGetName &&
      Driver.KernelGetName(&Name, static_cast<CUkernel>(Function)) == CUDA_SUCCESS && Name)
    return Name;
  return nullptr;
}

CUmodule carve::probe::moduleOfFunction(const DriverApi &Driver, CUfunction Handle) {
  CUmodule Module = nullptr;
  int Registers = 0;
  // The functions for a CUfunction refuse a CUkernel, and the functions for a CUkernel know it.
  bool IsFunction =
      Driver.FuncGetAttribute && Driver.FuncGetModule &&
      Driver.FuncGetAttribute(&Registers, CU_FUNC_ATTRIBUTE_NUM_REGS, Handle) == CUDA_SUCCESS &&
      Driver.FuncGetModule(&Module, Handle) == CUDA_SUCCESS;
  return IsFunction ? Module : nullptr;
}

std::optional<std::vector<size_t>> carve::probe::parameterBytes(const DriverApi &Driver,
                                                                CUfunction Function) {
  if (!Driver.FuncGetParamInfo)
    return std::nullopt;
  std::vector<size_t> All;
  size_t Offset = 0, Bytes = 0;
  CUresult Result;
  while ((Result = Driver.FuncGetParamInfo(Function, All.size(), &Offset, &Bytes)) == CUDA_SUCCESS)
    All.push_back(Bytes);
  // With this error the driver says that there are no more parameters. Any other error does not say
  // that.
  if (Result != CUDA_ERROR_INVALID_VALUE)
    return std::nullopt;
  return All;
}

std::optional<std::vector<size_t>> carve::probe::parameterBytesOfHandle(const DriverApi &Driver,
                                                                        CUfunction Handle) {
  CaptureRelaxed Relaxed(Driver);
  CUfunction Function = Handle;
  if (!moduleOfFunction(Driver, Handle) &&
      (!Driver.KernelGetFunction ||
       Driver.KernelGetFunction(&Function, reinterpret_cast<CUkernel>(Handle)) != CUDA_SUCCESS))
    return std::nullopt;
  return parameterBytes(Driver, Function);
}
