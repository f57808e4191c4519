/// \file
/// A run in which the program's time is stretched: whatever span of it the program measures becomes
/// longer, and what it computes stays the same. The tuner sees from the output which lines depend
/// on time (Protocol/TimeStretch.h).
///
/// The probe makes no call of the driver for it. So nothing can hang, and no capture of a stream is
/// disturbed. Where it lets time pass matters, because the GPU works on meanwhile:
///
/// - Each launch is held back for a fixed time. Short programs become visibly longer, and so do
///   spans that end after launches. If the GPU is busy, such a hold changes nothing else.
/// - After a wait the thread is held back for a share of the time that has passed since the last
///   such hold, so a span with thousands of launches and one wait becomes longer by that share.
///   After a wait for a stream other streams may hide the hold. What has waited for the device
///   therefore counts the time since the last hold at which the device was idle, whatever other
///   waits have come between.
/// - The time between two events is the GPU's, which no hold changes while the GPU has work. What
///   the driver tells of it is made longer by such a share instead.
#pragma once

#include "Probe/Driver/ProbeMode.h"
#include "Protocol/TimeStretch.h"

#include <atomic>
#include <mutex>

namespace carve::probe {

/// Shares between LeastShare and MostShare. They are the same in every run and differ from each
/// other, so that the quotient of two times changes as the times do. Thread-safe.
class StretchShares {
public:
  double next();

private:
  std::atomic<uint64_t> Given{0};
};

/// Says how long threads are held back. All times are those of one clock, in ns. Thread-safe.
class Holds {
public:
  Holds(const TimeStretch &Wanted, uint64_t StartNs)
      : Wanted(Wanted), LeftNs(Wanted.WaitsNs), StreamNs(StartNs), DeviceNs(StartNs) {}

  /// Returns until when a thread is held back that launches at \p NowNs.
  uint64_t beforeLaunch(uint64_t NowNs) const { return NowNs + Wanted.LaunchNs; }
  /// Returns until when a thread is held back whose wait ends at \p NowNs; \p Means are the roles
  /// of the call. The time of all threads is one: during a hold, others whose waits end are held
  /// back for as long. Otherwise the holds of threads that wait for each other would add up.
  uint64_t afterWait(Roles Means, uint64_t NowNs);

private:
  const TimeStretch Wanted;
  StretchShares Shares;
  std::mutex Lock;
  uint64_t LeftNs;      ///< How much longer waits may be held back in all.
  uint64_t UntilNs = 0; ///< When the last hold ends.
  /// When the last hold of any kind, and the last one after a wait for the device, ends.
  uint64_t StreamNs, DeviceNs;
};

/// The mode of such a run.
class StretchedRun : public ProbeMode {
public:
  explicit StretchedRun(const TimeStretch &Wanted);

  Roles calls() const override;
  std::set<CUpti_CallbackId> resources() const override { return {}; }
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;

private:
  Holds Held;
  StretchShares EventShares;
};

} // namespace carve::probe
