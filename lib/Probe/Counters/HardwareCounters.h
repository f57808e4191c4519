/// \file
/// A run in which hardware counters are read at chosen launches (CARVE_PROBE_METRICS, Protocol.h):
/// each runs alone and once, as the program asked for it. The callbacks hand everything to this, as
/// they do to PlannedRun; nothing is traced or timed beside it.
#pragma once

#include "Probe/Counters/CountPlan.h"
#include "Probe/Counters/CounterSession.h"
#include "Probe/Driver/LaunchCall.h"
#include "Probe/Driver/SubmissionGate.h"
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

class HardwareCounters {
public:
  HardwareCounters(TracedProcess &P, CountPlan Wanted);
  ~HardwareCounters();

  /// Every driver call that onCall() has to see.
  std::vector<CUpti_CallbackId> calls() const;
  /// A call of the program's, at entry and exit.
  void onCall(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void onResource(CUpti_CallbackId Id, const CUpti_ResourceData &Resource);
  /// At the end of the process: gives the counters back.
  void finish();

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
  std::string whyNot(const LaunchCall &Launch, CUcontext Context) const;
  std::string begin(Measured &M);
  std::string measure(const Measured &M, const CUpti_CallbackData &Call);
  std::string setUp(uint32_t Device, DevicePass &Pass);
  void describe(const MetricPasses &Passes);
  std::string waitIdle(CUcontext Context, std::chrono::milliseconds Limit) const;
  void unmeasured(const Measured &M, const std::string &Why);
  void giveUp(const std::string &Why);
  void settle(const Measured &M);
  void disableAll();
  static std::unique_ptr<Measured> &mine();

  TracedProcess &P;
  CountPlan Wanted;
  ProfilerApi Api;
  SubmissionGate Gate;
  ReplayHazards Hazards;
  std::set<CUpti_CallbackId> Gated, Launches;
  std::atomic<bool> Over{false};          ///< Nothing more is to be counted.
  std::atomic<bool> Stuck{false};         ///< A range is open that will not be closed.
  RangeKind Kind = RangeKind::Kernel;     ///< While the gate is closed.
  bool KindWorks = false;                 ///< As Kind.
  bool Initialized = false;               ///< As Kind.
  std::map<uint32_t, DevicePass> Devices; ///< As Kind.

  std::mutex Lock; ///< Of what follows.
  std::vector<WishState> States;
  std::map<CUcontext, std::unique_ptr<CounterSession>> Sessions;
};

/// Reads what \p File wants. Returns why that fails; empty on success.
std::string startHardwareCounters(TracedProcess &P, const char *File);

} // namespace carve::probe
