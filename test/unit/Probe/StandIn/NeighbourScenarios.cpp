/// \file
/// Scenarios in which the probe must know something else of the process: other modules, other
/// threads, other kernels, and captures.

#include "unit/Probe/StandIn/Program.h"
#include "unit/Probe/StandIn/ProgramKernels.h"

#include <chrono>
#include <thread>

using namespace carve::standin;

static constexpr unsigned Count = 4096;
static constexpr int Launches = 40;

/// A kernel gets another module's variable, and a third module is unloaded.
void carve::standin::otherVariables(Kernels &K) {
  CUmodule Other, Passing;
  Buffer Counter(16, 1);
  CHECK(cuModuleLoadData(&Other, Kernels::image()));
  CHECK(cuModuleGetGlobal(&Counter.Base, nullptr, Other, "Counter"));
  CHECK(cuModuleLoadData(&Passing, Kernels::image()));
  CHECK(cuModuleUnload(Passing));
  for (int L = 0; L < Launches; ++L)
    launch(K.Step, nullptr, {&Counter.Base, &Counter.Count});
  Counter.print("counter");
  CHECK(cuModuleUnload(Other));
}

/// Another thread's own default stream is busy, and has no handle that could be asked.
void carve::standin::threadStream(Kernels &K) {
  CUcontext Context = nullptr;
  Buffer Data(Count, 1); // Copying waits for all default streams.
  CHECK(cuCtxGetCurrent(&Context));
  std::thread([Context] {
    CHECK(cuCtxSetCurrent(Context));
    CHECK(cuLaunchHostFunc(
        CU_STREAM_PER_THREAD,
        [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(1400)); }, nullptr));
  }).join();
  CUstream Stream = nullptr;
  CHECK(cuStreamCreate(&Stream, CU_STREAM_NON_BLOCKING));
  for (int L = 0; L < Launches; ++L)
    launch(K.Step, Stream, {&Data.Base, &Data.Count});
  CHECK(cuCtxSynchronize());
  Data.print("data");
}

/// A kernel that changes a variable runs 3, 4 and 5 times: in the library, in a module that is
/// unloaded, and in a context that is destroyed.
void carve::standin::counted(Kernels &K) {
  auto Run = [](CUfunction Kernel, int Launches) {
    Buffer Data(Count, 1);
    for (int L = 0; L < Launches; ++L)
      launch(Kernel, nullptr, {&Data.Base, &Data.Count});
    Data.print("data");
  };
  auto Load = [](CUmodule &Module) {
    CUfunction Kernel = nullptr;
    CHECK(cuModuleLoadData(&Module, Kernels::image()));
    CHECK(cuModuleGetFunction(&Kernel, Module, "count"));
    return Kernel;
  };
  CUmodule Passing = nullptr, Kept = nullptr;
  Run(K.Count, 3);
  Run(Load(Passing), 4);
  CHECK(cuModuleUnload(Passing));
  CUcontext First = nullptr, Second = nullptr;
  CHECK(cuCtxGetCurrent(&First));
  CHECK(cuCtxCreate(&Second, nullptr, 0, 0));
  Run(Load(Kept), 5);
  CHECK(cuCtxDestroy(Second));
  CHECK(cuCtxSetCurrent(First));
}

/// Two kernels are launched in turn.
void carve::standin::twoInTurn(Kernels &K) {
  Buffer Data(KnownCount, 1), Sums(KnownCount, 0);
  for (unsigned L = 0; L < 400; ++L) {
    launch(K.Step, nullptr, {&Data.Base, &Data.Count});
    launch(K.Scale, nullptr, {&Sums.Base, &Data.Base, &Data.Count});
  }
  Sums.print("sums");
}

/// After each launch another one is captured, in a graph that is never launched.
void carve::standin::capturedBetween(Kernels &K) {
  Buffer Data(KnownCount, 1), Captured(KnownCount, 2);
  CUstream Capturing = nullptr;
  CHECK(cuStreamCreate(&Capturing, CU_STREAM_NON_BLOCKING));
  for (unsigned L = 0; L < 200; ++L) {
    launch(K.Step, nullptr, {&Data.Base, &Data.Count});
    CUgraph Graph = nullptr;
    CHECK(cuStreamBeginCapture(Capturing, CU_STREAM_CAPTURE_MODE_RELAXED));
    launch(K.Step, Capturing, {&Captured.Base, &Captured.Count});
    CHECK(cuStreamEndCapture(Capturing, &Graph));
    CHECK(cuGraphDestroy(Graph));
  }
  Data.print("data");
  Captured.print("captured");
}
