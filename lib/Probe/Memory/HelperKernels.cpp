#include "Probe/Memory/HelperKernels.h"

#include "Probe/Memory/HelperImage.h"
#include "Probe/Memory/device/HelperTypes.h"

#include <algorithm>

using namespace carve::probe;

Failure carve::probe::driverFailure(const char *Call, CUresult Result) {
  return Failure(std::string(Call) + " " + std::to_string(Result));
}

static uint32_t residentBlocks(const DriverApi &Driver) {
  CUdevice Device = 0;
  int Multiprocessors = 0, Threads = 0;
  if (Driver.CtxGetDevice(&Device) != CUDA_SUCCESS ||
      Driver.DeviceGetAttribute(&Multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                                Device) != CUDA_SUCCESS ||
      Driver.DeviceGetAttribute(&Threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                                Device) != CUDA_SUCCESS)
    return 1;
  return std::max(1u, uint32_t(Multiprocessors) * uint32_t(Threads) / helper::BlockThreads);
}

Failure HelperKernels::resolve(Loaded &Kernels) {
  CUresult Result = Driver.ModuleLoadData(&Kernels.Module, helperImage());
  if (Result != CUDA_SUCCESS)
    return driverFailure("cuModuleLoadData", Result);
  struct {
    const char *Name;
    CUfunction *Function;
  } Wanted[] = {{"copy", &Kernels.Copy},
                {"compare", &Kernels.Compare},
                {"difference", &Kernels.Difference},
                {"scan", &Kernels.Scan},
                {"read", &Kernels.Read}};
  for (const auto &[Name, Function] : Wanted) {
    std::string Whole = std::string(HelperKernelPrefix) + Name;
    Result = Driver.ModuleGetFunction(Function, Kernels.Module, Whole.c_str());
    if (Result != CUDA_SUCCESS)
      return driverFailure("cuModuleGetFunction", Result);
  }
  Kernels.Blocks = residentBlocks(Driver);
  return Failure::none();
}

Failure HelperKernels::load() {
  CUcontext Context = nullptr;
  CUresult Result = Driver.CtxGetCurrent(&Context);
  if (Result != CUDA_SUCCESS || !Context)
    return driverFailure("cuCtxGetCurrent", Result);
  unsigned long long Number = 0;
  if (!Driver.CtxGetId || Driver.CtxGetId(Context, &Number) != CUDA_SUCCESS)
    Number = reinterpret_cast<uint64_t>(Context);
  auto At = Contexts.find(Number);
  if (At == Contexts.end()) {
    Loaded Kernels;
    if (Failure Why = resolve(Kernels))
      return Why;
    At = Contexts.emplace(Number, Kernels).first;
  }
  Now = At->second;
  return Failure::none();
}

Failure HelperKernels::launch(CUstream Stream, CUfunction Function, uint64_t Work,
                              void **Parameters) {
  if (Work == 0)
    return Failure::none();
  auto Blocks = static_cast<unsigned>(std::min<uint64_t>(Work, Now.Blocks));
  CUresult Result = Driver.LaunchKernel(Function, Blocks, 1, 1, helper::BlockThreads, 1, 1, 0,
                                        Stream, Parameters, nullptr);
  return Result == CUDA_SUCCESS ? Failure::none() : driverFailure("cuLaunchKernel", Result);
}

Failure HelperKernels::copy(CUstream Stream, const DeviceTable &Table, bool ToLive) {
  DeviceTable T = Table;
  uint32_t Direction = ToLive;
  void *Parameters[] = {&T.Pieces, &T.Count, &T.Chunks, &Direction};
  return launch(Stream, Now.Copy, T.Chunks, Parameters);
}

Failure HelperKernels::compare(CUstream Stream, const DeviceTable &Table, CUdeviceptr Flags) {
  DeviceTable T = Table;
  void *Parameters[] = {&T.Pieces, &T.Count, &T.Chunks, &Flags};
  return launch(Stream, Now.Compare, T.Chunks, Parameters);
}

Failure HelperKernels::difference(CUstream Stream, const DeviceTable &Table, CUdeviceptr Total) {
  DeviceTable T = Table;
  void *Parameters[] = {&T.Pieces, &T.Count, &T.Chunks, &Total};
  return launch(Stream, Now.Difference, T.Chunks, Parameters);
}

Failure HelperKernels::scan(CUstream Stream, const DeviceTable &Table, CUdeviceptr Intervals,
                            uint32_t Count, CUdeviceptr Found) {
  DeviceTable T = Table;
  void *Parameters[] = {&T.Pieces, &T.Count, &T.Chunks, &Intervals, &Count, &Found};
  return launch(Stream, Now.Scan, T.Chunks, Parameters);
}

Failure HelperKernels::read(CUstream Stream, CUdeviceptr Data, uint64_t Bytes, CUdeviceptr Sink,
                            bool EvictFirst) {
  uint64_t Vectors = Bytes / 16;
  uint32_t Streaming = EvictFirst;
  void *Parameters[] = {&Data, &Vectors, &Sink, &Streaming};
  return launch(Stream, Now.Read, helper::chunksOf(Bytes), Parameters);
}
