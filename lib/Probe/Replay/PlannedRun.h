/// \file
/// A run with a plan (CARVE_PROBE_PLAN): passes on what the callbacks report. It finds the planned
/// kernel of each launch, which LaunchChanges then changes, and the launch of each kernel record.
/// It ends the process if a variant hangs or fails.
#pragma once

#include "Probe/Driver/Plan.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Process/Failure.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Replay/GraphLaunches.h"
#include "Probe/Replay/KernelHandles.h"
#include "Probe/Replay/LaunchChanges.h"
#include "Probe/Replay/LaunchStates.h"
#include "Probe/Replay/Replays.h"
#include "Probe/Replay/Rotation.h"
#include "Probe/Replay/Watchdog.h"
#include "Probe/Trace/KernelTable.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace carve::probe {

class PlannedRun : public ProbeMode, private NodeVariants {
public:
  PlannedRun(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
             Submissions &Submitted, Plan Wanted);

  Roles calls() const override;
  std::set<CUpti_CallbackId> unknownCalls() const override;
  std::set<CUpti_CallbackId> resources() const override;
  /// In a run that confirms, the program's kernels have other code, and there are no others.
  bool runsProgramAsItIs() const override;

  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) override;
  void onModule(const CUpti_ModuleResourceData &Module) override {
    if (Replaying)
      Replaying->onModule(Module);
  }
  Counted onKernel(const CUpti_ActivityKernel10 &Record, const LaunchShape &Shape,
                   std::string &Lines) override;
  void onLostRecords() override {
    if (!Checking)
      forgetPending();
  }
  /// Ends the process if a variant hangs.
  void check() override;

private:
  /// The kernel and variant that run under a name in a record.
  struct Named {
    const PlannedKernel *Kernel = nullptr;
    size_t Variant = 0;
  };

  /// Returns what the plan has for the launch \p Call, whose shape is \p Undivided; null if it has
  /// nothing.
  const PlannedShape *plannedShape(const ResolvedKernel &Kernel, const LaunchShape &Undivided,
                                   const LaunchCall &Call);
  void onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onLaunched(const CUpti_CallbackData &Call);
  std::optional<NodeVariant> next(const LaunchCall &Node, CUcontext Context,
                                  uint64_t Correlation) override;
  void failed(uint64_t Correlation) override;
  void refused(const NodeVariant &To, const std::string &Why) override;
  bool mayRotate(const PlannedKernel &Kernel, const LaunchShape &Undivided) {
    std::lock_guard<std::mutex> Guard(Lock);
    return States.mayRotate(Kernel, Undivided);
  }
  Rotation *noteBeside(const PlannedKernel &Kernel, const LaunchShape &Undivided,
                       uint64_t Correlation, Rotation::By How) {
    std::lock_guard<std::mutex> Guard(Lock);
    return States.noteBeside(Kernel, Undivided, Correlation, How);
  }
  void onBrokenContext(CUresult Error);
  void forgetPending() {
    std::lock_guard<std::mutex> Guard(Lock);
    States.forgetPending();
  }
  void checkRotated();
  bool seemsHung(const ShapeState &State, uint64_t &LimitMs) const;
  bool anyHung(uint64_t &LimitMs) const {
    return States.anyShape([&](const ShapeState &State) { return seemsHung(State, LimitMs); });
  }

  const DriverApi &Driver;
  RecordFile &File;
  Plan Wanted;
  Watchdog Dog;
  KernelHandles Handles;
  std::unique_ptr<Replays> Replaying; ///< Null if nothing is to be replayed.
  /// Null if graphs are launched as they are.
  std::unique_ptr<GraphLaunches> ByNode;
  std::unordered_map<std::string_view, Named> Names;

  std::atomic<uint64_t> LastRecordMs{0}; ///< The time at which CUPTI last delivered a record.
  std::atomic<bool> Checking{false};     ///< Set while incomplete records are taken.
  std::atomic<uint64_t> LongestNs{0};    ///< The longest time of all kernels that have ended.

  std::mutex Lock; ///< Protects States. It is never held across a call of the driver.
  LaunchStates States;
  LaunchChanges Changes;
};

/// Reads the plan in the file \p Path and makes \p Mode of it. Fails if the plan cannot be used.
Failure startPlannedRun(const char *Path, const CuptiApi &Cupti, const DriverApi &Driver,
                        RecordFile &File, Submissions &Submitted, std::unique_ptr<ProbeMode> &Mode);

} // namespace carve::probe
