#include "Probe/Driver/SubmissionGate.h"

#include <atomic>
#include <gtest/gtest.h>
#include <vector>

using namespace carve::probe;
using namespace std::chrono_literals;

TEST(SubmissionGate, closedGate_letsOtherThreadsWait) {
  SubmissionGate Gate;
  Gate.enter();
  ASSERT_TRUE(Gate.close(1000ms)) << "the replaying thread's own call does not count";
  std::atomic<bool> Passed{false};
  std::thread Other([&] {
    Gate.enter();
    Passed = true;
    Gate.leave();
  });
  std::this_thread::sleep_for(30ms);
  EXPECT_FALSE(Passed);
  Gate.enter();
  Gate.leave();
  Gate.open();
  Other.join();
  EXPECT_TRUE(Passed);
  Gate.leave();
}

TEST(SubmissionGate, callUnderWay_keepsTheGateOpen) {
  SubmissionGate Gate;
  std::atomic<int> Stage{0};
  std::thread Other([&] {
    Gate.enter();
    Stage = 1;
    while (Stage != 2)
      std::this_thread::yield();
    Gate.leave();
  });
  while (Stage != 1)
    std::this_thread::yield();
  EXPECT_FALSE(Gate.close(20ms));
  Gate.enter(); // No call waits for a replay that is not made.
  Gate.leave();
  Stage = 2;
  Other.join();
  EXPECT_TRUE(Gate.close(1000ms));
  Gate.open();
}

TEST(SubmissionGate, threadOutside_letsTheGateBeClosedAndThenWaits) {
  SubmissionGate Gate;
  std::atomic<int> Stage{0};
  std::thread Other([&] {
    Gate.enter();
    {
      OutsideGate Outside(Gate);
      Stage = 1;
      while (Stage != 2)
        std::this_thread::yield();
    }
    Stage = 3;
    Gate.leave();
  });
  while (Stage != 1)
    std::this_thread::yield();
  ASSERT_TRUE(Gate.close(1000ms));
  EXPECT_TRUE(Gate.closed());
  Stage = 2;
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(Stage, 2) << "it waits for the gate";
  Gate.open();
  Other.join();
  EXPECT_FALSE(Gate.closed());
  EXPECT_EQ(Stage, 3);
  EXPECT_TRUE(Gate.close(0ms)) << "its call has ended as any other";
  Gate.open();
}

TEST(SubmissionGate, close_waitsForCallsUnderWay) {
  SubmissionGate Gate;
  std::atomic<bool> Inside{false}, Left{false};
  std::thread Other([&] {
    Gate.enter();
    Inside = true;
    std::this_thread::sleep_for(50ms);
    Left = true;
    Gate.leave();
  });
  while (!Inside)
    std::this_thread::yield();
  EXPECT_TRUE(Gate.close(10'000ms));
  EXPECT_TRUE(Left);
  Gate.open();
  Other.join();
}

TEST(SubmissionGate, nestedCallsOfOneThread_doNotWaitForThemselves) {
  SubmissionGate Gate;
  std::atomic<int> Stage{0};
  std::thread Other([&] {
    Gate.enter();
    Stage = 1;
    while (Stage != 2)
      std::this_thread::yield();
    Gate.enter(); // The gate is being closed, and a nested call must not wait for that.
    Gate.leave();
    Gate.leave();
  });
  while (Stage != 1)
    std::this_thread::yield();
  std::thread Replaying([&] {
    EXPECT_TRUE(Gate.close(10'000ms));
    Gate.open();
  });
  std::this_thread::sleep_for(20ms);
  Stage = 2;
  Other.join();
  Replaying.join();
}

TEST(SubmissionGate, manyThreadsAndReplays_neverOverlap) {
  SubmissionGate Gate;
  std::atomic<int> Submitting{0}, Replays{0};
  std::atomic<bool> Replaying{false}, Wrong{false};
  std::vector<std::thread> Threads;
  for (int T = 0; T < 6; ++T)
    Threads.emplace_back([&, T] {
      for (int I = 0; I < 500; ++I) {
        Gate.enter();
        ++Submitting;
        if (I % 50 == T && (--Submitting, Gate.close(1000ms))) {
          Wrong = Wrong || Replaying.exchange(true) || Submitting != 0;
          std::this_thread::yield();
          Wrong = Wrong || Submitting != 0;
          Replaying = false;
          ++Replays;
          Gate.open();
          ++Submitting;
        } else if (I % 50 == T) {
          ++Submitting;
        }
        Wrong = Wrong || Replaying;
        --Submitting;
        Gate.leave();
      }
    });
  for (std::thread &T : Threads)
    T.join();
  EXPECT_FALSE(Wrong);
  EXPECT_GT(Replays, 0);
}
