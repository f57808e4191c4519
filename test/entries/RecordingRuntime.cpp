// A stand-in for the CUDA runtime, for random programs (EntryPrograms.h) on a machine without a
// GPU. It runs nothing on a device, but keeps what a program sees: handles, streams that are
// captured, graphs, launches that are refused. Every launch becomes a line of the file that
// CARVE_ENTRY_RECORD names: the step of the program, how the runtime was called, the kernel that it
// was called for, grid, block, dynamic shared memory, and the bytes of each argument. Device
// memory lies at addresses that are the same in each process and that nobody reads. It loads a
// library libcuda.so.1, whose cuPointerGetAttributes() asks recordedAttributes() here, unless
// CARVE_ENTRY_DRIVER is "off". It is compiled with the toolkit's headers, which check what is
// defined here, and linked as a shared library.
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr unsigned MostThreads = 1024, FreeSmemBytes = 48 << 10, MostSmemBytes = 227 << 10;
constexpr int Devices = 2;

/// A kernel that a module has registered.
struct Kernel {
  std::string Name;
  void **Module;
  const void *Host;
  int SmemLimit = FreeSmemBytes; ///< What cudaFuncSetAttribute() has permitted.
};

/// A launch that was asked for.
struct Launched {
  Kernel *Of = nullptr;
  dim3 Grid, Block;
  size_t Smem = 0;
  std::vector<std::string> Arguments; ///< Their bytes.
};

struct Graph {
  std::vector<Launched> Nodes;
};

struct Allocation {
  size_t Bytes;
  bool OfHost;
};

struct Stream {
  Graph *Captured = nullptr; ///< What it is captured into.
};

struct Configuration {
  dim3 Grid, Block;
  size_t Smem;
  void *Of;
};

/// Everything that threads share.
struct State {
  std::mutex Lock;
  FILE *Record = nullptr;
  std::map<const void *, Kernel *> Kernels; ///< By the address of the host function.
  std::map<Kernel *, bool> Alive;
  std::map<std::string, std::vector<unsigned>> ArgumentBytes; ///< By the name of the kernel.
  std::map<cudaStream_t, Stream> Streams;
  uint64_t Memory = 0x7f0000000000, HostMemory = 0x7e0000000000; ///< Not yet given away.
  std::map<uint64_t, Allocation> Allocations;                    ///< By their beginning.
};

[[noreturn]] void fail(const char *Text) {
  std::fprintf(stderr, "recording runtime: %s\n", Text);
  std::abort();
}

State &state() {
  static State *S = [] {
    auto *Made = new State; // Modules are unregistered after destructors have run.
    if (const char *Path = std::getenv("CARVE_ENTRY_RECORD"))
      Made->Record = std::fopen(Path, "w");
    // As the runtime does. The program does not depend on the driver.
    const char *Driver = std::getenv("CARVE_ENTRY_DRIVER");
    if (!Driver || std::strcmp(Driver, "off"))
      if (!dlopen("libcuda.so.1", RTLD_NOW))
        fail(dlerror());
    return Made;
  }();
  return *S;
}

thread_local std::vector<Configuration> Configurations;
thread_local cudaError_t LastError = cudaSuccess;
thread_local int Device = 0;
thread_local unsigned Step = 0, Part = 0, Round = 0;

cudaError_t noted(cudaError_t Status) {
  if (Status != cudaSuccess)
    LastError = Status;
  return Status;
}

Kernel *kernelOf(const void *Host) {
  auto Found = state().Kernels.find(Host);
  if (Found == state().Kernels.end())
    fail("a kernel is used that no module has registered");
  return Found->second;
}

/// The name of the kernel that a further entry belongs to.
std::string ownName(const std::string &Name) { return Name.substr(0, Name.find("__carve_e")); }

