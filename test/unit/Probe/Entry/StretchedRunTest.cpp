// Which spans of a program's time a stretched run makes longer, on a clock that the tests turn.
#include "Probe/Entry/StretchedRun.h"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

using namespace carve::probe;

#define ID(Call) CUPTI_DRIVER_TRACE_CBID_##Call

namespace {

constexpr uint64_t Us = 1000, Ms = 1000 * Us, Start = 5 * Ms;
constexpr TimeStretch Wanted{2 * Us, 3'600'000 * Ms};

/// A program on a GPU that takes 100 us for each kernel, and the clock of both.
struct Program {
  Holds Held;
  uint64_t NowNs = Start, IdleNs = Start; ///< The time, and when the GPU has nothing to do.

  explicit Program(const TimeStretch &Stretch = Wanted) : Held(Stretch, Start) {}

  void launch() {
    NowNs = Held.beforeLaunch(NowNs) + 5 * Us;
    IdleNs = std::max(IdleNs, NowNs) + 100 * Us;
  }
  /// Waits until all kernels but the last \p Behind are done.
  void wait(Role Kind, unsigned Behind = 0) {
    NowNs = std::max(NowNs, IdleNs - Behind * 100 * Us);
    NowNs = std::max(NowNs, Held.afterWait(Kind, NowNs));
  }
  /// Launches \p Launches kernels, then waits for them. Returns how long it takes.
  double span(unsigned Launches) {
    uint64_t Begin = NowNs;
    for (unsigned L = 0; L < Launches; ++L)
      launch();
    wait(Role::AwaitsDevice);
    return double(NowNs - Begin);
  }
};

/// How many times longer than without a stretch the span is.
void expectLonger(double Ns, double PlainNs) {
  EXPECT_GE(Ns / PlainNs, 1 + LeastShare);
  // What follows the last launch of a span is not hidden by other work.
  EXPECT_LE(Ns / PlainNs, (1 + MostShare) * 1.001);
}

} // namespace

TEST(StretchedRun, asynchronousLaunchesAndOneWait_takeLongerByTheShare) {
  double Plain = Program(TimeStretch{}).span(5000);
  EXPECT_NEAR(Plain, 500e6, 1e6) << "the GPU works all the time";
  EXPECT_NEAR(Program(TimeStretch{2 * Us, 0}).span(5000), Plain, 1e4)
      << "what holds launches back is hidden by the GPU's work";
  Program P;
  double First = P.span(5000), Second = P.span(5000);
  expectLonger(First, Plain);
  expectLonger(Second, Plain);
  EXPECT_GT(Second / First, 1.01) << "a quotient of two times changes, too";
}

TEST(StretchedRun, waitsThatOtherStreamsHide_doNotShortenTheLastHold) {
  auto Span = [](Program P) {
    for (unsigned L = 0; L < 5000; ++L) {
      P.launch();
      P.wait(Role::AwaitsStream, 3);
    }
    P.wait(Role::AwaitsDevice);
    return double(P.NowNs - Start);
  };
  expectLonger(Span(Program()), Span(Program(TimeStretch{})));
}

TEST(StretchedRun, waitsForTheGpu_stretchWhateverTheyWaitFor) {
  for (Role Kind : {Role::AwaitsStream, Role::AwaitsDevice}) {
    auto Span = [&](Program P) {
      for (unsigned L = 0; L < 1000; ++L) {
        P.launch();
        P.wait(Kind);
      }
      return double(P.NowNs - Start);
    };
    // Nothing hides what holds back the launches.
    expectLonger(Span(Program()), Span(Program(TimeStretch{2 * Us, 0})));
  }
}

TEST(StretchedRun, threadsAtOnce_areHeldBackTogether) {
  Holds Held(Wanted, 0);
  uint64_t Until = Held.afterWait(Role::AwaitsDevice, 100 * Ms);
  EXPECT_GE(Until, 108 * Ms);
  EXPECT_EQ(Held.afterWait(Role::AwaitsDevice, 101 * Ms), Until);
  EXPECT_EQ(Held.afterWait(Role::AwaitsStream, 102 * Ms), Until);
  EXPECT_LE(Held.afterWait(Role::AwaitsStream, Until + Ms), Until + Ms + Ms / 5);
}

/// Each of them waits while another one is held back.
TEST(StretchedRun, threadsInTurn_doNotAddUp) {
  Holds Held(Wanted, 0);
  uint64_t Now = 0;
  for (unsigned Turn = 0; Turn < 1600; ++Turn)
    Now = Held.afterWait(Role::AwaitsDevice, Now + Ms);
  expectLonger(double(Now), 1600.0 * Ms);
}

