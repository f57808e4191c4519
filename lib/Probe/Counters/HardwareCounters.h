/// \file
/// A run in which hardware counters are read at chosen launches (CARVE_PROBE_METRICS, Protocol.h).
/// Each of these launches runs alone and once, as the program made it. Graphs with a kernel that is
/// to be counted are launched node by node. Nothing is traced or timed in this run.
#pragma once

#include "Probe/Counters/CountPlan.h"
#include "Probe/Counters/CounterSession.h"
#include "Probe/Driver/Devices.h"
#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/ProbeMode.h"
#include "Probe/Driver/Submissions.h"
#include "Probe/Process/Failure.h"
#include "Probe/Process/RecordFile.h"
#include "Probe/Replay/GraphLaunches.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace carve::probe {

class HardwareCounters : public ProbeMode {
public:
  HardwareCounters(const CuptiApi &Cupti, const DriverApi &Driver, RecordFile &File, Devices &Used,
                   Submissions &Submitted, CountPlan Wanted);

  Roles calls() const override {
    return Role::Gated | LaunchCall::Calls | StreamCaptures::Calls | Role::EndsContext |
           GraphLaunches::Calls;
  }
  std::set<CUpti_CallbackId> unknownCalls() const override { return ByNode.unknownCalls(); }
  std::set<CUpti_CallbackId> resources() const override;
  /// Kernel records would contain CUPTI's own kernels, and the times would not be the program's.
  bool allowsActivity() const override { return false; }
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call) override;
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource) override;
  /// Ends the process if a graph hangs because its nodes are launched one by one.
  void check() override { ByNode.check(); }
  void ending() override { Finishing = true; }
  /// Gives the counters back.
  void finish() override;

private:
  struct WishState {
    uint64_t Seen = 0, Done = 0, Tried = 0;
  };
  /// The pass of this process on one device.
  struct DevicePass {
    std::unique_ptr<MetricPasses> Passes;
    std::unique_ptr<PassImages> Images;
  };
  struct Measured {
    size_t Wish = 0;
    uint64_t Launch = 0;
    CUcontext Context = nullptr;
    CounterSession *Session = nullptr;
  };

  void onLaunch(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onLaunched(const CUpti_CallbackData &Call);
  bool wants(const LaunchCall &Launch, Measured &M);
  Failure whyNot(const LaunchCall &Launch, CUcontext Context) const;
  Failure begin(Measured &M);
  Failure measure(const Measured &M, const CUpti_CallbackData &Call);
  Failure setUp(uint32_t Device, DevicePass &Pass);
  void describe(const MetricPasses &Passes);
  Failure waitIdle(CUcontext Context, std::chrono::milliseconds Limit) const;
  void unmeasured(const Measured &M, const Failure &Why);
  void giveUp(const Failure &Why);
  void settle(const Measured &M);
  void disableAll();
  static std::unique_ptr<Measured> &mine();

  const CuptiApi &Cupti;
  const DriverApi &Driver;
  RecordFile &File;
  Devices &Used;
  Submissions &Submitted;
  CountPlan Wanted;
  Watchdog Dog;
  GraphLaunches ByNode;
  ProfilerApi Api;
  std::atomic<bool> Finishing{false};
  std::atomic<bool> Over{false};  ///< Set if nothing more is to be counted.
  std::atomic<bool> Stuck{false}; ///< Set if a range is open that will not be closed.
  /// Used only while the gate is closed, as are the next three members.
  RangeKind Kind = RangeKind::Kernel;
  bool KindWorks = false;                   ///< Set once a range of Kind has worked.
  bool Initialized = false;                 ///< Set once CUPTI's profiler is initialised.
  std::map<uint32_t, DevicePass> PerDevice; ///< The pass of each device.

  std::mutex Lock; ///< Protects the members below.
  std::vector<WishState> States;
  std::map<CUcontext, std::unique_ptr<CounterSession>> Sessions;
};

/// Reads what the file \p Path asks for and makes \p Mode of it. Fails if the file cannot be used.
Failure startHardwareCounters(const char *Path, const CuptiApi &Cupti, const DriverApi &Driver,
                              RecordFile &File, Devices &Used, Submissions &Submitted,
                              std::unique_ptr<ProbeMode> &Mode);

} // namespace carve::probe
