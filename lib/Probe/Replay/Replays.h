/// \file
/// All replays of a process: whether and when a launch may be replayed, how much time it may take,
/// and what is kept from one replay to the next.
#pragma once

#include "Probe/Driver/Submissions.h"
#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Memory/ModuleGlobals.h"
#include "Probe/Process/Failure.h"
#include "Probe/Replay/Replay.h"
#include "Probe/Replay/ReplayHazards.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

/// Divides the time for all replays of a process, in proportion to the time that each is expected
/// to take.
class ReplayBudget {
public:
  explicit ReplayBudget(const Plan &Wanted);

  /// Returns the time in ns that the replay of a launch of \p Shape may take; 0 if the remaining
  /// time, and half of the whole time besides, are too short even for its minimum of rounds.
  double grant(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed) const;
  /// Takes note of an attempt that took \p Ns, after which a later launch is tried.
  void tried(double Ns) { LeftNs -= Ns; }
  /// Takes note of a replay that took \p Ns or was given up.
  void spent(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed, double Ns);

  /// Returns the time in ns of a replay's minimum of rounds.
  static double leastNs(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed);

private:
  double WholeNs, LeftNs, WeightLeft = 0;
};

/// The replays of a process.
class Replays {
public:
  Replays(const CuptiApi &Cupti, const DriverApi &Driver, Submissions &Submitted,
          const Plan &Wanted, Watchdog &Dog);

  /// The driver calls that note() must see.
  static constexpr Roles Calls = Role::Gated | Role::NeedsMemory | Role::Unfollowed |
                                 StreamCaptures::Calls | DeviceMemory::Calls | ModuleGlobals::Calls;
  /// Further calls that note() must see and that have no roles. Their effect on memory is unknown.
  const std::set<CUpti_CallbackId> &unknownCalls() const { return UnknownCalls; }
  /// Takes note of a call of the program, at entry and exit.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource);
  /// Also called for modules that the probe loads.
  void onModule(const CUpti_ModuleResourceData &Module) {
    Globals.loaded(Module.pCubin, Module.cubinSize);
  }
  /// Returns whether \p Record is of a launch of the probe. \p Planned says that its kernel is a
  /// kernel or clone of the plan.
  bool onKernel(const CUpti_ActivityKernel10 &Record, bool Planned);

  /// Replays the launch that \p Target describes, and fills in its budget. The calling thread must
  /// be at the entry of the launch.
  Replay::Result replay(ReplayTarget &Target, CUcontext Context);

private:
  Failure hazard(const ReplayTarget &Target) const;
  Failure waitIdle(const ReplayTarget &Target, CUcontext Context);
  Replay::Result replayGated(ReplayTarget &Target, CUcontext Context);
  Failure ranges(const ReplayTarget &Target, CUcontext Context, Replay::Ranges &Of) const;
  Failure leadsTo(const std::vector<MemoryRange> &Pointed, const MemoryRange &Constant,
                  bool &Leads) const;
  Failure constants(const ReplayTarget &Target, const ModuleGlobals::Place &Where,
                    std::vector<MemoryRange> &Variables, Replay::Ranges &Of) const;
  Failure guarded(CUdevice Device, Replay::Ranges &Of) const;
  ReplayContext *contextFor(CUcontext Context);
  void releaseMemory(CUpti_CallbackId Id);

  const CuptiApi &Cupti;
  const DriverApi &Driver;
  Submissions &Submitted;
  Watchdog &Dog;
  const std::set<CUpti_CallbackId> UnknownCalls;
  DeviceMemory Memory;
  ModuleGlobals Globals;
  ReplayHazards Hazards;
  ReplayBudget Budget;
  /// Set after a call that the probe does not follow; from then on it is unknown what memory
  /// exists.
  std::atomic<bool> Unfollowed{false};

  std::mutex Lock; ///< Protects Contexts. It is never held across a call of the driver.
  std::map<CUcontext, ReplayContext *> Contexts;
  /// All contexts that there ever were. They are never freed, because records may come after the
  /// end of their context.
  std::vector<ReplayContext *> All;
};

} // namespace carve::probe
