#include "Emit/CodePromises.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

class CodePromises : public testing::Test {
protected:
  CodePromises() {
    Default.RegsPerThread = New.RegsPerThread = 64;
    Default.StaticSmemBytes = New.StaticSmemBytes = 1024;
  }

  std::string broken(LaunchDomain Domain = LaunchDomain::Preserve) const {
    return brokenPromise(Model, {Default, New, DefaultThreads, NewThreads, Spills}, Domain)
        .value_or("");
  }
  std::string brokenUntimed(bool BlocksMeet = false) const {
    return brokenPromiseUntimed(Model, {Default, New, DefaultThreads, NewThreads, Spills},
                                BlocksMeet)
        .value_or("");
  }

  DeviceModel Model =
      llvm::cantFail(loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_90"));
  KernelResources Default, New;
  unsigned DefaultThreads = 1024, NewThreads = 1024;
  bool Spills = false;
};

} // namespace

TEST_F(CodePromises, equalResources_breakNothing) {
  EXPECT_EQ(broken(), "");
  EXPECT_EQ(brokenUntimed(true), "");
}

TEST_F(CodePromises, registersAndBounds_keepTheLargestBlock) {
  New.RegsPerThread = 72;
  std::string Message = "its 72 registers would shrink the largest block from 1024 to 896 threads";
  EXPECT_EQ(broken(), Message);
  EXPECT_EQ(broken(LaunchDomain::Traced), "");
  EXPECT_EQ(brokenUntimed(), Message);
  DefaultThreads = NewThreads = 896;
  EXPECT_EQ(broken(), "");
  NewThreads = 512;
  EXPECT_EQ(broken(), "its bound would shrink the largest block from 896 to 512 threads");
  // A bound that the default's registers impose anyway forbids nothing.
  DefaultThreads = 1024;
  Default.RegsPerThread = New.RegsPerThread = 128;
  EXPECT_EQ(broken(), "");
}

TEST_F(CodePromises, staticSharedMemory_growsOnlyBySpillingToIt) {
  New.StaticSmemBytes = 2048;
  EXPECT_EQ(broken(LaunchDomain::Traced),
            "its static shared memory would grow from 1024 to 2048 bytes");
  Spills = true;
  EXPECT_EQ(broken(), "");
  New.StaticSmemBytes = 48 * 1024;
  EXPECT_EQ(broken(), "");
  New.StaticSmemBytes += 1;
  EXPECT_EQ(broken(), "its static shared memory would grow from 1024 to 49153 bytes, beyond 49152");
}

TEST_F(CodePromises, knownStack_staysKnown) {
  New.StackUnknown = true;
  EXPECT_EQ(broken(LaunchDomain::Traced), "the size of its stack would be unknown");
  Default.StackUnknown = true;
  EXPECT_EQ(broken(), "");
}

TEST_F(CodePromises, localMemoryOfUntimedCode_isBounded) {
  Default.StackBytes = 40;
  New.StackBytes = 40 + 128; // The limit: 64 MB over 256 SMs of 2048 threads.
  EXPECT_EQ(brokenUntimed(), "");
  New.StackBytes += 8;
  EXPECT_EQ(brokenUntimed(), "its local memory would grow from 40 to 176 bytes per thread");
  EXPECT_EQ(broken(), "") << "the tuning judges local memory of timed code";
}

TEST_F(CodePromises, blocksThatMeet_stayResidentTogether) {
  DefaultThreads = NewThreads = 256;
  New.RegsPerThread = 72;
  EXPECT_EQ(brokenUntimed(false), "");
  EXPECT_EQ(brokenUntimed(true),
            "28 instead of 32 blocks per SM would be resident with 32 threads");
  New.RegsPerThread = 64;
  New.Barriers = 16;
  EXPECT_NE(brokenUntimed(true), "");
}
