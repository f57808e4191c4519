/// \file
/// Launches of the stand-in. Arguments are copied at the call, the kernel's code runs on the
/// stream's thread, and leaves its activity record after that.

#include "unit/Probe/StandIn/Calls.h"

using namespace carve::standin;

void carve::standin::giveRecordsOtherIds() { driver().RecordsHaveOtherIds = true; }

static void leaveRecord(const StreamState &Stream, const KernelCode &Code, const KernelCall &Call,
                        unsigned Graph, unsigned Correlation, uint64_t StartNs, uint64_t EndNs) {
  if (!hooks().Activity)
    return;
  CUpti_ActivityKernel10 Record{};
  Record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  Record.name = Code.Name.c_str();
  Record.gridX = int(Call.Grid[0]);
  Record.gridY = int(Call.Grid[1]);
  Record.gridZ = int(Call.Grid[2]);
  Record.blockX = int(Call.Block[0]);
  Record.blockY = int(Call.Block[1]);
  Record.blockZ = int(Call.Block[2]);
  Record.dynamicSharedMemory = int(Call.DynamicSmemBytes);
  Record.registersPerThread = uint16_t(Code.Registers);
  Record.launchType = Call.Cooperative ? CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
                                       : CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
  Record.contextId = Stream.Owner->Id;
  Record.streamId = Stream.Id;
  constexpr unsigned OfNoCall = 1u << 30;
  Record.correlationId = driver().RecordsHaveOtherIds ? OfNoCall + Correlation : Correlation;
  Record.graphId = Graph;
  Record.graphNodeId = Graph;
  Record.start = StartNs;
  Record.end = Record.completed = EndNs;
  hooks().Activity(&Record);
}

CUresult carve::standin::runKernel(StreamState &Stream, const KernelCode &Code,
                                   const KernelCall &Call, unsigned Graph, unsigned Correlation) {
  {
    std::lock_guard<std::mutex> Guard(driver().Lock);
    if (Stream.Owner->Broken)
      return Stream.Owner->Broken;
  }
  uint64_t StartNs = std::max(nowNs(), Stream.ClockNs);
  CUresult Result = Code.Body(Call);
  Stream.ClockNs = StartNs + (Code.TimeOf ? Code.TimeOf(Call) : Code.TimeNs);
  if (Result != CUDA_SUCCESS) {
    std::lock_guard<std::mutex> Guard(driver().Lock);
    Stream.Owner->Broken = Result;
    return Result;
  }
  leaveRecord(Stream, Code, Call, Graph, Correlation, StartNs, Stream.ClockNs);
  return CUDA_SUCCESS;
}

std::vector<std::vector<char>> carve::standin::copyArguments(CUfunction Function, void **Params,
                                                             void **Extra) {
  const KernelCode &Code = *reinterpret_cast<Entry *>(Function)->Code;
  std::vector<std::vector<char>> Arguments;
  const char *Buffer = nullptr;
  for (void **E = Extra; E && *E != CU_LAUNCH_PARAM_END; E += 2)
    if (*E == CU_LAUNCH_PARAM_BUFFER_POINTER)
      Buffer = static_cast<const char *>(E[1]);
  for (size_t I = 0; I < Code.ArgumentBytes.size(); ++I) {
    size_t Offset = 0, Bytes = 0;
    (void)cuFuncGetParamInfo(Function, I, &Offset, &Bytes);
    const char *From = Buffer ? Buffer + Offset : static_cast<const char *>(Params[I]);
    Arguments.emplace_back(From, From + Bytes);
  }
  return Arguments;
}

