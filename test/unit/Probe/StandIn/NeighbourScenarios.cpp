/// \file
/// What the test program can do where something else of the process has to be known: other modules,
/// other threads.

#include "unit/Probe/StandIn/Program.h"

#include <chrono>
#include <thread>

using namespace carve::standin;

static constexpr unsigned Count = 4096;
static constexpr int Launches = 40;

/// A kernel gets another module's variable, and a third module goes.
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