Launched made(Kernel *K, dim3 Grid, dim3 Block, size_t Smem, void **Arguments) {
  if (!state().Alive.count(K))
    fail("a handle is used whose module is gone");
  auto Bytes = state().ArgumentBytes.find(ownName(K->Name));
  if (Bytes == state().ArgumentBytes.end())
    fail("a kernel is launched whose arguments are not known");
  Launched L{K, Grid, Block, Smem, {}};
  for (size_t I = 0; I < Bytes->second.size(); ++I)
    L.Arguments.emplace_back(static_cast<const char *>(Arguments[I]), Bytes->second[I]);
  return L;
}

void record(const char *How, const Launched &L) {
  FILE *File = state().Record;
  if (!File)
    return;
  std::fprintf(File, "%u %u %u %s %s %u,%u,%u %u,%u,%u %zu", Step, Part, Round, How,
               L.Of->Name.c_str(), L.Grid.x, L.Grid.y, L.Grid.z, L.Block.x, L.Block.y, L.Block.z,
               L.Smem);
  for (const std::string &Argument : L.Arguments) {
    std::fputc(' ', File);
    for (unsigned char Byte : Argument)
      std::fprintf(File, "%02x", Byte);
  }
  std::fputc('\n', File);
}

/// Whether CUDA would take the launch.
cudaError_t judged(const Launched &L) {
  if (!L.Grid.x || !L.Grid.y || !L.Grid.z || L.Grid.y > 65535 || L.Grid.z > 65535 || !L.Block.x ||
      !L.Block.y || !L.Block.z || L.Block.z > 64 ||
      1ull * L.Block.x * L.Block.y * L.Block.z > MostThreads)
    return cudaErrorInvalidConfiguration;
  return L.Smem > size_t(L.Of->SmemLimit) ? cudaErrorInvalidValue : cudaSuccess;
}

/// The stream 0 is another one for calls of programs that have a default stream for each thread.
cudaError_t launch(const char *How, Kernel *K, dim3 Grid, dim3 Block, void **Arguments, size_t Smem,
                   cudaStream_t Of) {
  std::lock_guard<std::mutex> Held(state().Lock);
  Launched L = made(K, Grid, Block, Smem, Arguments);
  Graph *Captured = state().Streams[Of].Captured;
  record(Captured ? "captured" : How, L);
  cudaError_t Status = judged(L);
  if (Status == cudaSuccess && Captured)
    Captured->Nodes.push_back(std::move(L));
  return noted(Status);
}

/// Gives away memory whose addresses follow from \p Next. Allocations do not touch, because an
/// address between two of them may be meant for either.
cudaError_t allocate(uint64_t State::*Next, void **Made, size_t Bytes, bool OfHost) {
  std::lock_guard<std::mutex> Held(state().Lock);
  *Made = reinterpret_cast<void *>(state().*Next);
  state().Allocations[state().*Next] = {Bytes, OfHost};
  state().*Next += (Bytes + 511) / 256 * 256;
  return cudaSuccess;
}

cudaStream_t perThread(cudaStream_t Of) { return Of ? Of : cudaStreamPerThread; }

cudaError_t begin(cudaStream_t Of) {
  std::lock_guard<std::mutex> Held(state().Lock);
  if (Of == nullptr || Of == cudaStreamLegacy)
    return noted(cudaErrorStreamCaptureUnsupported);
  state().Streams[Of].Captured = new Graph;
  return cudaSuccess;
}

cudaError_t end(cudaStream_t Of, cudaGraph_t *Made) {
  std::lock_guard<std::mutex> Held(state().Lock);
  *Made = reinterpret_cast<cudaGraph_t>(std::exchange(state().Streams[Of].Captured, nullptr));
  return cudaSuccess;
}

cudaError_t isCapturing(cudaStream_t Of, cudaStreamCaptureStatus *Status) {
  std::lock_guard<std::mutex> Held(state().Lock);
  *Status =
      state().Streams[Of].Captured ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

Graph *graphOf(void *Handle) { return static_cast<Graph *>(Handle); }

} // namespace

