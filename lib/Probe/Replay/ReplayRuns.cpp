#include "Probe/Replay/ReplayRuns.h"

using namespace carve::probe;

CUresult ReplayRuns::run(size_t Variant, bool Timed) {
  const std::string &Kernel = Target.Kernel.Planned->Name;
  const std::string &Name = Target.Kernel.Planned->Variants[Variant].Name;
  uint64_t LimitMs = hangLimitMs(Target.HangMs, Target.Shape.MeanNs);
  if (!Context.Clock->begin(Target.Kernel.Planned->Variants[Variant].Clone, Timed))
    return CUDA_ERROR_NOT_SUPPORTED;
  // Some launches wait for the device inside the driver, to make room for local memory.
  Dog.expect(LimitMs + 1000, Kernel, Name);
  CUresult Result = Target.Call.launch(Driver, Target.Kernel.Variants[Variant], Context.Stream);
  Dog.done();
  if (Result == CUDA_SUCCESS)
    (void)Context.Clock->end();
  else
    Context.Clock->cancel();
  Dog.wait(Context.Stream, LimitMs, Kernel, Name);
  return Result;
}
