#include "Probe/Driver/StreamCaptures.h"

using namespace carve::probe;

void StreamCaptures::note(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Roles Means = rolesOf(Id);
  const auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (!Means.any(Calls) || Call.callbackSite != CUPTI_API_EXIT || !Result)
    return;
  bool Success = *Result == CUDA_SUCCESS;
  if (Means.any(Role::BeginsCapture))
    UnderWay += Success;
  // Ending an invalidated capture returns an error, but the capture has ended. After any other
  // error it may go on: CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, for example, is a refusal to end
  // it.
  else if (UnderWay > 0 && (Success || *Result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED))
    --UnderWay;
}

bool carve::probe::isCapturing(const DriverApi &Driver, CUstream Stream) {
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  // The legacy stream cannot be asked while another stream is being captured, so an error means
  // that a capture goes on.
  return Driver.StreamIsCapturing && (Driver.StreamIsCapturing(Stream, &Status) != CUDA_SUCCESS ||
                                      Status != CU_STREAM_CAPTURE_STATUS_NONE);
}