extern "C" {

void recordedStep(unsigned NewStep, unsigned NewPart, unsigned NewRound) {
  Step = NewStep;
  Part = NewPart;
  Round = NewRound;
}

void recordedKernel(const void *Function, const unsigned *Bytes, unsigned Count) {
  std::lock_guard<std::mutex> Held(state().Lock);
  state().ArgumentBytes[kernelOf(Function)->Name].assign(Bytes, Bytes + Count);
}

/// Answers for cuPointerGetAttributes() as release 580 of the driver does. Of an address that it
/// does not know it says that it is not capable, but not where its range begins.
int recordedAttributes(unsigned Count, const int *Attributes, void **Answers,
                       unsigned long long Address) {
  constexpr int LegacyIpcCapable = 10, RangeStart = 11, RangeSize = 12;
  std::lock_guard<std::mutex> Held(state().Lock);
  const auto &All = state().Allocations;
  auto Of = All.upper_bound(Address);
  const bool Known =
      Of != All.begin() && Address - std::prev(Of)->first < std::prev(Of)->second.Bytes;
  if (Known)
    --Of;
  for (unsigned I = 0; I < Count; ++I) {
    if (Attributes[I] == LegacyIpcCapable) {
      int Capable = Known && !Of->second.OfHost;
      std::memcpy(Answers[I], &Capable, sizeof Capable);
    } else if (Attributes[I] != RangeStart && Attributes[I] != RangeSize) {
      fail("the driver is asked for another attribute");
    } else if (Known) {
      const uint64_t Answer = Attributes[I] == RangeStart ? Of->first : Of->second.Bytes;
      std::memcpy(Answers[I], &Answer, sizeof Answer);
    }
  }
  return 0;
}

//===------------------------------------------------------------------------------------------===//
// What the stubs that nvcc writes call
//===------------------------------------------------------------------------------------------===//

void **__cudaRegisterFatBinary(void *) { return new void *; }
void __cudaRegisterFatBinaryEnd(void **) {}
char __cudaInitModule(void **) { return 1; }
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int) {}

void __cudaUnregisterFatBinary(void **Module) {
  std::lock_guard<std::mutex> Held(state().Lock);
  auto &Kernels = state().Kernels;
  for (auto K = Kernels.begin(); K != Kernels.end();) {
    if (K->second->Module != Module) {
      ++K;
      continue;
    }
    state().Alive.erase(K->second);
    K = Kernels.erase(K);
  }
}

void __cudaRegisterFunction(void **Module, const char *Host, char *, const char *Name, int, uint3 *,
                            uint3 *, dim3 *, dim3 *, int *) {
  std::lock_guard<std::mutex> Held(state().Lock);
  auto *K = new Kernel{Name, Module, Host};
  if (!state().Kernels.emplace(Host, K).second)
    fail("two kernels are registered for one host function");
  state().Alive[K] = true;
}

cudaError_t __cudaGetKernel(cudaKernel_t *Made, const void *Host) {
  std::lock_guard<std::mutex> Held(state().Lock);
  *Made = reinterpret_cast<cudaKernel_t>(kernelOf(Host));
  return cudaSuccess;
}

unsigned __cudaPushCallConfiguration(dim3 Grid, dim3 Block, size_t Smem, void *Of) {
  Configurations.push_back({Grid, Block, Smem, Of});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *Grid, dim3 *Block, size_t *Smem, void *Of) {
  if (Configurations.empty())
    fail("a launch has no configuration");
  const Configuration &C = Configurations.back();
  *Grid = C.Grid, *Block = C.Block, *Smem = C.Smem, *static_cast<void **>(Of) = C.Of;
  Configurations.pop_back();
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t K, dim3 Grid, dim3 Block, void **Arguments, size_t Smem,
                               cudaStream_t Of) {
  return launch("stub", reinterpret_cast<Kernel *>(K), Grid, Block, Arguments, Smem, Of);
}
cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t K, dim3 Grid, dim3 Block, void **Arguments,
                                    size_t Smem, cudaStream_t Of) {
  return __cudaLaunchKernel(K, Grid, Block, Arguments, Smem, perThread(Of));
}

//===------------------------------------------------------------------------------------------===//
// Other launches
//===------------------------------------------------------------------------------------------===//

