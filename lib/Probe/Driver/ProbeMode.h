/// \file
/// What a run of a program under the probe is for: a trace, timing variants, capturing launches,
/// counting. Each is a mode, made at the start of the process (Probe.cpp). The callbacks, the
/// activity buffers and the probe's own thread hand everything to the modes that there are.
#pragma once

#include "Probe/Driver/DriverCalls.h"
#include "Protocol/LaunchShape.h"

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace carve::probe {

class ProbeMode {
public:
  ProbeMode() = default;
  ProbeMode(const ProbeMode &) = delete;
  ProbeMode &operator=(const ProbeMode &) = delete;
  virtual ~ProbeMode() = default;

  /// The driver calls that onCall() has to see. With Role::Gated among them the calls that have it
  /// wait at the gate (Submissions.h).
  virtual Roles calls() const = 0;
  /// More of them, which have no roles; they wait at the gate, too.
  virtual std::set<CUpti_CallbackId> unknownCalls() const { return {}; }
  /// The events (CUpti_CallbackIdResource) that onResource() has to see.
  virtual std::set<CUpti_CallbackId> resources() const = 0;
  /// Whether CUPTI may record the program's kernels meanwhile.
  virtual bool allowsActivity() const { return true; }
  /// Whether the program's own kernels run, and they alone: then the times at which they begin and
  /// end say something about the program.
  virtual bool runsProgramAsItIs() const { return true; }

  /// A call of the program's, at entry and exit. Also of calls that only another mode wants.
  virtual void onCall(CUpti_CallbackId, const CUpti_CallbackData &) {}
  virtual void onResource(CUpti_CallbackId, const CUpti_ResourceData &) {}
  /// The driver has loaded a module, for the program or for us.
  virtual void onModule(const CUpti_ModuleResourceData &) {}
  /// The load call of the program's that this thread is in gets another image.
  virtual void onImageReplaced() {}

  /// What a kernel record counts as.
  struct Counted {
    bool IsOurs = false;   ///< Launched by the probe: not the program's.
    std::string_view Name; ///< The kernel's own, where a clone ran in its place.
  };
  /// Called where CUPTI delivers records: takes no lock that is held across calls of the driver.
  /// \p Lines gets the records of the protocol that follow from it.
  virtual Counted onKernel(const CUpti_ActivityKernel10 &Record, const LaunchShape &,
                           std::string & /*Lines*/) {
    return {false, Record.name};
  }
  /// CUPTI has lost records: what waits for one may wait in vain.
  virtual void onLostRecords() {}

  /// On the probe's own thread, every now and then.
  virtual void check() {}
  /// The process ends: what is called from now on is the runtime's own way to end.
  virtual void ending() {}
  /// After that and the last kernel records, before the record file is sealed.
  virtual void finish() {}
};

using ProbeModes = std::vector<std::unique_ptr<ProbeMode>>;

} // namespace carve::probe
