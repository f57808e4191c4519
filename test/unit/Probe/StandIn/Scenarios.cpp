/// \file
/// The scenarios of the test program. Everything that they print is the same in every run without
/// the probe, and must be the same with it.

#include "unit/Probe/StandIn/Program.h"
#include "unit/Probe/StandIn/ProgramKernels.h"
#include "unit/Probe/StandIn/StandIn.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace carve::standin;

static constexpr unsigned Count = 4096;
static constexpr int Launches = 40;

static CUstream newStream(unsigned Flags = CU_STREAM_NON_BLOCKING) {
  CUstream Stream = nullptr;
  CHECK(cuStreamCreate(&Stream, Flags));
  return Stream;
}

static void scaleInto(Kernels &K, CUstream Stream, Buffer &Out, Buffer &In, unsigned Blocks = 16) {
  launch(K.Scale, Stream, {&Out.Base, &In.Base, &In.Count}, Blocks);
}

static void step(CUfunction Kernel, CUstream Stream, Buffer &Data) {
  launch(Kernel, Stream, {&Data.Base, &Data.Count});
}

static void deterministic(Kernels &K) {
  Buffer In(Count, 1), Out(Count, 2), Other(64, 3);
  setStrayTarget(Other.Base);
  for (int L = 0; L < Launches; ++L) {
    scaleInto(K, nullptr, Out, In, L % 4 ? 16 : 8);
    scaleInto(K, nullptr, In, Out, L % 4 ? 16 : 8);
  }
  In.print("in");
  Out.print("out");
  Other.print("other");
}

static void repeated(Kernels &K) {
  Buffer In(Count, 1), Out(Count, 2), Other(64, 3);
  setStrayTarget(Other.Base);
  for (int L = 0; L < Launches; ++L)
    scaleInto(K, nullptr, Out, In, 8); // Later launches write what is there already.
  Out.print("out");
  Other.print("other");
}

static void inPlace(Kernels &K) {
  Buffer Data(Count, 1), Other(64, 3);
  setStrayTarget(Other.Base);
  for (int L = 0; L < Launches; ++L)
    step(K.Step, nullptr, Data);
  Data.print("data");
  Other.print("other");
}

/// The first launch takes longer than all others together.
static void longStart(Kernels &K) {
  Buffer Data(Count, 1);
  unsigned First = Data.words().front();
  float Start = 0;
  std::memcpy(&Start, &First, sizeof Start);
  setLongStart(Start);
  for (int L = 0; L < Launches; ++L)
    step(K.Step, nullptr, Data);
  Data.print("data");
}

/// Sums in different orders agree except for their last digits.
static void printRounded(const char *Name, const Buffer &Data) {
  double Sum = 0;
  for (unsigned Word : Data.words()) {
    float Value = 0;
    std::memcpy(&Value, &Word, sizeof Value);
    Sum += double(Value);
  }
  std::printf("%s %.4g\n", Name, Sum);
}

static void atomics(Kernels &K) {
  Buffer In(Count, 1), Out(64, 2), Other(64, 3);
  setStrayTarget(Other.Base);
  for (int L = 0; L < Launches; ++L)
    launch(K.Sum, nullptr, {&Out.Base, &In.Base, &In.Count});
  printRounded("sums", Out);
  In.print("in");
  Other.print("other");
}

static void permutation(Kernels &K) {
  Buffer In(Count, 1), List(Count, 2);
  for (int L = 0; L < Launches; ++L)
    launch(K.Append, nullptr, {&List.Base, &In.Base, &In.Count});
  std::vector<unsigned> Words = List.words(), Expected = In.words();
  std::sort(Words.begin(), Words.end());
  std::sort(Expected.begin(), Expected.end());
  std::printf("list %s\n", Words == Expected ? "complete" : "wrong");
}

/// As permutation, but each list is made in cleared memory.
static void rebuilt(Kernels &K) {
  Buffer In(Count, 1), List(Count, 2);
  for (int L = 0; L < Launches; ++L) {
    CHECK(cuMemsetD32(List.Base, 0, Count));
    launch(K.Append, nullptr, {&List.Base, &In.Base, &In.Count});
  }
  In.print("in");
}