cudaError_t cudaLaunchKernel(const void *F, dim3 Grid, dim3 Block, void **Arguments, size_t Smem,
                             cudaStream_t Of) {
  return launch("pointer", kernelOf(F), Grid, Block, Arguments, Smem, Of);
}
cudaError_t cudaLaunchKernel_ptsz(const void *F, dim3 Grid, dim3 Block, void **Arguments,
                                  size_t Smem, cudaStream_t Of) {
  return cudaLaunchKernel(F, Grid, Block, Arguments, Smem, perThread(Of));
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *C, const void *F, void **Arguments) {
  return launch("extended", kernelOf(F), C->gridDim, C->blockDim, Arguments, C->dynamicSmemBytes,
                C->stream);
}
cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *C, const void *F, void **Arguments) {
  return launch("extended", kernelOf(F), C->gridDim, C->blockDim, Arguments, C->dynamicSmemBytes,
                perThread(C->stream));
}
cudaError_t cudaLaunchCooperativeKernel(const void *F, dim3 Grid, dim3 Block, void **Arguments,
                                        size_t Smem, cudaStream_t Of) {
  return launch("cooperative", kernelOf(F), Grid, Block, Arguments, Smem, Of);
}
cudaError_t cudaLaunchCooperativeKernel_ptsz(const void *F, dim3 Grid, dim3 Block, void **Arguments,
                                             size_t Smem, cudaStream_t Of) {
  return cudaLaunchCooperativeKernel(F, Grid, Block, Arguments, Smem, perThread(Of));
}

//===------------------------------------------------------------------------------------------===//
// Streams and graphs
//===------------------------------------------------------------------------------------------===//

cudaError_t cudaStreamCreate(cudaStream_t *Made) {
  *Made = static_cast<cudaStream_t>(std::malloc(1)); // Its address is all that is needed.
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *Made, unsigned) {
  return cudaStreamCreate(Made);
}
cudaError_t cudaStreamDestroy(cudaStream_t Of) {
  std::lock_guard<std::mutex> Held(state().Lock);
  state().Streams.erase(Of);
  std::free(Of);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamBeginCapture(cudaStream_t Of, cudaStreamCaptureMode) { return begin(Of); }
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t Of, cudaStreamCaptureMode) {
  return begin(perThread(Of));
}
cudaError_t cudaStreamEndCapture(cudaStream_t Of, cudaGraph_t *Made) { return end(Of, Made); }
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t Of, cudaGraph_t *Made) {
  return end(perThread(Of), Made);
}
cudaError_t cudaStreamIsCapturing(cudaStream_t Of, cudaStreamCaptureStatus *Status) {
  return isCapturing(Of, Status);
}
cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t Of, cudaStreamCaptureStatus *Status) {
  return isCapturing(perThread(Of), Status);
}

cudaError_t cudaGraphCreate(cudaGraph_t *Made, unsigned) {
  *Made = reinterpret_cast<cudaGraph_t>(new Graph);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t Of) {
  delete graphOf(Of);
  return cudaSuccess;
}
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *Node, cudaGraph_t To, const cudaGraphNode_t *,
                                   size_t, const cudaKernelNodeParams *P) {
  std::lock_guard<std::mutex> Held(state().Lock);
  Launched L = made(kernelOf(P->func), P->gridDim, P->blockDim, P->sharedMemBytes, P->kernelParams);
  record("node", L);
  if (cudaError_t Status = judged(L); Status != cudaSuccess)
    return noted(Status);
  graphOf(To)->Nodes.push_back(std::move(L));
  *Node = reinterpret_cast<cudaGraphNode_t>(&graphOf(To)->Nodes.back());
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *Made, cudaGraph_t From, unsigned long long) {
  *Made = reinterpret_cast<cudaGraphExec_t>(new Graph(*graphOf(From)));
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t Of) {
  delete graphOf(Of);
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t Of, cudaGraphNode_t *Nodes, size_t *Count) {
  auto &All = graphOf(Of)->Nodes;
  for (size_t I = 0; Nodes && I < *Count && I < All.size(); ++I)
    Nodes[I] = reinterpret_cast<cudaGraphNode_t>(&All[I]);
  *Count = All.size();
  return cudaSuccess;
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t Node, cudaKernelNodeParams *P) {
  auto *L = reinterpret_cast<Launched *>(Node);
  *P = {};
  P->func = const_cast<void *>(L->Of->Host); // As the driver does, of the kernel that was launched.
  return cudaSuccess;
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t Exec, cudaGraphNode_t,
                                             const cudaKernelNodeParams *P) {
  std::lock_guard<std::mutex> Held(state().Lock);
  Launched L = made(kernelOf(P->func), P->gridDim, P->blockDim, P->sharedMemBytes, P->kernelParams);
  record("changed", L);
  if (cudaError_t Status = judged(L); Status != cudaSuccess)
    return noted(Status);
  graphOf(Exec)->Nodes.front() = std::move(L);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t Exec, cudaStream_t) {
  std::lock_guard<std::mutex> Held(state().Lock);
  for (const Launched &L : graphOf(Exec)->Nodes)
    record("graph", L);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t Exec, cudaStream_t Of) {
  return cudaGraphLaunch(Exec, Of);
}

