#include "Probe/Driver/StreamCaptures.h"

#include <gtest/gtest.h>

using namespace carve::probe;

#define ID(Call) CUPTI_DRIVER_TRACE_CBID_##Call

namespace {
class StreamCapturesTest : public testing::Test {
protected:
  /// Returns whether a capture goes on after the call.
  bool after(CUpti_CallbackId Id, CUresult Result = CUDA_SUCCESS) {
    CUpti_CallbackData Call{};
    Call.callbackSite = CUPTI_API_ENTER;
    bool Before = Captures.any();
    Captures.note(Id, Call);
    EXPECT_EQ(Captures.any(), Before) << "only the exit tells";
    Call.callbackSite = CUPTI_API_EXIT;
    Call.functionReturnValue = &Result;
    Captures.note(Id, Call);
    return Captures.any();
  }
  StreamCaptures Captures;
};
} // namespace

TEST_F(StreamCapturesTest, everyFormOfBeginningAndEnding_counts) {
  for (CUpti_CallbackId Begin : callsWith(Role::BeginsCapture))
    for (CUpti_CallbackId End : callsWith(Role::EndsCapture)) {
      EXPECT_TRUE(after(Begin)) << Begin;
      EXPECT_FALSE(after(End)) << End;
    }
  EXPECT_FALSE(after(ID(cuLaunchKernel)));
}

TEST_F(StreamCapturesTest, twoCaptures_endOneAfterTheOther) {
  EXPECT_TRUE(after(ID(cuStreamBeginCapture_v2)));
  EXPECT_TRUE(after(ID(cuStreamBeginCapture_v2_ptsz)));
  EXPECT_TRUE(after(ID(cuStreamEndCapture)));
  EXPECT_FALSE(after(ID(cuStreamEndCapture)));
  EXPECT_FALSE(after(ID(cuStreamEndCapture))) << "none was under way";
  EXPECT_TRUE(after(ID(cuStreamBeginCapture)));
}

TEST_F(StreamCapturesTest, beginningThatFails_doesNotCount) {
  EXPECT_FALSE(after(ID(cuStreamBeginCapture_v2), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED));
}

TEST_F(StreamCapturesTest, invalidatedCapture_endsWithAnError) {
  EXPECT_TRUE(after(ID(cuStreamBeginCapture_v2)));
  EXPECT_TRUE(after(ID(cuStreamEndCapture), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD))
      << "the driver has refused to end it";
  EXPECT_FALSE(after(ID(cuStreamEndCapture), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED));
}

static CUresult Answer = CUDA_SUCCESS;
static CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
static CUresult streamIsCapturing(CUstream, CUstreamCaptureStatus *Out) {
  *Out = Status;
  return Answer;
}

TEST(IsCapturing, driverThatRefusesToAnswer_countsAsCapturing) {
  DriverApi Driver;
  EXPECT_FALSE(isCapturing(Driver, nullptr)) << "the driver knows no captures";
  Driver.StreamIsCapturing = streamIsCapturing;
  EXPECT_FALSE(isCapturing(Driver, nullptr));
  Status = CU_STREAM_CAPTURE_STATUS_INVALIDATED;
  EXPECT_TRUE(isCapturing(Driver, nullptr));
  Status = CU_STREAM_CAPTURE_STATUS_NONE;
  Answer = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  EXPECT_TRUE(isCapturing(Driver, nullptr));
}
