#include "Probe/Driver/LaunchCall.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace carve::probe;

template <class T> static T handle(uintptr_t Value) { return reinterpret_cast<T>(Value); }

namespace {
struct Launched {
  CUlaunchConfig Config{};
  std::vector<CUlaunchAttribute> Attributes;
  CUfunction Function = nullptr;
  void **Parameters = nullptr, **Extra = nullptr;
};
} // namespace

static Launched Last;

static CUresult launchKernelEx(const CUlaunchConfig *Config, CUfunction Function, void **Parameters,
                               void **Extra) {
  Last = {*Config, {Config->attrs, Config->attrs + Config->numAttrs}, Function, Parameters, Extra};
  return CUDA_SUCCESS;
}

TEST(LaunchCall, plainLaunch_isDecoded) {
  void *Argument = nullptr;
  cuLaunchKernel_params P{handle<CUfunction>(5), 2,         3,      4, 5, 6, 7, 8,
                          handle<CUstream>(9),   &Argument, nullptr};
  auto Call = LaunchCall::decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &P);
  ASSERT_TRUE(Call);
  EXPECT_EQ(Call->Shape, (LaunchShape{{2, 3, 4}, {5, 6, 7}, 8, {1, 1, 1}}));
  EXPECT_EQ(Call->Stream, handle<CUstream>(9));
  EXPECT_EQ(Call->Parameters, &Argument);
  *Call->Slot = handle<CUfunction>(6);
  EXPECT_EQ(P.f, handle<CUfunction>(6)) << "what the driver launches";
}

TEST(LaunchCall, nullStream_isTheOneThatTheCallMeans) {
  cuLaunchKernel_params P{};
  EXPECT_EQ(LaunchCall::decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &P)->Stream,
            CU_STREAM_LEGACY);
  EXPECT_EQ(LaunchCall::decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, &P)->Stream,
            CU_STREAM_PER_THREAD);
}

TEST(LaunchCall, otherCall_isNotDecoded) {
  cuLaunchKernel_params P{};
  EXPECT_FALSE(LaunchCall::decode(CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &P));
  cuLaunchKernelEx_params Empty{};
  EXPECT_FALSE(LaunchCall::decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &Empty));
  for (CUpti_CallbackId Id : callsWith(LaunchCall::Calls)) {
    CUlaunchConfig Config{};
    cuLaunchKernelEx_params Ex{&Config, nullptr, nullptr, nullptr};
    bool IsEx = Id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
                Id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
    EXPECT_TRUE(LaunchCall::decode(Id, IsEx ? static_cast<void *>(&Ex) : &P)) << Id;
  }
}

TEST(LaunchCall, replay_keepsOnlyTheKernelsOwnAttributes) {
  CUlaunchAttribute Attributes[4] = {};
  Attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  Attributes[1].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  Attributes[1].value.clusterDim.x = 4;
  Attributes[1].value.clusterDim.y = Attributes[1].value.clusterDim.z = 1;
  Attributes[2].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  Attributes[2].value.cooperative = 1;
  Attributes[3].id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
  CUlaunchConfig Config{};
  Config.gridDimX = 8;
  Config.gridDimY = Config.gridDimZ = Config.blockDimY = Config.blockDimZ = 1;
  Config.blockDimX = 64;
  Config.sharedMemBytes = 1024;
  Config.hStream = handle<CUstream>(3);
  Config.attrs = Attributes;
  Config.numAttrs = 4;
  void *Extra = nullptr;
  cuLaunchKernelEx_params P{&Config, handle<CUfunction>(5), nullptr, &Extra};
  auto Call = LaunchCall::decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, &P);
  ASSERT_TRUE(Call);
  EXPECT_EQ(Call->Shape, (LaunchShape{{8, 1, 1}, {64, 1, 1}, 1024, {4, 1, 1}}));
  EXPECT_TRUE(Call->Cooperative);
  DriverApi Driver;
  Driver.LaunchKernelEx = launchKernelEx;
  ASSERT_EQ(Call->launch(Driver, handle<CUfunction>(7), handle<CUstream>(11)), CUDA_SUCCESS);
  EXPECT_EQ(Last.Function, handle<CUfunction>(7));
  EXPECT_EQ(Last.Config.hStream, handle<CUstream>(11));
  EXPECT_EQ(Last.Config.gridDimX, 8u);
  EXPECT_EQ(Last.Config.blockDimX, 64u);
  EXPECT_EQ(Last.Config.sharedMemBytes, 1024u);
  EXPECT_EQ(Last.Extra, &Extra);
  ASSERT_EQ(Last.Attributes.size(), 2u);
  EXPECT_EQ(Last.Attributes[0].id, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_EQ(Last.Attributes[1].id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
}

TEST(LaunchCall, cooperativeCall_isReplayedAsCooperative) {
  cuLaunchCooperativeKernel_params P{handle<CUfunction>(5), 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr};
  auto Call = LaunchCall::decode(CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, &P);
  ASSERT_TRUE(Call);
  ASSERT_EQ(Call->ownAttributes().size(), 1u);
  EXPECT_EQ(Call->ownAttributes()[0].id, CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
  EXPECT_EQ(Call->ownAttributes()[0].value.cooperative, 1);
}
