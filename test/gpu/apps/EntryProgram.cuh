/// \file
/// What the random programs of EntryPrograms.h share: types of arguments, device functions with
/// which their kernels compute, and the ways in which they launch. Each launch prints a line: its
/// number, which of its two sets of values it has, the kernel, how it ended, and a checksum of the
/// output. Arguments are bytes here and kernels are functions that take them, so that a program of
/// many kernels is compiled in little time.
#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <string>
#include <thread>
#include <vector>

constexpr unsigned OutWords = 1 << 16, InWords = 1 << 12, HostThreads = 4, ThreadRounds = 4;
constexpr unsigned MostArguments = 16, MostDevices = 2;
/// More dynamic shared memory than a launch may have without asking.
constexpr int PermittedSmem = 160 << 10;

enum class Mode : int { Add, Mix, Turn, Skip };
enum Level : unsigned char { Low, Middle, High };

//===------------------------------------------------------------------------------------------===//
// On the device
//===------------------------------------------------------------------------------------------===//

__constant__ unsigned Table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
/// The host changes it between launches. All entries of a kernel must see the same variable.
__device__ unsigned Salt;

extern __shared__ unsigned Dynamic[];

/// Values differ in their result if they differ in any bit.
__device__ inline unsigned mixed(unsigned H, unsigned long long V) {
  H = (H ^ unsigned(V)) * 2654435761u;
  H = (H ^ (H >> 15) ^ unsigned(V >> 32)) * 2246822519u;
  return H ^ (H >> 13);
}

/// The compiler may leave any NaN as it is where the GPU would make its own.
__device__ inline unsigned bitsOf(float V) { return V != V ? 0x7fffffffu : __float_as_uint(V); }
__device__ inline unsigned bitsOf(double V) {
  unsigned long long Bits = __double_as_longlong(V);
  return V != V ? 0x7fffffffu : unsigned(Bits) * 31u + unsigned(Bits >> 32);
}

/// Needs about \p Width registers at once.
template <int Width> __device__ inline unsigned pressed(unsigned H) {
  unsigned Many[Width];
#pragma unroll
  for (int I = 0; I < Width; ++I)
    Many[I] = mixed(H, I);
#pragma unroll 1
  for (int Round = 0; Round < 4; ++Round)
#pragma unroll
    for (int I = 0; I < Width; ++I)
      Many[I] += (Many[(I + 7) % Width] ^ H) * 3u;
#pragma unroll
  for (int I = 0; I < Width; ++I)
    H = (H << 3 | H >> 29) ^ Many[I];
  return H;
}

static __device__ __noinline__ unsigned stirred(unsigned H, unsigned V) {
  for (unsigned I = 0; I < (V & 3); ++I)
    H = mixed(H, I);
  return H ^ V;
}

//===------------------------------------------------------------------------------------------===//
// Arguments
//===------------------------------------------------------------------------------------------===//

/// Returns the argument at \p Address, with the bytes between its fields.
template <class T> T argument(const void *Address) {
  T Value;
  std::memcpy(&Value, Address, sizeof Value);
  return Value;
}

inline void check(cudaError_t Status, const char *Call) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", Call, cudaGetErrorName(Status));
  std::exit(90);
}
#define CHECK(Call) check((Call), #Call)

inline unsigned *Outputs; ///< A part of OutWords for each host thread.
/// InWords and 64 more; the same words behind the outputs, in their allocation; and in the host's
/// memory.
inline const unsigned *Input, *BehindOutputs, *Pinned;

/// What an argument is: its bytes, or bytes with the address of an output or an input among them.
enum class Place { Value, Output, Input };
struct Parameter {
  Place Is;
  unsigned Bytes;
  unsigned At; ///< Where the address is in the argument, in bytes.
};

/// Where an address leads, as EntryParameters.h says.
enum class Target : unsigned { Own, BehindOutput, Output, Pinned };
/// How the bytes of an address give that, and how far behind its beginning it is, in bytes.
constexpr unsigned TargetShift = 42;

