/// \file
/// A run with a plan (CARVE_PROBE_PLAN): decides what happens with each launch of a planned kernel
/// and with each kernel record. It rotates and dispatches itself, and leaves replays to Replays.
#pragma once

#include "Probe/Driver/Plan.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Process/Failure.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Replay/GraphLaunches.h"
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

class PlannedRun : public ProbeMode, private NodeVariants {
public:
  PlannedRun(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File,
             Submissions &Submitted, Plan Wanted);

  Roles calls() const override;
  std::set<CUpti_CallbackId> unknownCalls() const override;
  std::set<CUpti_CallbackId> resources() const override;
  bool runsProgramAsItIs() const override { return false; }

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
  /// The state of one planned shape of one planned kernel. Each class of a divided shape is planned
  /// and has a state of its own.
  struct ShapeState {
    const PlannedKernel *Kernel = nullptr;
    const PlannedShape *Shape = nullptr;
    uint64_t Launches = 0;
    unsigned Replayed = 0;  ///< The number of launches that were replayed.
    unsigned Attempts = 0;  ///< The number of attempts since the last replayed launch.
    bool Replaying = false; ///< Set while a thread replays a launch of this shape.
    /// The guarded variants that the last replay did not compare, because its launch had other
    /// arguments. They are not rotated.
    std::set<size_t> Uncompared;
    /// The variants that a replay has compared at this shape, and that compute what the default
    /// does.
    std::set<size_t> Sound;
    std::unique_ptr<Rotation> Turns;
    unsigned Dispatched = 0; ///< The number of dispatched launches that have not ended.
    /// The time of the first launch that became a variant and has not ended.
    uint64_t PendingSinceMs = 0;

    /// Returns whether a launch became a variant and has not been seen to end; \p Oldest is then
    /// the variant of the first such launch, and \p Number, if not null, its number.
    bool pending(size_t &Oldest, uint64_t *Number = nullptr) const {
      if (Dispatched == 0)
        return Turns && Turns->pending(Oldest, Number);
      Oldest = FirstPlace;
      return true;
    }
    /// Called before a launch becomes a variant.
    void notePending() {
      if (size_t Oldest = 0; !pending(Oldest))
        PendingSinceMs = steadyMs();
    }
  };
  /// The state of a planned kernel in this process.
  struct KernelState {
    std::set<size_t> Out;   ///< The variants that must not run any more.
    bool StoodBack = false; ///< Set if the kernel could not be replayed.
    bool Refused = false;   ///< Set if the driver did not take a variant in a graph.
  };
  /// The kernel and variant that run under a name in a record.
  struct Named {
    const PlannedKernel *Kernel = nullptr;
    size_t Variant = 0;
  };

  void onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  std::optional<size_t> change(const PlannedShape &Shape, ResolvedKernel &Kernel,
                               const LaunchCall &Launch, const CUpti_CallbackData &Call,
                               Rotation::By How);
  void onLaunched(const CUpti_CallbackData &Call);
  bool wantsReplay(const ShapeState &State, uint64_t Index) const;
  bool wantsRotation(const ShapeState &State) const;
  /// Returns whether nothing more is to be done for this launch, because it was replayed or given
  /// up.
  bool replay(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch, uint64_t Index,
              CUcontext Context);
  bool finishReplay(ShapeState &State, const Replay::Result &Done);
  std::vector<size_t> usable(ResolvedKernel &Kernel, const LaunchCall &Launch,
                             const ShapeState &State, uint64_t Index);
  /// Makes the launch a variant whose turn it is. Returns which one; nothing if it takes no part.
  std::optional<size_t> rotate(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                               uint64_t Index, uint64_t Correlation, Rotation::By How);
  std::optional<NodeVariant> next(const LaunchCall &Node, CUcontext Context,
                                  uint64_t Correlation) override;
  void failed(uint64_t Correlation) override;
  void refused(const NodeVariant &To, const std::string &Why) override;
  /// A planned kernel and a shape of it that the plan divides, undivided.
  using DividedShape = std::pair<const PlannedKernel *, LaunchShape>;
  bool mayRotate(const DividedShape &Shape) const;
  Rotation *noteBeside(const PlannedKernel &Kernel, const LaunchShape &Undivided,
                       uint64_t Correlation, Rotation::By How);
  ShapeState *stateOf(const PlannedKernel &Kernel, const LaunchShape &Undivided, size_t Variant,
                      uint64_t Correlation, bool InGraph);
  void startRotation(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch,
                     uint64_t Index);
  void dispatch(ShapeState &State, ResolvedKernel &Kernel, const LaunchCall &Launch);
  void onBrokenContext(CUresult Error);
  void forgetPending() {
    std::lock_guard<std::mutex> Guard(Lock);
    for (auto &[Shape, State] : Shapes) {
      State.Dispatched = 0;
      if (State.Turns)
        State.Turns->forgetLaunches();
    }
    for (auto &[Shape, Launches] : Beside)
      Launches.forgetLaunches();
  }
  const ShapeState *firstPending(size_t &Variant) const;
  void checkRotated();
  bool seemsHung(const PlannedShape &Planned, const ShapeState &State, size_t &Variant,
                 uint64_t &LimitMs) const;

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

  std::mutex Lock; ///< Protects the members below. It is never held across a call of the driver.
  uint64_t Rotated = 0; ///< The number of rotated launches.
  std::map<const PlannedShape *, ShapeState> Shapes;
  std::map<const PlannedKernel *, KernelState> Kernels;
  /// The launches of divided shapes that run the default outside of all cycles. Records do not tell
  /// classes, so these wait for theirs, too, lest one of a class gets it.
  std::map<DividedShape, Rotation> Beside;
};

/// Reads the plan in the file \p Path and makes \p Mode of it. Fails if the plan cannot be used.
Failure startPlannedRun(const char *Path, const CuptiApi &Cupti, const DriverApi &Driver,
                        RecordFile &File, Submissions &Submitted, std::unique_ptr<ProbeMode> &Mode);

} // namespace carve::probe
