/// \file
/// All replays of a process: whether and when a launch may be replayed, what it may cost, and what
/// of it is kept from one replay to the next.
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

/// How the time for all replays of a process is shared out: by what each is expected to take.
class ReplayBudget {
public:
  explicit ReplayBudget(const Plan &Wanted);

  /// What the replay of a launch of \p Shape may take, ns; 0 where not even its least rounds fit
  /// what is left.
  double grant(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed) const;
  /// It took \p Ns, or was given up.
  void spent(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed, double Ns);

  /// The least rounds of a replay, ns.
  static double leastNs(const PlannedKernel &Kernel, const PlannedShape &Shape, bool Timed);

private:
  double LeftNs = 0, WeightLeft = 0;
};

class Replays {
public:
  Replays(const CuptiApi &Cupti, const DriverApi &Driver, Submissions &Submitted,
          const Plan &Wanted, Watchdog &Dog);

  /// The driver calls that note() has to see.
  static constexpr Roles Calls = Role::Gated | Role::NeedsMemory | Role::Unfollowed |
                                 StreamCaptures::Calls | DeviceMemory::Calls | ModuleGlobals::Calls;
  /// More of them, which have no roles: what they do to memory is not known.
  const std::set<CUpti_CallbackId> &unknownCalls() const { return UnknownCalls; }
  /// A call of the program's, at entry and exit.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource);
  /// Also of modules that are loaded by calls of ours.
  void onModule(const CUpti_ModuleResourceData &Module) {
    Globals.loaded(Module.pCubin, Module.cubinSize);
  }
  /// Whether \p Record is of a launch of ours. \p Planned: of a kernel or clone of the plan.
  bool onKernel(const CUpti_ActivityKernel10 &Record, bool Planned);

  /// Replays the launch that \p Target describes; its budget is filled in. The calling thread is at
  /// the entry of the launch.
  Replay::Result replay(ReplayTarget &Target, CUcontext Context);

private:
  Failure hazard(const ReplayTarget &Target) const;
  Failure waitIdle(const ReplayTarget &Target, CUcontext Context);
  Replay::Result replayGated(ReplayTarget &Target, CUcontext Context);
  Failure ranges(const ReplayTarget &Target, CUcontext Context, Replay::Ranges &Of) const;
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
  std::atomic<bool> Unfollowed{false}; ///< A call was made that is not: what memory is there now?

  std::mutex Lock; ///< Of Contexts; never held across a call of the driver.
  std::map<CUcontext, ReplayContext *> Contexts;
  /// All that there ever were, never freed: records may come after the end of their context.
  std::vector<ReplayContext *> All;
};

} // namespace carve::probe