TEST(StretchedRun, waitsTogether_areNotHeldBackForLongerThanWanted) {
  Holds Held({0, 10 * Ms}, 0);
  EXPECT_EQ(Held.afterWait(Role::AwaitsDevice, 100 * Ms), 108 * Ms);
  EXPECT_EQ(Held.afterWait(Role::AwaitsDevice, 208 * Ms), 210 * Ms);
  EXPECT_EQ(Held.afterWait(Role::AwaitsDevice, 310 * Ms), 310 * Ms);
}

TEST(StretchedRun, timeBetweenEvents_isToldLonger) {
  StretchedRun Run(Wanted);
  float Told = 100, Refused = 100;
  auto Tell = [&](CUpti_CallbackId Id, float *Into, CUpti_ApiCallbackSite Site, CUresult Result) {
    cuEventElapsedTime_params Params{Into, nullptr, nullptr};
    CUpti_CallbackData Call{};
    Call.callbackSite = Site;
    Call.functionParams = &Params;
    Call.functionReturnValue = &Result;
    Run.onCall(Id, Call);
  };
  Tell(ID(cuEventElapsedTime), &Told, CUPTI_API_ENTER, CUDA_SUCCESS);
  Tell(ID(cuEventElapsedTime), &Refused, CUPTI_API_EXIT, CUDA_ERROR_NOT_READY);
  EXPECT_EQ(Told, 100);
  EXPECT_EQ(Refused, 100);
  for (CUpti_CallbackId Id : {ID(cuEventElapsedTime), ID(cuEventElapsedTime_v2)}) {
    Told = 100;
    Tell(Id, &Told, CUPTI_API_EXIT, CUDA_SUCCESS);
    expectLonger(double(Told), 100);
  }
}

/// A question that is answered with `not ready` is no wait, so the time goes on.
TEST(StretchedRun, question_holdsBackIfTheWorkIsDone) {
  using Clock = std::chrono::steady_clock;
  StretchedRun Run(Wanted);
  auto Ask = [&](CUresult Result) {
    CUpti_CallbackData Call{};
    Call.callbackSite = CUPTI_API_EXIT;
    Call.functionReturnValue = &Result;
    auto Begin = Clock::now();
    Run.onCall(ID(cuEventQuery), Call);
    return std::chrono::duration<double>(Clock::now() - Begin).count();
  };
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  (void)Ask(CUDA_ERROR_NOT_READY);
  EXPECT_GE(Ask(CUDA_SUCCESS), 0.05 * LeastShare);
}

TEST(StretchedRun, calls_areThoseFromWhichAProgramLearnsItsTime) {
  auto Has = [](CUpti_CallbackId Id, Role R) { return rolesOf(Id).any(R); };
  for (CUpti_CallbackId Id : {ID(cuCtxSynchronize), ID(cuMemcpyDtoH_v2), ID(cuMemcpyDtoH_v2_ptds)})
    EXPECT_TRUE(Has(Id, Role::AwaitsDevice)) << Id;
  for (CUpti_CallbackId Id :
       {ID(cuStreamSynchronize), ID(cuStreamSynchronize_ptsz), ID(cuEventSynchronize),
        ID(cuStreamQuery), ID(cuEventQuery), ID(cuMemcpy2D_v2)})
    EXPECT_TRUE(Has(Id, Role::AwaitsStream)) << Id;
  // The host does not wait for these, so what holds it back would be hidden by the GPU's work, and
  // the next wait would count less time.
  for (CUpti_CallbackId Id :
       {ID(cuMemcpyDtoHAsync_v2), ID(cuMemcpyHtoD_v2), ID(cuMemcpyDtoD_v2), ID(cuLaunchKernel)})
    EXPECT_FALSE(rolesOf(Id).any(Role::AwaitsStream | Role::AwaitsDevice)) << Id;
}

TEST(TimeStretch, text_isReadBack) {
  TimeStretch Some{12, 3400000000000};
  EXPECT_EQ(TimeStretch::read(Some.text()), Some);
  for (const char *Bad :
       {"", "12", "12 ", " 12 3", "12 3 ", "12 x", "-1 3", "99999999999999999999 1"})
    EXPECT_EQ(TimeStretch::read(Bad), std::nullopt) << Bad;
}