/// Returns the address for which \p Number is among the bytes of a launch.
inline unsigned long long addressFor(unsigned long long Number, Place Is, unsigned *Out) {
  const unsigned *Begin = Is == Place::Output ? Out : Input;
  switch (Target(Number >> TargetShift)) {
  case Target::Own:
    break;
  case Target::BehindOutput:
    Begin = BehindOutputs;
    break;
  case Target::Output:
    Begin = Out;
    break;
  case Target::Pinned:
    Begin = Pinned;
    break;
  }
  return reinterpret_cast<unsigned long long>(Begin) + (Number & ((1ull << TargetShift) - 1));
}

// What stands in for the runtime has these, to know of which launch it is called, and how long the
// arguments are.
extern "C" __attribute__((weak)) void recordedStep(unsigned Step, unsigned Part, unsigned Round);
extern "C" __attribute__((weak)) void recordedKernel(const void *Function, const unsigned *Bytes,
                                                     unsigned Count);

//===------------------------------------------------------------------------------------------===//
// Launches
//===------------------------------------------------------------------------------------------===//

enum class Way {
  Chevrons,          ///< `<<<>>>` on the default stream.
  OwnStream,         ///< The same on a new stream.
  PerThread,         ///< The same on the stream of the host thread.
  Meanwhile,         ///< The same on the default stream while another stream is captured.
  Threads,           ///< The same by several host threads at once, each on its own stream.
  Pointer,           ///< cudaLaunchKernel.
  Extended,          ///< cudaLaunchKernelExC.
  Cooperative,       ///< cudaLaunchCooperativeKernel.
  Captured,          ///< `<<<>>>` into a graph, whose node then gets the second values.
  CapturedPerThread, ///< The same on the stream of the host thread.
  Node,              ///< The same with a node that is made by hand.
};

struct Shape {
  dim3 Grid, Block;
  unsigned Smem;
  cudaStream_t Stream = nullptr;
};

struct Kernel {
  const char *Name;
  const void *Function;
  void (*Chevrons)(const Shape &, void **);
  bool Bounded; ///< It has launch bounds.
  const Parameter *Parameters;
  unsigned Count;
};

/// A launch of a program. The bytes of its arguments follow each other.
struct Launch {
  unsigned Grid[3], Block[3], Smem;
  const char *Bytes;

  Shape shape() const {
    return {dim3(Grid[0], Grid[1], Grid[2]), dim3(Block[0], Block[1], Block[2]), Smem};
  }
};

/// The arguments of a launch in memory, as the runtime wants them.
class Arguments {
public:
  Arguments(const Kernel &K, const char *From, unsigned *Out) {
    for (unsigned I = 0; I < K.Count; ++I) {
      const Parameter &P = K.Parameters[I];
      auto *To = reinterpret_cast<unsigned char *>(Values[I]);
      std::memcpy(To, From, P.Bytes);
      if (P.Is != Place::Value) {
        unsigned long long Number;
        std::memcpy(&Number, From + P.At, sizeof Number);
        Number = addressFor(Number, P.Is, Out);
        std::memcpy(To + P.At, &Number, sizeof Number);
      }
      From += P.Bytes;
      Addresses[I] = To;
    }
  }
  Arguments(const Arguments &) = delete;

  void *Addresses[MostArguments];

private:
  unsigned long long Values[MostArguments][32];
};

/// Whether the kernel itself has few enough registers for the block. A further entry may have fewer
/// and would then run where the kernel cannot, which is no fault.
inline bool fits(const Kernel &K, const Shape &S) {
  unsigned long long Lanes = 1ull * S.Block.x * S.Block.y * S.Block.z;
  if (K.Bounded || Lanes <= 256 || Lanes > 1024)
    return true;
  cudaFuncAttributes A;
  CHECK(cudaFuncGetAttributes(&A, K.Function));
  return Lanes <= unsigned(A.maxThreadsPerBlock);
}