//===------------------------------------------------------------------------------------------===//
// Memory, devices and kernels
//===------------------------------------------------------------------------------------------===//

cudaError_t cudaMalloc(void **Made, size_t Bytes) {
  return allocate(&State::Memory, Made, Bytes, false);
}
cudaError_t cudaHostAlloc(void **Made, size_t Bytes, unsigned) {
  return allocate(&State::HostMemory, Made, Bytes, true);
}
cudaError_t cudaMemcpy(void *To, const void *, size_t Bytes, cudaMemcpyKind Kind) {
  if (Kind == cudaMemcpyDeviceToHost)
    std::memset(To, 0, Bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpy_ptds(void *To, const void *From, size_t Bytes, cudaMemcpyKind Kind) {
  return cudaMemcpy(To, From, Bytes, Kind);
}
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t, cudaMemcpyKind) {
  return cudaSuccess;
}
cudaError_t cudaMemcpyToSymbol_ptds(const void *, const void *, size_t, size_t, cudaMemcpyKind) {
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaMemsetAsync_ptsz(void *, int, size_t, cudaStream_t) { return cudaSuccess; }

cudaError_t cudaGetDevice(int *Number) {
  *Number = Device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int Number) {
  Device = Number;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int *Count) {
  *Count = Devices;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *Value, cudaDeviceAttr, int) {
  *Value = int(MostThreads);
  return cudaSuccess;
}
cudaError_t cudaDeviceReset() { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaGetLastError() {
  cudaError_t Status = LastError;
  LastError = cudaSuccess;
  return Status;
}
const char *cudaGetErrorName(cudaError_t Status) {
  switch (Status) {
  case cudaSuccess:
    return "cudaSuccess";
  case cudaErrorInvalidConfiguration:
    return "cudaErrorInvalidConfiguration";
  case cudaErrorInvalidValue:
    return "cudaErrorInvalidValue";
  default:
    return "another error";
  }
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *Attributes, const void *F) {
  std::lock_guard<std::mutex> Held(state().Lock);
  *Attributes = {};
  Attributes->maxThreadsPerBlock = int(MostThreads);
  Attributes->maxDynamicSharedSizeBytes = kernelOf(F)->SmemLimit;
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *F, cudaFuncAttribute, int Value) {
  std::lock_guard<std::mutex> Held(state().Lock);
  if (Value < 0 || Value > int(MostSmemBytes))
    return noted(cudaErrorInvalidValue);
  kernelOf(F)->SmemLimit = Value;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *Blocks, const void *F, int, size_t) {
  std::lock_guard<std::mutex> Held(state().Lock);
  *Blocks = kernelOf(F) != nullptr;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *Blocks, const void *F, int,
                                                                   size_t, unsigned) {
  std::lock_guard<std::mutex> Held(state().Lock);
  *Blocks = kernelOf(F) != nullptr;
  return cudaSuccess;
}

} // extern "C"
