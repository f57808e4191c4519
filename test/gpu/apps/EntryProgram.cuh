/// \file
/// What the random programs of EntryPrograms.h share: types of arguments, device functions with
/// which their kernels compute, and the ways in which they launch. Each launch prints a line: its
/// number, which of its two sets of values it has, the kernel, how it ended, and a checksum of the
/// output.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <limits>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

constexpr unsigned OutWords = 1 << 16, InWords = 1 << 12, HostThreads = 4, ThreadRounds = 4;
/// More dynamic shared memory than a launch may have without asking.
constexpr int PermittedSmem = 160 << 10;

enum class Mode : int { Add, Mix, Turn, Skip };
enum Level : unsigned char { Low, Middle, High };
struct Pair {
  int First;
  float Second;
  short Few[4];
};

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

inline float floatOf(unsigned Bits) {
  float V;
  std::memcpy(&V, &Bits, sizeof V);
  return V;
}
inline double doubleOf(unsigned long long Bits) {
  double V;
  std::memcpy(&V, &Bits, sizeof V);
  return V;
}
inline Pair pairOf(unsigned Bits) {
  short S = short(Bits);
  return {int(Bits), float(Bits & 255), {S, short(S ^ 7), short(S >> 3), 5}};
}

inline void check(cudaError_t Status, const char *Call) {
  if (Status == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", Call, cudaGetErrorName(Status));
  std::exit(90);
}
#define CHECK(Call) check((Call), #Call)

inline unsigned *Outputs;     ///< A part of OutWords for each host thread.
inline const unsigned *Input; ///< InWords.

inline unsigned *placed(unsigned *, unsigned *Out) { return Out; }
inline const unsigned *placed(const unsigned *, unsigned *) { return Input; }
template <class T> T placed(T Value, unsigned *) { return Value; }

//===------------------------------------------------------------------------------------------===//
// Launches
//===------------------------------------------------------------------------------------------===//

enum class Way {
  Chevrons,    ///< `<<<>>>` on the default stream.
  OwnStream,   ///< The same on a new stream.
  PerThread,   ///< The same on the stream of the host thread.
  Meanwhile,   ///< The same on the default stream while another stream is captured.
  Threads,     ///< The same by several host threads at once, each on its own stream.
  Pointer,     ///< cudaLaunchKernel.
  Extended,    ///< cudaLaunchKernelExC.
  Cooperative, ///< cudaLaunchCooperativeKernel.
  Captured,    ///< `<<<>>>` into a graph, whose node then gets the second values.
  Node,        ///< The same with a node that is made by hand.
};

struct Shape {
  dim3 Grid, Block;
  unsigned Smem;
  cudaStream_t Stream = nullptr;
};

template <class... P> struct Kernel {
  const char *Name;
  void (*Function)(P...);
  void (*Chevrons)(const Shape &, P...);
  bool Bounded; ///< It has launch bounds.
};
template <class... P>
Kernel(const char *, void (*)(P...), void (*)(const Shape &, P...), bool) -> Kernel<P...>;

template <class T> struct Identity {
  using Type = T;
};
/// Values of a kernel's parameters. The kernel alone decides their types.
template <class... P> using Values = typename Identity<std::tuple<P...>>::Type;

/// Whether the kernel itself has few enough registers for the block. A further entry may have fewer
/// and would then run where the kernel cannot, which is no fault.
template <class... P> bool fits(const Kernel<P...> &K, const Shape &S) {
  unsigned long long Lanes = 1ull * S.Block.x * S.Block.y * S.Block.z;
  if (K.Bounded || Lanes <= 256 || Lanes > 1024)
    return true;
  cudaFuncAttributes A;
  CHECK(cudaFuncGetAttributes(&A, K.Function));
  return Lanes <= unsigned(A.maxThreadsPerBlock);
}

/// Calls \p Do with the addresses of \p Arguments, as the runtime wants them.
template <class... P, class Action> auto withAddresses(std::tuple<P...> Arguments, Action Do) {
  return std::apply(
      [&](P &...Each) {
        void *Addresses[] = {static_cast<void *>(&Each)...};
        return Do(Addresses);
      },
      Arguments);
}

template <class... P>
void launchByChevrons(const Kernel<P...> &K, const Shape &S, const std::tuple<P...> &Arguments) {
  std::apply([&](const P &...Each) { K.Chevrons(S, Each...); }, Arguments);
}

/// Launches on the default stream while another one is captured. If the default stream is the old
/// one, which waits for others, this is an error.
template <class... P>
cudaError_t launchMeanwhile(const Kernel<P...> &K, const Shape &S,
                            const std::tuple<P...> &Arguments) {
  cudaStream_t Other;
  cudaGraph_t Graph = nullptr;
  CHECK(cudaStreamCreate(&Other));
  CHECK(cudaStreamBeginCapture(Other, cudaStreamCaptureModeRelaxed));
  launchByChevrons(K, S, Arguments);
  cudaError_t Launched = cudaGetLastError(), Ended = cudaStreamEndCapture(Other, &Graph);
  if (Graph)
    CHECK(cudaGraphDestroy(Graph));
  CHECK(cudaStreamDestroy(Other));
  cudaGetLastError();
  return Launched != cudaSuccess ? Launched : Ended;
}

template <class... P>
cudaError_t launchAs(Way How, const Kernel<P...> &K, const Shape &S,
                     const std::tuple<P...> &Arguments) {
  auto Function = reinterpret_cast<const void *>(K.Function);
  cudaError_t Returned = cudaSuccess;
  if (How == Way::Meanwhile)
    return launchMeanwhile(K, S, Arguments);
  if (How == Way::Pointer) {
    Returned = withAddresses(Arguments, [&](void **Addresses) {
      return cudaLaunchKernel(Function, S.Grid, S.Block, Addresses, S.Smem, S.Stream);
    });
  } else if (How == Way::Extended) {
    cudaLaunchConfig_t Config{};
    Config.gridDim = S.Grid;
    Config.blockDim = S.Block;
    Config.dynamicSmemBytes = S.Smem;
    Config.stream = S.Stream;
    Returned = withAddresses(Arguments, [&](void **Addresses) {
      return cudaLaunchKernelExC(&Config, Function, Addresses);
    });
  } else if (How == Way::Cooperative) {
    Returned = withAddresses(Arguments, [&](void **Addresses) {
      return cudaLaunchCooperativeKernel(Function, S.Grid, S.Block, Addresses, S.Smem, S.Stream);
    });
  } else {
    launchByChevrons(K, S, Arguments);
  }
  cudaError_t Last = cudaGetLastError();
  return Last != cudaSuccess ? Last : Returned;
}

inline std::string line(unsigned Number, unsigned Part, const char *Name, cudaError_t Ended,
                        const unsigned *Out) {
  std::vector<unsigned> Host(OutWords);
  CHECK(cudaMemcpy(Host.data(), Out, OutWords * sizeof(unsigned), cudaMemcpyDeviceToHost));
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

/// One launch, up to its end and its line.
template <class... P>
std::string once(unsigned Number, unsigned Part, Way How, const Kernel<P...> &K, const Shape &S,
                 const std::tuple<P...> &Arguments, unsigned *Out) {
  clear(Out, S.Stream);
  cudaError_t Launched =
      launchAs(How, K, S,
               std::apply([&](const P &...Each) { return std::tuple<P...>(placed(Each, Out)...); },
                          Arguments));
  cudaError_t Ended = cudaStreamSynchronize(S.Stream);
  return line(Number, Part, K.Name, Launched != cudaSuccess ? Launched : Ended, Out);
}

/// Launches of several host threads at once, of which each takes both sets of values in turn.
template <class... P>
void byThreads(unsigned Number, const Kernel<P...> &K, const Shape (&Shapes)[2],
               const std::tuple<P...> (&Arguments)[2]) {
  std::string Lines[HostThreads];
  std::vector<std::thread> Threads;
  for (unsigned T = 0; T < HostThreads; ++T)
    Threads.emplace_back([&, T] {
      Shape S[2] = {Shapes[0], Shapes[1]};
      CHECK(cudaStreamCreateWithFlags(&S[0].Stream, cudaStreamNonBlocking));
      S[1].Stream = S[0].Stream;
      for (unsigned Round = 0; Round < ThreadRounds; ++Round) {
        unsigned Part = (T + Round) % 2;
        Lines[T] +=
            once(Number, Part, Way::Threads, K, S[Part], Arguments[Part], Outputs + T * OutWords);
      }
      CHECK(cudaStreamDestroy(S[0].Stream));
    });
  for (unsigned T = 0; T < HostThreads; ++T) {
    Threads[T].join();
    std::fputs(Lines[T].c_str(), stdout);
  }
}

/// Makes a graph with one launch. It has no node if the launch fails.
template <class... P>
cudaError_t makeGraph(Way How, const Kernel<P...> &K, const Shape &S,
                      const std::tuple<P...> &Arguments, cudaGraph_t *Graph) {
  if (How == Way::Captured) {
    CHECK(cudaStreamBeginCapture(S.Stream, cudaStreamCaptureModeThreadLocal));
    launchByChevrons(K, S, Arguments);
    cudaError_t Launched = cudaGetLastError(), Ended = cudaStreamEndCapture(S.Stream, Graph);
    cudaGetLastError();
    return Launched != cudaSuccess ? Launched : Ended;
  }
  CHECK(cudaGraphCreate(Graph, 0));
  cudaError_t Added = withAddresses(Arguments, [&](void **Addresses) {
    cudaKernelNodeParams Node{};
    Node.func = reinterpret_cast<void *>(K.Function);
    Node.gridDim = S.Grid;
    Node.blockDim = S.Block;
    Node.sharedMemBytes = S.Smem;
    Node.kernelParams = Addresses;
    cudaGraphNode_t Made;
    return cudaGraphAddKernelNode(&Made, *Graph, nullptr, 0, &Node);
  });
  cudaGetLastError();
  return Added;
}

/// Gives the only node of \p Graph other values, in \p Exec.
template <class... P>
cudaError_t changeNode(cudaGraph_t Graph, cudaGraphExec_t Exec, const Shape &S,
                       const std::tuple<P...> &Arguments) {
  size_t Count = 1;
  cudaGraphNode_t Node;
  cudaKernelNodeParams Old{};
  CHECK(cudaGraphGetNodes(Graph, &Node, &Count));
  CHECK(cudaGraphKernelNodeGetParams(Node, &Old));
  return withAddresses(Arguments, [&](void **Addresses) {
    cudaKernelNodeParams New = Old;
    New.gridDim = S.Grid;
    New.blockDim = S.Block;
    New.sharedMemBytes = S.Smem;
    New.kernelParams = Addresses;
    New.extra = nullptr;
    return cudaGraphExecKernelNodeSetParams(Exec, Node, &New);
  });
}

inline cudaError_t finishGraph(cudaGraphExec_t Exec, cudaStream_t Stream) {
  cudaError_t Launched = cudaGraphLaunch(Exec, Stream), Ended = cudaStreamSynchronize(Stream);
  return Launched != cudaSuccess ? Launched : Ended;
}

/// Launches a graph with the first values, then with the second ones.
template <class... P>
void byGraph(unsigned Number, Way How, const Kernel<P...> &K, Shape First, const Shape &Second,
             const std::tuple<P...> &FirstValues, const std::tuple<P...> &SecondValues) {
  auto Placed = [](const P &...Each) { return std::tuple<P...>(placed(Each, Outputs)...); };
  cudaStream_t Stream;
  cudaGraph_t Graph = nullptr;
  cudaGraphExec_t Exec;
  CHECK(cudaStreamCreate(&Stream));
  First.Stream = Stream;
  clear(Outputs, Stream);
  CHECK(cudaStreamSynchronize(Stream));
  cudaError_t Made = makeGraph(How, K, First, std::apply(Placed, FirstValues), &Graph);
  if (Made == cudaSuccess)
    Made = cudaGraphInstantiate(&Exec, Graph, 0);
  if (Made == cudaSuccess) {
    cudaError_t Ended = finishGraph(Exec, Stream);
    std::fputs(line(Number, 0, K.Name, Ended, Outputs).c_str(), stdout);
    clear(Outputs, Stream);
    cudaError_t Changed = changeNode(Graph, Exec, Second, std::apply(Placed, SecondValues));
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
  CHECK(cudaStreamDestroy(Stream));
  cudaGetLastError();
}

/// Two launches of \p K.
template <class... P>
void launches(unsigned Number, const Kernel<P...> &K, Way How, Shape First,
              const Values<P...> &FirstValues, Shape Second, const Values<P...> &SecondValues) {
  if (!fits(K, First) || !fits(K, Second)) {
    std::printf("%u skipped\n", Number);
    return;
  }
  if (How == Way::Threads)
    return byThreads(Number, K, {First, Second}, {FirstValues, SecondValues});
  if (How == Way::Captured || How == Way::Node)
    return byGraph(Number, How, K, First, Second, FirstValues, SecondValues);
  cudaStream_t Own = nullptr;
  if (How != Way::Chevrons && How != Way::Meanwhile && How != Way::PerThread)
    CHECK(cudaStreamCreate(&Own));
  First.Stream = Second.Stream = How == Way::PerThread ? cudaStreamPerThread : Own;
  std::fputs(once(Number, 0, How, K, First, FirstValues, Outputs).c_str(), stdout);
  std::fputs(once(Number, 1, How, K, Second, SecondValues, Outputs).c_str(), stdout);
  if (Own)
    CHECK(cudaStreamDestroy(Own));
}

//===------------------------------------------------------------------------------------------===//
// The rest of a program
//===------------------------------------------------------------------------------------------===//

template <class... P> void attributes(const Kernel<P...> &K) {
  cudaFuncAttributes A;
  CHECK(cudaFuncGetAttributes(&A, K.Function));
  std::printf("attributes %s %d %zu %zu %d %d %d %d\n", K.Name, A.numRegs, A.sharedSizeBytes,
              A.localSizeBytes, A.maxThreadsPerBlock, A.maxDynamicSharedSizeBytes, A.ptxVersion,
              A.binaryVersion);
}

template <class... P> void occupancy(const Kernel<P...> &K, int Threads, size_t Smem) {
  int Blocks = -1, Grid = -1, Block = -1;
  cudaError_t Asked =
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Blocks, K.Function, Threads, Smem);
  cudaError_t Best = cudaOccupancyMaxPotentialBlockSize(&Grid, &Block, K.Function, Smem);
  std::printf("occupancy %s %s %d %s %d %d\n", K.Name, cudaGetErrorName(Asked), Blocks,
              cudaGetErrorName(Best), Grid, Block);
  cudaGetLastError();
}

template <class... P> void permitSmem(const Kernel<P...> &K) {
  cudaError_t Set =
      cudaFuncSetAttribute(K.Function, cudaFuncAttributeMaxDynamicSharedMemorySize, PermittedSmem);
  std::printf("permit %s %s\n", K.Name, cudaGetErrorName(Set));
  cudaGetLastError();
}

inline void setSalt(unsigned Value) { CHECK(cudaMemcpyToSymbol(Salt, &Value, sizeof Value)); }

inline void setUp() {
  std::vector<unsigned> Host(InWords);
  for (unsigned I = 0; I < InWords; ++I)
    Host[I] = (I + 1) * 2654435761u;
  unsigned *Data;
  CHECK(cudaMalloc(&Data, InWords * sizeof(unsigned)));
  CHECK(cudaMemcpy(Data, Host.data(), InWords * sizeof(unsigned), cudaMemcpyHostToDevice));
  Input = Data;
  CHECK(cudaMalloc(&Outputs, HostThreads * OutWords * sizeof(unsigned)));
}

/// Everything on the device is lost and made again.
inline void resetDevice() {
  CHECK(cudaDeviceReset());
  setUp();
}

inline int finish() {
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGetLastError());
  std::puts("done");
  return 0;
}
