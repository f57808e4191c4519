#include "Probe/ReplayRuns.h"

#include <algorithm>

using namespace carve::probe;

/// A run of a variant may take this many times the default's mean before it counts as hung.
static constexpr double HangFactor = 50;

CUresult ReplayRuns::run(size_t Variant, bool Timed) {
  const std::string &Kernel = Target.Kernel.Planned->Name;
  uint64_t LimitMs =
      std::max(Target.HangMs, uint64_t(HangFactor * std::max(Target.Shape.MeanNs, 0.0) / 1e6));
  if (!Context.Clock->begin(Target.Kernel.nameOf(Variant), Timed))
    return CUDA_ERROR_NOT_SUPPORTED;
  // Some launches wait for the device themselves, to make room for local memory.
  Dog.expect(LimitMs + 1000, Kernel, Variant);
  CUresult Result = Target.Call.launch(Driver, Target.Kernel.Variants[Variant], Context.Stream);
  Dog.done();
  if (Result == CUDA_SUCCESS)
    (void)Context.Clock->end();
  else
    Context.Clock->cancel();
  Dog.wait(Context.Stream, LimitMs, Kernel, Variant);
  return Result;
}