static void streams(Kernels &K) {
  std::vector<Buffer> Data;
  std::vector<CUstream> Streams;
  for (unsigned S = 0; S < 4; ++S) {
    Data.emplace_back(Count, S);
    Streams.push_back(newStream(S % 2 ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
  }
  CUevent Event = nullptr;
  CHECK(cuEventCreate(&Event, CU_EVENT_DISABLE_TIMING));
  for (int L = 0; L < Launches; ++L) {
    for (unsigned S = 0; S < 4; ++S)
      step(K.Step, Streams[S], Data[S]);
    // Each stream hands on to the next, so that streams wait for each other.
    CHECK(cuEventRecord(Event, Streams[unsigned(L) % 4]));
    CHECK(cuStreamWaitEvent(Streams[unsigned(L + 1) % 4], Event, 0));
    scaleInto(K, Streams[unsigned(L + 1) % 4], Data[unsigned(L + 1) % 4], Data[unsigned(L) % 4]);
    CHECK(cuEventRecord(Event, Streams[unsigned(L + 1) % 4]));
    CHECK(cuStreamWaitEvent(Streams[unsigned(L) % 4], Event, 0));
  }
  for (unsigned S = 0; S < 4; ++S)
    CHECK(cuStreamSynchronize(Streams[S]));
  CHECK(cuEventDestroy(Event));
  for (const Buffer &B : Data)
    B.print("stream");
}

/// One of many threads that allocate, copy, launch and free.
static uint64_t busyThread(Kernels &K, CUcontext Context, unsigned Seed) {
  CHECK(cuCtxSetCurrent(Context));
  CUstream Stream = newStream();
  Buffer Kept(Count, Seed);
  for (unsigned L = 0; L < 25; ++L) {
    Buffer Passing(Count, Seed + L);
    scaleInto(K, Stream, Passing, Kept);
    step(K.Step, Stream, Passing);
    CHECK(cuMemcpyDtoDAsync(Kept.Base, Passing.Base, Count * sizeof(float), Stream));
    step(K.Step, Stream, Kept);
    CUdeviceptr Pooled = 0;
    CHECK(cuMemAllocAsync(&Pooled, 1024, Stream));
    CHECK(cuMemsetD8Async(Pooled, 1, 1024, Stream));
    CHECK(cuMemFreeAsync(Pooled, Stream));
    CHECK(cuStreamSynchronize(Stream));
    Passing.free();
  }
  CHECK(cuStreamDestroy(Stream));
  uint64_t Sum = Kept.checksum();
  Kept.free();
  return Sum;
}

static void threads(Kernels &K) {
  CUcontext Context = nullptr;
  CHECK(cuCtxGetCurrent(&Context));
  std::vector<uint64_t> Sums(8);
  std::vector<std::thread> Threads;
  for (unsigned T = 0; T < Sums.size(); ++T)
    Threads.emplace_back([&, T] { Sums[T] = busyThread(K, Context, T); });
  for (std::thread &T : Threads)
    T.join();
  for (uint64_t Sum : Sums)
    std::printf("thread %016llx\n", static_cast<unsigned long long>(Sum));
}

static void contexts(Kernels &K) {
  CUcontext First = nullptr, Second = nullptr;
  CHECK(cuCtxGetCurrent(&First));
  CHECK(cuCtxCreate(&Second, nullptr, 0, 0));
  CHECK(cuCtxSetCurrent(Second));
  CUmodule Module = nullptr;
  CUfunction Step = nullptr;
  CHECK(cuModuleLoadData(&Module, Kernels::image()));
  CHECK(cuModuleGetFunction(&Step, Module, "step"));
  Buffer There(Count, 1);
  CHECK(cuCtxSetCurrent(First));
  Buffer Here(Count, 2);
  for (int L = 0; L < Launches; ++L) {
    CHECK(cuCtxSetCurrent(First));
    step(K.Step, nullptr, Here);
    CHECK(cuCtxSetCurrent(Second));
    step(Step, nullptr, There);
  }
  There.print("there");
  CHECK(cuModuleUnload(Module));
  CHECK(cuCtxSetCurrent(First));
  Here.print("here");
}

static void capture(Kernels &K) {
  CUcontext Context = nullptr;
  CHECK(cuCtxGetCurrent(&Context));
  Buffer Data(Count, 1), Beside(Count, 2);
  CUstream Stream = newStream();
  std::atomic<bool> Stop{false};
  // These launches run beside the captures, and a replay of them must not disturb those.
  std::thread Other([&] {
    CHECK(cuCtxSetCurrent(Context));
    CUstream Own = newStream();
    for (int L = 0; L < Launches; ++L)
      step(K.Step, Own, Beside);
    while (!Stop)
      std::this_thread::yield();
    CHECK(cuStreamSynchronize(Own));
  });
  for (int G = 0; G < 10; ++G) {
    CUgraph Graph = nullptr;
    CUgraphExec Exec = nullptr;
    CHECK(cuStreamBeginCapture(Stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    step(K.Step, Stream, Data);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    step(K.Step, Stream, Data);
    CHECK(cuStreamEndCapture(Stream, &Graph));
    CHECK(cuGraphInstantiate(&Exec, Graph, 0));
    CHECK(cuGraphLaunch(Exec, Stream));
    step(K.Step, Stream, Data);
    CHECK(cuGraphLaunch(Exec, Stream));
    CHECK(cuStreamSynchronize(Stream));
    CHECK(cuGraphExecDestroy(Exec));
    CHECK(cuGraphDestroy(Graph));
  }
  Stop = true;
  Other.join();
  Data.print("data");
  Beside.print("beside");
}

/// Fills the device to the last block after a replay has taken its shadow memory.
static void fullMemory(Kernels &K) {
  setDeviceMemory(size_t(128) << 20);
  size_t Free = 0, Total = 0;
  Buffer Data(Count, 1);
  CHECK(cuMemGetInfo(&Free, &Total));
  std::vector<CUdeviceptr> Blocks;
  auto Take = [&](size_t Bytes) {
    CUdeviceptr Block = 0;
    CHECK(cuMemAlloc(&Block, Bytes));
    CHECK(cuMemsetD8(Block, 3, Bytes));
    Blocks.push_back(Block);
  };
  Take(Free / 4);
  for (int L = 0; L < Launches; ++L)
    step(K.Step, nullptr, Data);
  CHECK(cuMemGetInfo(&Free, &Total));
  std::printf("free %zu of %zu\n", Free, Total);
  Take(Free / 2);
  for (int L = 0; L < Launches; ++L)
    step(K.Step, nullptr, Data);
  CHECK(cuMemGetInfo(&Free, &Total));
  Take(Free);
  CUdeviceptr More = 0;
  std::printf("one more: %d\n", int(cuMemAlloc(&More, 4096)));
  for (int L = 0; L < Launches; ++L)
    step(K.Step, nullptr, Data);
  Data.print("data");
  for (CUdeviceptr Block : Blocks)
    CHECK(cuMemFree(Block));
}

/// The host writes this memory while kernels run; each of the two has words of its own.
static void sharedWithHost(Kernels &K, CUdeviceptr Base) {
  auto *Host = reinterpret_cast<std::atomic<unsigned> *>(Base + Count * sizeof(float));
  std::memset(reinterpret_cast<void *>(Base), 0, (Count + 1) * sizeof(float));
  unsigned Words = Count;
  for (int L = 0; L < Launches; ++L) {
    launch(K.Step, nullptr, {&Base, &Words});
    ++*Host;
  }
  CHECK(cuCtxSynchronize());
  uint64_t Sum = 14695981039346656037ull;
  for (unsigned I = 0; I < Count; ++I)
    Sum = (Sum ^ reinterpret_cast<const unsigned *>(Base)[I]) * 1099511628211ull;
  std::printf("shared %016llx, host %u\n", static_cast<unsigned long long>(Sum), Host->load());
}

static void managed(Kernels &K) {
  CUdeviceptr Base = 0;
  CHECK(cuMemAllocManaged(&Base, (Count + 1) * sizeof(float), CU_MEM_ATTACH_GLOBAL));
  sharedWithHost(K, Base);
}

static void hostMapped(Kernels &K) {
  void *Host = nullptr;
  CUdeviceptr Base = 0;
  CHECK(cuMemHostAlloc(&Host, (Count + 1) * sizeof(float), CU_MEMHOSTALLOC_DEVICEMAP));
  CHECK(cuMemHostGetDevicePointer(&Base, Host, 0));
  sharedWithHost(K, Base);
}

/// The kernel's memory is the host's, and no argument shows it: its address is in device memory.
static void hostHidden(Kernels &K) {
  void *Host = nullptr;
  CHECK(cuMemHostAlloc(&Host, Count * sizeof(float), CU_MEMHOSTALLOC_DEVICEMAP));
  std::memset(Host, 0, Count * sizeof(float));
  Buffer Data(Count, 1);
  CHECK(cuMemcpyHtoD(Data.Base + 512, &Host, sizeof Host));
  for (int L = 0; L < Launches; ++L) {
    Buffer Out(Count, unsigned(L));
    scaleInto(K, nullptr, Out, Data);
    Out.free();
  }
  // The address is a different one in every run.
  CHECK(cuMemsetD8(Data.Base + 512, 0, sizeof Host));
  Data.print("data");
}

static void variables(Kernels &K) {
  Buffer Data(Count, 1);
  for (int L = 0; L < Launches; ++L)
    step(K.Count, nullptr, Data);
  Data.print("data");
  CUdeviceptr Counter = 0;
  unsigned Values[16];
  CHECK(cuLibraryGetGlobal(&Counter, nullptr, K.Library, "Counter"));
  CHECK(cuMemcpyDtoH(Values, Counter, sizeof Values));
  std::printf("counted %u %u\n", Values[0], Values[3]);
}

static void launchSteps(Kernels &K, const char *Name, Buffer &Data) {
  for (int L = 0; L < Launches; ++L)
    step(K.Step, nullptr, Data);
  Data.print(Name);
}

static void mapped(Kernels &K) {
  constexpr size_t Bytes = size_t(64) << 10;
  CUdeviceptr Base = 0;
  CHECK(cuMemAddressReserve(&Base, 2 * Bytes, 0, 0, 0));
  CUmemAllocationProp Properties{};
  Properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  Properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemGenericAllocationHandle Handle = 0;
  CHECK(cuMemCreate(&Handle, Bytes, &Properties, 0));
  CHECK(cuMemMap(Base, Bytes, 0, Handle, 0));
  CUmemAccessDesc Access{};
  Access.location = Properties.location;
  Access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CHECK(cuMemSetAccess(Base, Bytes, &Access, 1));
  CHECK(cuMemsetD8(Base, 0, Bytes));
  CHECK(cuMemRelease(Handle));
  Buffer View(Count, 1);
  std::swap(View.Base, Base);
  launchSteps(K, "mapped", View);
  CHECK(cuMemUnmap(View.Base, Bytes));
  Buffer After(Count, 1);
  launchSteps(K, "after", After);
}

/// Each launch changes the first eighth of its memory, which has two chunks of the probe.
static void firstEighth(Kernels &K) {
  Buffer Data(8 * Count, 1), Other(Count, 3);
  Data.Count = Count;
  launchSteps(K, "data", Data);
  Data.Count = 8 * Count;
  Data.print("all");
  Other.print("other");
}

/// The later launches lead to more memory than twice the size of L2.
static void largerLater(Kernels &K) {
  Buffer Small(Count, 1), Large(L2Bytes, 1);
  launchSteps(K, "small", Small);
  launchSteps(K, "large", Large);
}

/// The program ends while another thread is in the middle of its launches.
static void earlyExit(Kernels &K) {
  CUcontext Context = nullptr;
  CHECK(cuCtxGetCurrent(&Context));
  Buffer Data(Count, 1);
  Data.print("data");
  std::thread([&K, Context] {
    CHECK(cuCtxSetCurrent(Context));
    Buffer Own(Count, 2);
    while (true)
      step(K.Step, nullptr, Own);
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  std::fflush(stdout);
  std::exit(5);
}

static void forks(Kernels &K) {
  Buffer Data(Count, 1);
  for (int L = 0; L < Launches; ++L) {
    step(K.Step, nullptr, Data);
    if (L % 10 == 9) {
      std::fflush(stdout);
      pid_t Child = ::fork();
      if (Child == 0)
        ::_exit(0);
      int Status = 0;
      ::waitpid(Child, &Status, 0);
      std::printf("child %d\n", Status);
    }
  }
  Data.print("data");
}

/// The program launches and waits once. It says on stderr how long the device took, how long it
/// took itself, and twice how long the device took between two events.
static void asynchronous(Kernels &K) {
  using Clock = std::chrono::steady_clock;
  Buffer Data(Count, 1);
  CUevent First = nullptr, Last = nullptr;
  CHECK(cuEventCreate(&First, CU_EVENT_DEFAULT));
  CHECK(cuEventCreate(&Last, CU_EVENT_DEFAULT));
  Clock::time_point Begin = Clock::now(), Done;
  CHECK(cuEventRecord(First, nullptr));
  for (int L = 0; L < Launches; ++L)
    step(K.Step, nullptr, Data);
  CHECK(cuEventRecord(Last, nullptr));
  auto Work = [](void *Into) {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    *static_cast<Clock::time_point *>(Into) = Clock::now();
  };
  CHECK(cuLaunchHostFunc(nullptr, Work, &Done));
  CHECK(cuCtxSynchronize());
  Clock::time_point End = Clock::now();
  float Ms = 0, Again = 0;
  CHECK(cuEventElapsedTime(&Ms, First, Last));
  CHECK(cuEventElapsedTime(&Again, First, Last));
  auto Ns = [&](Clock::time_point Until) {
    return static_cast<long long>(std::chrono::nanoseconds(Until - Begin).count());
  };
  std::fprintf(stderr, "device %lld host %lld events %.9g %.9g\n", Ns(Done), Ns(End), double(Ms),
               double(Again));
  CHECK(cuEventDestroy(First));
  CHECK(cuEventDestroy(Last));
  Data.print("data");
}

const std::vector<Scenario> &carve::standin::scenarios() {
  static const std::vector<Scenario> All = {
      {"deterministic", deterministic},
      {"repeated", repeated},
      {"in-place", inPlace},
      {"long-start", longStart},
      {"atomics", atomics},
      {"permutation", permutation},
      {"rebuilt", rebuilt},
      {"streams", streams},
      {"threads", threads},
      {"contexts", contexts},
      {"capture", capture},
      {"full-memory", fullMemory},
      {"managed", managed},
      {"host-mapped", hostMapped},
      {"host-hidden", hostHidden},
      {"variables", variables},
      {"other-variables", otherVariables},
      {"asynchronous", asynchronous},
      {"mapped", mapped},
      {"larger-later", largerLater},
      {"first-eighth", firstEighth},
      {"thread-stream", threadStream},
      {"early-exit", earlyExit},
      {"counted", counted},
      {"forks", forks},
      {"host-large", hostLarge},
      {"host-large-slow", hostLargeSlow},
      {"host-masked", hostMasked},
      {"managed-masked", managedMasked},
      {"host-written", hostWritten},
      {"host-in-constant", hostInConstant},
      {"constant-as-argument", constantAsArgument},
      {"constant-in-memory", constantInMemory},
      {"factors-in-memory", factorsInMemory},
      {"linked-variable", linkedVariable},
      {"managed-variable", managedVariable},
      {"unknown-call", unknownCall},
      {"sandboxed", sandboxed},
      {"lengths", lengths},
      {"many-lengths", manyLengths},
      {"two-in-turn", twoInTurn},
      {"captured-between", capturedBetween},
      {"converging", converging},
      {"shrinking", shrinking},
      {"shrinking-to-managed", shrinkingToManaged},
      {"packed", packed},
      {"random-graphs", randomGraphs},
      {"unheard-of-node", unheardOfNode},
      {"pageable-copy", pageableCopy},
      {"device-launched", deviceLaunched},
      {"beside-device-launched", besideDeviceLaunched},
      {"refused-update", refusedUpdate},
      {"waiting-nodes", waitingNodes},
      {"tied-objects", tiedObjects},
      {"shared-stream", sharedStream},
      {"long-chain", longChain},
      {"graph-contexts", graphContexts},
      {"counted-graph", countedGraph},
      {"graph-steps", graphSteps},
      {"graph-memory", graphMemory},
      {"graph-programmatic", graphProgrammatic},
      {"graph-programmatic-memory", graphProgrammaticMemory},
      {"graph-semaphores", graphSemaphores},
      {"graph-memory-operations", graphMemoryOperations},
      {"captured-operations", capturedOperations},
      {"graph-conditional", graphConditional},
      {"graph-conditional-twice", graphConditionalTwice},
  };
  return All;
}