/// Launches on the default stream while another one is captured. If the default stream is the old
/// one, which waits for others, this is an error.
inline cudaError_t launchMeanwhile(const Kernel &K, const Shape &S, Arguments &A) {
  cudaStream_t Other;
  cudaGraph_t Graph = nullptr;
  CHECK(cudaStreamCreate(&Other));
  CHECK(cudaStreamBeginCapture(Other, cudaStreamCaptureModeRelaxed));
  K.Chevrons(S, A.Addresses);
  cudaError_t Launched = cudaGetLastError(), Ended = cudaStreamEndCapture(Other, &Graph);
  if (Graph)
    CHECK(cudaGraphDestroy(Graph));
  CHECK(cudaStreamDestroy(Other));
  cudaGetLastError();
  return Launched != cudaSuccess ? Launched : Ended;
}

inline cudaError_t launchAs(Way How, const Kernel &K, const Shape &S, Arguments &A) {
  cudaError_t Returned = cudaSuccess;
  if (How == Way::Meanwhile)
    return launchMeanwhile(K, S, A);
  if (How == Way::Pointer) {
    Returned = cudaLaunchKernel(K.Function, S.Grid, S.Block, A.Addresses, S.Smem, S.Stream);
  } else if (How == Way::Extended) {
    cudaLaunchConfig_t Config{};
    Config.gridDim = S.Grid;
    Config.blockDim = S.Block;
    Config.dynamicSmemBytes = S.Smem;
    Config.stream = S.Stream;
    Returned = cudaLaunchKernelExC(&Config, K.Function, A.Addresses);
  } else if (How == Way::Cooperative) {
    Returned =
        cudaLaunchCooperativeKernel(K.Function, S.Grid, S.Block, A.Addresses, S.Smem, S.Stream);
  } else {
    K.Chevrons(S, A.Addresses);
  }
  cudaError_t Last = cudaGetLastError();
  return Last != cudaSuccess ? Last : Returned;
}

