/// \file
/// Runs the test program on the stand-in driver (StandIn/): by itself, traced, and with a plan that
/// is made from its trace in the way of the tuner.
#pragma once

#include "unit/Probe/ProbeRecords.h"

namespace carve::probe::test {

struct StandInPlan {
  std::string Mode = "replay", Fallback = "none";
  unsigned HangMs = 10'000;
  /// The variants of every kernel that are excluded or measured.
  std::vector<std::string> Excluded, Measured;
};

class StandInRun {
public:
  /// Runs \p Scenario without the probe and then traced. One clone of every kernel has the fault
  /// \p Bad.
  explicit StandInRun(const std::string &Scenario, const std::string &Bad = "");

  /// Runs the program with the clones in the image that replaces its own, and with a plan for every
  /// traced kernel.
  CommandResult time(const StandInPlan &Plan);

  CommandResult Plain, Trace;
  Records Traced, Timed;

private:
  std::string planText(const StandInPlan &Plan) const;
  std::vector<std::string> Arguments;
};

} // namespace carve::probe::test
