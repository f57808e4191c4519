#include "Probe/Driver/Submissions.h"

#include <atomic>
#include <gtest/gtest.h>
#include <thread>

using namespace carve::probe;
using namespace std::chrono_literals;

#define ID(Call) CUPTI_DRIVER_TRACE_CBID_##Call

/// Returns whether a call of another thread waits while this thread holds the gate closed.
static bool waits(Submissions &Submitted, CUpti_CallbackId Id) {
  EXPECT_TRUE(Submitted.Gate.close(1000ms));
  std::atomic<bool> Passed{false};
  std::thread Other([&] {
    Submitted.enter(Id);
    Passed = true;
    CUpti_CallbackData Call{};
    Submitted.leave(Id, Call);
  });
  std::this_thread::sleep_for(20ms);
  bool Waited = !Passed;
  Submitted.Gate.open();
  Other.join();
  return Waited;
}

TEST(Submissions, callsWithTheRoleGated_waitAtAClosedGate) {
  Submissions Submitted;
  Submitted.guard({950});
  EXPECT_TRUE(waits(Submitted, ID(cuMemcpyHtoD_v2)));
  EXPECT_TRUE(waits(Submitted, ID(cuLaunchKernel_ptsz)));
  EXPECT_TRUE(waits(Submitted, 950)) << "it was named";
  EXPECT_FALSE(waits(Submitted, ID(cuCtxSynchronize)));
  EXPECT_FALSE(waits(Submitted, 951));
}

TEST(Submissions, runWithoutGuard_letsNothingWait) {
  Submissions Submitted;
  EXPECT_FALSE(waits(Submitted, ID(cuLaunchKernel)));
}

TEST(Submissions, callUnderWay_keepsTheGateOpen) {
  Submissions Submitted;
  Submitted.guard({});
  std::thread([&] { Submitted.enter(ID(cuMemAlloc_v2)); }).join();
  EXPECT_FALSE(Submitted.Gate.close(10ms));
}

TEST(Submissions, captures_areCountedAtTheExit) {
  Submissions Submitted;
  CUresult Result = CUDA_SUCCESS;
  CUpti_CallbackData Call{};
  Call.callbackSite = CUPTI_API_EXIT;
  Call.functionReturnValue = &Result;
  Submitted.enter(ID(cuStreamBeginCapture_v2));
  EXPECT_FALSE(Submitted.Captures.any());
  Submitted.leave(ID(cuStreamBeginCapture_v2), Call);
  EXPECT_TRUE(Submitted.Captures.any());
  Submitted.leave(ID(cuStreamEndCapture), Call);
  EXPECT_FALSE(Submitted.Captures.any());
}
