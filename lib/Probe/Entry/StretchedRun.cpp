#include "Probe/Entry/StretchedRun.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

using namespace carve::probe;

double StretchShares::next() {
  // The fractions of the golden ratio's multiples have no period, and neighbours are far apart.
  double Turns = 0.6180339887498949 * double(Given.fetch_add(1, std::memory_order_relaxed));
  return LeastShare + (MostShare - LeastShare) * (Turns - std::floor(Turns));
}

uint64_t Holds::afterWait(Roles Means, uint64_t NowNs) {
  std::lock_guard<std::mutex> Guard(Lock);
  bool ForDevice = Means.any(Role::AwaitsDevice);
  uint64_t LastNs = ForDevice ? DeviceNs : StreamNs;
  // Another thread may have come later and been faster, or is held back now.
  if (NowNs <= LastNs)
    return UntilNs;
  uint64_t ForNs = std::min(uint64_t(double(NowNs - LastNs) * Shares.next()), LeftNs);
  LeftNs -= ForNs;
  UntilNs = std::max(UntilNs, NowNs + ForNs);
  StreamNs = UntilNs;
  if (ForDevice)
    DeviceNs = UntilNs;
  return UntilNs;
}

static uint64_t clockNs() {
  auto Now = std::chrono::steady_clock::now().time_since_epoch();
  return uint64_t(std::chrono::nanoseconds(Now).count());
}

/// Holds the thread back. It keeps the processor busy, as the driver does while it waits, because
/// programs measure the processor's time, too, and because a sleep takes about 60 us or more, which
/// would slow down a program with a million launches.
static void holdUntil(uint64_t UntilNs) {
  while (clockNs() < UntilNs)
    std::this_thread::yield();
}

StretchedRun::StretchedRun(const TimeStretch &Wanted) : Held(Wanted, clockNs()) {}

Roles StretchedRun::calls() const {
  return Role::StartsKernels | Role::AwaitsStream | Role::AwaitsDevice | Role::TellsTime;
}

void StretchedRun::onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) {
  Roles Means = rolesOf(Id);
  if (Call.callbackSite == CUPTI_API_ENTER) {
    if (Means.any(Role::StartsKernels))
      holdUntil(Held.beforeLaunch(clockNs()));
    return;
  }
  // A question may have been answered with `not ready`, and a call during a capture refused.
  auto *Result = static_cast<const CUresult *>(Call.functionReturnValue);
  if (!Result || *Result != CUDA_SUCCESS)
    return;
  if (Means.any(Role::AwaitsStream | Role::AwaitsDevice)) {
    holdUntil(Held.afterWait(Means, clockNs()));
  } else if (Means.any(Role::TellsTime) && Call.functionParams) {
    auto *Params = static_cast<const cuEventElapsedTime_params *>(Call.functionParams);
    *Params->pMilliseconds *= float(1 + EventShares.next());
  }
}
