// Every driver call about memory waits while a launch is replayed, or ends replaying.
#include "Probe/Driver/MemoryCalls.h"
#include "Probe/Driver/DriverCalls.h"
#include "Support/Files.h"

#include <gtest/gtest.h>
#include <map>
#include <regex>

using namespace carve;
using namespace carve::probe;

/// All calls that CUPTI's header has, by name.
static std::map<std::string, CUpti_CallbackId> callsOfHeader() {
  static const std::regex Line("CUPTI_DRIVER_TRACE_CBID_(cu\\w+)\\s*=\\s*([0-9]+)");
  std::string Text = llvm::cantFail(readFile(CARVE_TEST_CALL_HEADER));
  std::map<std::string, CUpti_CallbackId> Calls;
  for (std::sregex_iterator I(Text.begin(), Text.end(), Line), E; I != E; ++I)
    Calls[(*I)[1]] = CUpti_CallbackId(std::stoul((*I)[2]));
  return Calls;
}

static bool isGated(CUpti_CallbackId Id) { return rolesOf(Id).any(Role::Gated); }

TEST(MemoryCalls, memoryCallsOfTheHeader_waitForReplays) {
  std::map<std::string, CUpti_CallbackId> Calls = callsOfHeader();
  EXPECT_GT(Calls.size(), 700u);
  unsigned Checked = 0;
  for (const auto &[Name, Id] : Calls) {
    if (!isMemoryCall(Name))
      continue;
    EXPECT_TRUE(isGated(Id)) << Name;
    ++Checked;
  }
  EXPECT_GT(Checked, 150u);
}

TEST(MemoryCalls, callThatOnlyInforms_isNoMemoryCall) {
  for (const char *Name : {"cuMemGetInfo_v2", "cuPointerGetAttribute", "cuMemHostGetFlags",
                           "cuLaunchKernel", "cuStreamSynchronize", "cuCtxSynchronize"})
    EXPECT_FALSE(isMemoryCall(Name)) << Name;
  for (const char *Name : {"cuMemSetAccess", "cuMulticastBindMem", "cuMemUnheardOf_v3"})
    EXPECT_TRUE(isMemoryCall(Name)) << Name;
}

TEST(MemoryCalls, graphCallsOfTheHeader_areFollowed) {
  unsigned Checked = 0;
  for (const auto &[Name, Id] : callsOfHeader())
    if (isGraphCall(Name)) {
      EXPECT_TRUE(rolesOf(Id).any(Role::ExecutableGraph | Role::GraphLaunch)) << Name;
      ++Checked;
    }
  EXPECT_GT(Checked, 20u);
}

TEST(MemoryCalls, changingCallNamedAsAQuestion_waitsToo) {
  for (CUpti_CallbackId Id : {CUPTI_DRIVER_TRACE_CBID_cuIpcGetMemHandle,
                              CUPTI_DRIVER_TRACE_CBID_cuMemGetHandleForAddressRange,
                              CUPTI_DRIVER_TRACE_CBID_cuExternalMemoryGetMappedBuffer,
                              CUPTI_DRIVER_TRACE_CBID_cuGraphicsResourceGetMappedPointer_v2})
    EXPECT_TRUE(isGated(Id)) << Id;
}