inline std::string line(unsigned Number, unsigned Part, const char *Name, cudaError_t Ended,
                        const unsigned *Out) {
  std::vector<unsigned> Host(recordedStep ? 0 : OutWords); // Without a GPU there is no output.
  CHECK(cudaMemcpy(Host.data(), Out, Host.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  unsigned long long Sum = 14695981039346656037ull;
  for (unsigned Word : Host)
    Sum = (Sum ^ Word) * 1099511628211ull;
  char Text[256];
  std::snprintf(Text, sizeof Text, "%u.%u %s %s %016llx\n", Number, Part, Name,
                cudaGetErrorName(Ended), Sum);
  return Text;
}

inline void clear(unsigned *Out, cudaStream_t Stream) {
  CHECK(cudaMemsetAsync(Out, 0xa5, OutWords * sizeof(unsigned), Stream));
}

inline void noteStep(unsigned Number, unsigned Part, unsigned Round) {
  if (recordedStep)
    recordedStep(Number, Part, Round);
}

/// One launch, up to its end and its line.
inline std::string once(unsigned Number, unsigned Part, unsigned Round, Way How, const Kernel &K,
                        const Shape &S, const Launch &L, unsigned *Out) {
  clear(Out, S.Stream);
  noteStep(Number, Part, Round);
  Arguments A(K, L.Bytes, Out);
  cudaError_t Launched = launchAs(How, K, S, A);
  cudaError_t Ended = cudaStreamSynchronize(S.Stream);
  return line(Number, Part, K.Name, Launched != cudaSuccess ? Launched : Ended, Out);
}

/// Launches of several host threads at once, of which each takes both sets of values in turn.
inline void byThreads(unsigned Number, const Kernel &K, const Launch *Launches) {
  std::string Lines[HostThreads];
  std::vector<std::thread> Threads;
  int Device = 0;
  CHECK(cudaGetDevice(&Device));
  for (unsigned T = 0; T < HostThreads; ++T)
    Threads.emplace_back([&, T] {
      CHECK(cudaSetDevice(Device));
      cudaStream_t Stream;
      CHECK(cudaStreamCreateWithFlags(&Stream, cudaStreamNonBlocking));
      for (unsigned Round = 0; Round < ThreadRounds; ++Round) {
        unsigned Part = (T + Round) % 2;
        Shape S = Launches[Part].shape();
        S.Stream = Stream;
        Lines[T] += once(Number, Part, 1 + T * ThreadRounds + Round, Way::Threads, K, S,
                         Launches[Part], Outputs + T * OutWords);
      }
      CHECK(cudaStreamDestroy(Stream));
    });
  for (unsigned T = 0; T < HostThreads; ++T) {
    Threads[T].join();
    std::fputs(Lines[T].c_str(), stdout);
  }
}

/// Makes a graph with one launch. It has no node if the launch fails.
inline cudaError_t makeGraph(Way How, const Kernel &K, const Shape &S, Arguments &A,
                             cudaGraph_t *Graph) {
  if (How != Way::Node) {
    CHECK(cudaStreamBeginCapture(S.Stream, cudaStreamCaptureModeThreadLocal));
    K.Chevrons(S, A.Addresses);
    cudaError_t Launched = cudaGetLastError(), Ended = cudaStreamEndCapture(S.Stream, Graph);
    cudaGetLastError();
    return Launched != cudaSuccess ? Launched : Ended;
  }
  CHECK(cudaGraphCreate(Graph, 0));
  cudaKernelNodeParams Node{};
  Node.func = const_cast<void *>(K.Function);
  Node.gridDim = S.Grid;
  Node.blockDim = S.Block;
  Node.sharedMemBytes = S.Smem;
  Node.kernelParams = A.Addresses;
  cudaGraphNode_t Made;
  cudaError_t Added = cudaGraphAddKernelNode(&Made, *Graph, nullptr, 0, &Node);
  cudaGetLastError();
  return Added;
}

/// Gives the only node of \p Graph other values, in \p Exec.
inline cudaError_t changeNode(cudaGraph_t Graph, cudaGraphExec_t Exec, const Shape &S,
                              Arguments &A) {
  size_t Count = 1;
  cudaGraphNode_t Node;
  cudaKernelNodeParams New{};
  CHECK(cudaGraphGetNodes(Graph, &Node, &Count));
  CHECK(cudaGraphKernelNodeGetParams(Node, &New));
  New.gridDim = S.Grid;
  New.blockDim = S.Block;
  New.sharedMemBytes = S.Smem;
  New.kernelParams = A.Addresses;
  New.extra = nullptr;
  return cudaGraphExecKernelNodeSetParams(Exec, Node, &New);
}

inline cudaError_t finishGraph(cudaGraphExec_t Exec, cudaStream_t Stream) {
  cudaError_t Launched = cudaGraphLaunch(Exec, Stream), Ended = cudaStreamSynchronize(Stream);
  return Launched != cudaSuccess ? Launched : Ended;
}

/// Launches a graph with the first values, then with the second ones.
inline void byGraph(unsigned Number, Way How, const Kernel &K, const Launch *Launches) {
  const bool Own = How != Way::CapturedPerThread;
  Arguments First(K, Launches[0].Bytes, Outputs), Second(K, Launches[1].Bytes, Outputs);
  cudaStream_t Stream = cudaStreamPerThread;
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
  Stream = nullptr; // It is the thread's.
#endif
  cudaGraph_t Graph = nullptr;
  cudaGraphExec_t Exec;
  if (Own)
    CHECK(cudaStreamCreate(&Stream));
  Shape S = Launches[0].shape();
  S.Stream = Stream;
  clear(Outputs, Stream);
  CHECK(cudaStreamSynchronize(Stream));
  noteStep(Number, 0, 0);
  cudaError_t Made = makeGraph(How, K, S, First, &Graph);
  if (Made == cudaSuccess)
    Made = cudaGraphInstantiate(&Exec, Graph, 0);
  if (Made == cudaSuccess) {
    cudaError_t Ended = finishGraph(Exec, Stream);
    std::fputs(line(Number, 0, K.Name, Ended, Outputs).c_str(), stdout);
    clear(Outputs, Stream);
    noteStep(Number, 1, 0);
    cudaError_t Changed = changeNode(Graph, Exec, Launches[1].shape(), Second);
    // If the node cannot have the second values, it keeps the first ones.
    Ended = finishGraph(Exec, Stream);
    std::fputs(line(Number, 1, K.Name, Changed != cudaSuccess ? Changed : Ended, Outputs).c_str(),
               stdout);
    CHECK(cudaGraphExecDestroy(Exec));
  } else {
    std::fputs(line(Number, 0, K.Name, Made, Outputs).c_str(), stdout);
  }
  if (Graph)
    CHECK(cudaGraphDestroy(Graph));
  if (Own)
    CHECK(cudaStreamDestroy(Stream));
  cudaGetLastError();
}

/// Two launches of \p K.
inline void launches(unsigned Number, const Kernel &K, Way How, const Launch *Launches) {
  Shape First = Launches[0].shape(), Second = Launches[1].shape();
  if (!fits(K, First) || !fits(K, Second)) {
    std::printf("%u skipped\n", Number);
    return;
  }
  if (How == Way::Threads)
    return byThreads(Number, K, Launches);
  if (How == Way::Captured || How == Way::CapturedPerThread || How == Way::Node)
    return byGraph(Number, How, K, Launches);
  cudaStream_t Own = nullptr;
  if (How != Way::Chevrons && How != Way::Meanwhile && How != Way::PerThread)
    CHECK(cudaStreamCreate(&Own));
  First.Stream = Second.Stream = How == Way::PerThread ? cudaStreamPerThread : Own;
  std::fputs(once(Number, 0, 0, How, K, First, Launches[0], Outputs).c_str(), stdout);
  std::fputs(once(Number, 1, 0, How, K, Second, Launches[1], Outputs).c_str(), stdout);
  if (Own)
    CHECK(cudaStreamDestroy(Own));
}

//===------------------------------------------------------------------------------------------===//
// The rest of a program
//===------------------------------------------------------------------------------------------===//

inline void attributes(const Kernel &K) {
  cudaFuncAttributes A;
  CHECK(cudaFuncGetAttributes(&A, K.Function));
  std::printf("attributes %s %d %zu %zu %d %d %d %d\n", K.Name, A.numRegs, A.sharedSizeBytes,
              A.localSizeBytes, A.maxThreadsPerBlock, A.maxDynamicSharedSizeBytes, A.ptxVersion,
              A.binaryVersion);
}

inline void occupancy(const Kernel &K, const Launch &L) {
  int Blocks = -1, Grid = -1, Block = -1;
  int Threads = int(L.Block[0] * L.Block[1] * L.Block[2]);
  cudaError_t Asked =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Blocks, K.Function, Threads, L.Smem);
  cudaError_t Best = cudaOccupancyMaxPotentialBlockSize(&Grid, &Block, K.Function, L.Smem);
  std::printf("occupancy %s %s %d %s %d %d\n", K.Name, cudaGetErrorName(Asked), Blocks,
              cudaGetErrorName(Best), Grid, Block);
  cudaGetLastError();
}

inline void permitSmem(const Kernel &K) {
  cudaError_t Set =
      cudaFuncSetAttribute(K.Function, cudaFuncAttributeMaxDynamicSharedMemorySize, PermittedSmem);
  std::printf("permit %s %s\n", K.Name, cudaGetErrorName(Set));
  cudaGetLastError();
}

inline void setSalt(unsigned Value) { CHECK(cudaMemcpyToSymbol(Salt, &Value, sizeof Value)); }

/// The memory of each device, once it has been used.
struct DeviceMemory {
  unsigned *Outputs;
  const unsigned *Input, *Pinned;
};
inline DeviceMemory Memory[MostDevices];

/// Makes the memory of the current device, unless it has some, and uses it.
inline void setUp() {
  int Device = 0;
  CHECK(cudaGetDevice(&Device));
  DeviceMemory &Own = Memory[Device];
  if (!Own.Outputs) {
    std::vector<unsigned> Host(InWords + 64);
    for (unsigned I = 0; I < Host.size(); ++I)
      Host[I] = (I + 1) * 2654435761u;
    const size_t InBytes = Host.size() * sizeof(unsigned);
    constexpr size_t OutBytes = HostThreads * OutWords * sizeof(unsigned);
    void *Data, *OfHost;
    CHECK(cudaMalloc(&Data, InBytes));
    CHECK(cudaMemcpy(Data, Host.data(), InBytes, cudaMemcpyHostToDevice));
    CHECK(cudaHostAlloc(&OfHost, InBytes, cudaHostAllocDefault));
    // Without a GPU, the memory is only an address, which std::memcpy() could not write to.
    CHECK(cudaMemcpy(OfHost, Host.data(), InBytes, cudaMemcpyHostToHost));
    CHECK(cudaMalloc(&Own.Outputs, OutBytes + InBytes));
    CHECK(cudaMemcpy(Own.Outputs + HostThreads * OutWords, Host.data(), InBytes,
                     cudaMemcpyHostToDevice));
    Own.Input = static_cast<unsigned *>(Data);
    Own.Pinned = static_cast<unsigned *>(OfHost);
  }
  Outputs = Own.Outputs;
  BehindOutputs = Outputs + HostThreads * OutWords;
  Input = Own.Input;
  Pinned = Own.Pinned;
}

/// Everything on the device is lost and made again.
inline void resetDevice() {
  int Device = 0;
  CHECK(cudaGetDevice(&Device));
  CHECK(cudaDeviceReset());
  Memory[Device] = {};
  setUp();
}

/// Goes on with another device, if there is one.
inline void useDevice(unsigned Number) {
  int Count = 0;
  CHECK(cudaGetDeviceCount(&Count));
  if (Number >= MostDevices || int(Number) >= Count)
    return;
  CHECK(cudaSetDevice(int(Number)));
  setUp();
}

/// What the program does, in the order of EntryPrograms.h.
struct Step {
  enum What { Launch, Attributes, Occupancy, Permit, Salt, Device, Reset } Does;
  const Kernel *Of;
  Way How;
  unsigned Number; ///< The salt, or the device.
  ::Launch Launches[2];
};

inline void runStep(unsigned Number, const Step &S) {
  if (recordedKernel) {
    unsigned Bytes[MostArguments];
    for (unsigned I = 0; I < S.Of->Count; ++I)
      Bytes[I] = S.Of->Parameters[I].Bytes;
    recordedKernel(S.Of->Function, Bytes, S.Of->Count);
  }
  switch (S.Does) {
  case Step::Launch:
    return launches(Number, *S.Of, S.How, S.Launches);
  case Step::Attributes:
    return attributes(*S.Of);
  case Step::Occupancy:
    return occupancy(*S.Of, S.Launches[0]);
  case Step::Permit:
    return permitSmem(*S.Of);
  case Step::Salt:
    return setSalt(S.Number);
  case Step::Device:
    return useDevice(S.Number);
  case Step::Reset:
    return resetDevice();
  }
}

/// Reads the steps of a program, which are numbers.
class StepReader {
public:
  StepReader(const char *Steps, const char *Bytes) : Left(Steps), Bytes(Bytes) {}

  bool atEnd() const { return *Left == '\0'; }
  Step step(const Kernel *const *Kernels) {
    Step S{};
    S.Does = Step::What(number());
    S.Of = Kernels[number()];
    S.How = Way(number());
    S.Number = number();
    for (unsigned I = 0, Count = number(); I < Count; ++I)
      S.Launches[I] = launch();
    return S;
  }

private:
  unsigned number() {
    char *End;
    unsigned long Value = std::strtoul(Left, &End, 10);
    Left = End + 1; // A space follows.
    return unsigned(Value);
  }
  Launch launch() {
    Launch L{};
    for (unsigned &Size : L.Grid)
      Size = number();
    for (unsigned &Size : L.Block)
      Size = number();
    L.Smem = number();
    L.Bytes = Bytes + number();
    return L;
  }

  const char *Left, *Bytes;
};

inline int runSteps(const char *Steps, const char *Bytes, const Kernel *const *Kernels) {
  setUp();
  StepReader Reader(Steps, Bytes);
  for (unsigned Number = 0; !Reader.atEnd(); ++Number)
    runStep(Number, Reader.step(Kernels));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGetLastError());
  std::puts("done");
  return 0;
}
