/// \file
/// A run with a plan (CARVE_PROBE_PLAN): what becomes of each launch of a planned kernel, and of
/// each kernel record. It rotates, and has replayed.
#pragma once

#include "Probe/Driver/Plan.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Process/Failure.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Replay/KernelHandles.h"
#include "Probe/Replay/Replays.h"
#include "Probe/Replay/Rotation.h"
#include "Probe/Replay/Watchdog.h"
#include "Probe/Trace/KernelTable.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace carve::probe {

class PlannedRun : public ProbeMode {
public:
  PlannedRun(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
             Submissions &Submitted, Plan Wanted);

  Roles calls() const override;
  std::set<CUpti_CallbackId> unknownCalls() const override;
  std::set<CUpti_CallbackId> resources() const override;
  bool runsProgramAsItIs() const override { return false; }

  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) override;
  void onModule(const CUpti_ModuleResourceData &Module) override;
  Counted onKernel(const CUpti_ActivityKernel10 &Record, const LaunchShape &Shape,
                   std::string &Lines) override;
  void onLostRecords() override;
  /// Ends the process where a variant hangs.
  void check() override;

private:
  /// One planned shape of one planned kernel.
  struct ShapeState {
    const PlannedKernel *Kernel = nullptr;
    const PlannedShape *Shape = nullptr;
    uint64_t Launches = 0;
    unsigned Replayed = 0;  ///< Launches.
    unsigned Attempts = 0;  ///< Since the last.
    bool Replaying = false; ///< On some thread.
    std::unique_ptr<Rotation> Turns;
    uint64_t PendingSinceMs = 0; ///< The first of the rotated launches that have not ended.
  };
  /// A planned kernel in this process.
  struct KernelState {
    std::set<size_t> Out;   ///< Variants not to be run any more.
    bool StoodBack = false; ///< From replaying.
  };
  /// The name in a record, and what runs under it.
  struct Named {
    const PlannedKernel *Kernel = nullptr;
    size_t Variant = 0;
  };

  void onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onLaunched(const CUpti_CallbackData &Call);
  bool wantsReplay(const ShapeState &State, uint64_t Index) const;
  bool wantsRotation(const ShapeState &State) const;
  /// Whether this launch is done with: replayed, or given up.
  bool replay(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch, uint64_t Index,
              CUcontext Context);
  bool finishReplay(ShapeState &State, const Replay::Result &Done);
  std::vector<size_t> usable(ResolvedKernel &Kernel, const LaunchCall &Launch,
                             const ShapeState &State, uint64_t Index);
  void rotate(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch, uint64_t Index,
              uint64_t Correlation);
  void startRotation(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                     uint64_t Index);
  void onBrokenContext(CUresult Error);
  void forgetPending();
  void checkRotated();
  bool seemsHung(const PlannedShape &Planned, const ShapeState &State, size_t &Variant,
                 uint64_t &LimitMs) const;

  const DriverApi &Driver;
  RecordFile &File;
  Plan Wanted;
  Watchdog Dog;
  KernelHandles Handles;
  std::unique_ptr<Replays> Replaying; ///< Null where nothing is to be replayed.
  std::unordered_map<std::string_view, Named> Names;

  std::atomic<uint64_t> LastRecordMs{0}; ///< When CUPTI delivered one.
  std::atomic<bool> Checking{false};     ///< Records are taken that are not complete.
  std::atomic<uint64_t> LongestNs{0};    ///< Of all kernels that have ended.

  std::mutex Lock; ///< Of what follows; never held across a call of the driver.
  std::map<const PlannedShape *, ShapeState> Shapes;
  std::map<const PlannedKernel *, KernelState> Kernels;
};

/// Reads the plan that \p Path names, and makes \p Mode of it.
Failure startPlannedRun(const char *Path, const CuptiApi &Cupti, const DriverApi &Driver,
                        RecordFile &File, Submissions &Submitted, std::unique_ptr<ProbeMode> &Mode);

} // namespace carve::probe
