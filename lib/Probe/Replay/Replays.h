/// \file
/// All replays of a process: whether and when a launch may be replayed, what it may cost, and what
/// of it is kept from one replay to the next.
#pragma once

#include "Probe/Driver/SubmissionGate.h"
#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Memory/ModuleGlobals.h"
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

struct TracedProcess;

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
  Replays(TracedProcess &P, const Plan &Wanted, Watchdog &Dog);

  /// Every driver call that note() has to see.
  std::vector<CUpti_CallbackId> calls() const;
  /// A call of the program's, at entry and exit; first at the entry, last at the exit.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource);
  /// Also of modules that are loaded by calls of ours.
  void onModule(const CUpti_ModuleResourceData &Module) {
    Globals.loaded(Module.pCubin, Module.cubinSize);
  }
  /// Whether \p Record is of a launch of ours. \p Planned: of a kernel or clone of the plan.
  bool onKernel(const CUpti_ActivityKernel10 &Record, bool Planned);

  struct Outcome {
    std::string StoodBack;
    bool Again = false; ///< The next launch may be replayed.
    std::set<size_t> Rejected;
  };
  /// Replays the launch that \p Target describes; its budget is filled in. The calling thread is at
  /// the entry of the launch.
  Outcome replay(ReplayTarget &Target, CUcontext Context);

  bool capturing() const { return Hazards.capturing(); }

private:
  std::string hazard(const ReplayTarget &Target) const;
  bool waitIdle(const ReplayTarget &Target, CUcontext Context, std::string &Why);
  Outcome replayGated(ReplayTarget &Target, CUcontext Context);
  std::string ranges(const ReplayTarget &Target, CUcontext Context, Replay::Ranges &Of) const;
  std::string guarded(CUdevice Device, Replay::Ranges &Of) const;
  ReplayContext *contextFor(CUcontext Context);
  void releaseMemory(CUpti_CallbackId Id);

  TracedProcess &P;
  Watchdog &Dog;
  SubmissionGate Gate;
  /// Who has to see a call, by its id: a program makes millions that concern few.
  enum Concern : uint8_t {
    Gating = 1,
    NeedingMemory = 2,
    Allocating = 4,
    Globally = 8,
    Capturing = 16,
    Unknown = 32
  };
  std::vector<uint8_t> Concerns;
  DeviceMemory Memory;
  ModuleGlobals Globals;
  ReplayHazards Hazards;
  ReplayBudget Budget;
  std::atomic<bool> UnknownCall{false}; ///< Of unknownMemoryCalls(): what memory there is now?

  std::mutex Lock; ///< Of Contexts; never held across a call of the driver.
  std::map<CUcontext, ReplayContext *> Contexts;
  /// All that there ever were, never freed: records may come after the end of their context.
  std::vector<ReplayContext *> All;
};

} // namespace carve::probe
