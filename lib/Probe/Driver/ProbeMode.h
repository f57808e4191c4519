/// \file
/// The interface of the purposes that a run under the probe can have: tracing, timing variants,
/// capturing launches, counting. Each purpose is a mode, made when the process starts (Probe.cpp).
/// The callbacks, the activity buffers and the probe's own thread pass everything to all modes of
/// the run.
#pragma once

#include "Probe/Driver/DriverCalls.h"
#include "Protocol/LaunchShape.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace carve::probe {

/// One purpose of a run. The default of every function does nothing.
class ProbeMode {
public:
  ProbeMode() = default;
  ProbeMode(const ProbeMode &) = delete;
  ProbeMode &operator=(const ProbeMode &) = delete;
  virtual ~ProbeMode() = default;

  /// The driver calls that onCall() must see. If the set has Role::Gated, calls with that role wait
  /// at the gate (Submissions.h).
  virtual Roles calls() const = 0;
  /// Further calls that onCall() must see and that have no roles; they wait at the gate, too.
  virtual std::set<CUpti_CallbackId> unknownCalls() const { return {}; }
  /// The events (CUpti_CallbackIdResource) that onResource() must see.
  virtual std::set<CUpti_CallbackId> resources() const = 0;
  /// Whether CUPTI may record the program's kernels in the same run.
  virtual bool allowsActivity() const { return true; }
  /// Whether the program's own kernels, and no others, run. Only then do the times at which kernels
  /// begin and end say something about the program.
  virtual bool runsProgramAsItIs() const { return true; }

  /// Called at the entry and the exit of a call of the program. It is also called for calls that
  /// only another mode asked for.
  virtual void onCall(CUpti_CallbackId, const CUpti_CallbackData &) {}
  virtual void onResource(CUpti_CallbackId, const CUpti_ResourceData &) {}
  /// Called after the driver has loaded a module, for the program or for the probe.
  virtual void onModule(const CUpti_ModuleResourceData &) {}
  /// Called when the load call that this thread is in gets another image.
  virtual void onImageReplaced() {}

  /// The kernel as which a kernel record is counted.
  struct Counted {
    bool IsOurs = false;   ///< The probe launched the kernel, not the program.
    std::string_view Name; ///< The name of the program's kernel, also if a clone ran instead of it.
  };
  /// Called when CUPTI delivers records. It must take no lock that is held across calls of the
  /// driver. The records of the protocol that follow from it are appended to \p Lines.
  virtual Counted onKernel(const CUpti_ActivityKernel10 &Record, const LaunchShape &,
                           std::string & /*Lines*/) {
    return {false, Record.name};
  }
  /// Called when CUPTI has lost records. A mode that waits for a certain record may then wait in
  /// vain.
  virtual void onLostRecords() {}

  /// Called at intervals on the probe's own thread.
  virtual void check() {}
  /// Called when the process begins to end. From then on the calls are the runtime's own calls for
  /// its end.
  virtual void ending() {}
  /// Called after ending() and after the last kernel records, before the record file is sealed.
  virtual void finish() {}
};

using ProbeModes = std::vector<std::unique_ptr<ProbeMode>>;

} // namespace carve::probe