static CUresult launch(CUfunction Function, KernelCall Call, CUstream Handle, void **Params,
                       void **Extra, unsigned Correlation) {
  if (CUresult Status = contextStatus())
    return Status;
  auto Stream = streamOf(Handle);
  if (!Function || !Stream)
    return CUDA_ERROR_INVALID_HANDLE;
  std::shared_ptr<const KernelCode> Code = reinterpret_cast<Entry *>(Function)->Code;
  if (Context *Owner = reinterpret_cast<Entry *>(Function)->Owner->Owner;
      Owner && Owner != Stream->Owner)
    return CUDA_ERROR_INVALID_HANDLE;
  if (Call.Block[0] * Call.Block[1] * Call.Block[2] > unsigned(Code->MaxThreadsPerBlock))
    return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  int MostSmemBytes = 0;
  (void)cuFuncGetAttribute(&MostSmemBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           Function);
  if (Call.DynamicSmemBytes > unsigned(MostSmemBytes))
    return CUDA_ERROR_INVALID_VALUE;
  Call.Variables = &reinterpret_cast<Entry *>(Function)->Owner->Globals;
  Call.Arguments = copyArguments(Function, Params, Extra);
  {
    std::lock_guard<std::mutex> Guard(driver().Lock);
    if (Stream->Captured) {
      GraphNode Node;
      Node.Type = CU_GRAPH_NODE_TYPE_KERNEL;
      Node.Function = Function;
      Node.Call = std::move(Call);
      Stream->Captured->Nodes.push_back(std::move(Node));
      return CUDA_SUCCESS;
    }
  }
  submit(Stream, [Code, Call, Correlation](StreamState &S) {
    runKernel(S, *Code, Call, /*Graph=*/0, Correlation);
  });
  return CUDA_SUCCESS;
}

template <class P> static KernelCall shapeOf(const P &Params) {
  KernelCall Call;
  Call.Grid = {Params.gridDimX, Params.gridDimY, Params.gridDimZ};
  Call.Block = {Params.blockDimX, Params.blockDimY, Params.blockDimZ};
  Call.DynamicSmemBytes = Params.sharedMemBytes;
  return Call;
}

#define SHAPE                                                                                      \
  unsigned GridX, unsigned GridY, unsigned GridZ, unsigned BlockX, unsigned BlockY,                \
      unsigned BlockZ, unsigned SmemBytes
#define SHAPE_ARGUMENTS GridX, GridY, GridZ, BlockX, BlockY, BlockZ, SmemBytes

STANDIN_API cuLaunchKernel(CUfunction Function, SHAPE, CUstream Stream, void **Params,
                           void **Extra) {
  return traced(CALL(cuLaunchKernel){Function, SHAPE_ARGUMENTS, Stream, Params, Extra},
                [](auto &P, unsigned Correlation) {
                  return launch(P.f, shapeOf(P), P.hStream, P.kernelParams, P.extra, Correlation);
                });
}

STANDIN_API cuLaunchKernel_ptsz(CUfunction Function, SHAPE, CUstream Stream, void **Params,
                                void **Extra) {
  return traced(CALL(cuLaunchKernel_ptsz){Function, SHAPE_ARGUMENTS, Stream, Params, Extra},
                [](auto &P, unsigned Correlation) {
                  return launch(P.f, shapeOf(P), P.hStream ? P.hStream : CU_STREAM_PER_THREAD,
                                P.kernelParams, P.extra, Correlation);
                });
}

STANDIN_API cuLaunchCooperativeKernel(CUfunction Function, SHAPE, CUstream Stream, void **Params) {
  return traced(CALL(cuLaunchCooperativeKernel){Function, SHAPE_ARGUMENTS, Stream, Params},
                [](auto &P, unsigned Correlation) {
                  KernelCall Call = shapeOf(P);
                  Call.Cooperative = true;
                  return launch(P.f, Call, P.hStream, P.kernelParams, nullptr, Correlation);
                });
}

STANDIN_API cuLaunchKernelEx(const CUlaunchConfig *Config, CUfunction Function, void **Params,
                             void **Extra) {
  return traced(CALL(cuLaunchKernelEx){Config, Function, Params, Extra},
                [](auto &P, unsigned Correlation) {
                  const CUlaunchConfig &C = *P.config;
                  KernelCall Call = shapeOf(C);
                  for (unsigned I = 0; I < C.numAttrs; ++I)
                    if (C.attrs[I].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
                      Call.Cooperative = C.attrs[I].value.cooperative != 0;
                  return launch(P.f, Call, C.hStream, P.kernelParams, P.extra, Correlation);
                });
}
