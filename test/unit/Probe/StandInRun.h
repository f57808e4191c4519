/// \file
/// The test program on the stand-in driver (StandIn/), run by itself, traced, and with a plan that
/// is made of its trace as the tuner makes it.
#pragma once

#include "unit/Probe/ProbeRecords.h"

namespace carve::probe::test {

struct StandInPlan {
  std::string Mode = "replay", Fallback = "none";
  unsigned HangMs = 10'000;
  std::vector<std::string> Excluded, Measured; ///< Variants of every kernel.
};

class StandInRun {
public:
  /// Runs \p Scenario without the probe and traced; one clone of every kernel has the fault \p Bad.
  explicit StandInRun(const std::string &Scenario, const std::string &Bad = "");

  /// Runs it with the clones in the place of its image and a plan for every traced kernel.
  CommandResult time(const StandInPlan &Plan);

  CommandResult Plain, Trace;
  Records Traced, Timed;

private:
  std::string planText(const StandInPlan &Plan) const;
  std::vector<std::string> Arguments;
};

} // namespace carve::probe::test
