/// \file
/// Runs the test program on the stand-in driver (StandIn/): by itself, traced, and with a plan that
/// is made from its trace in the way of the tuner.
#pragma once

#include "unit/Probe/ProbeRecords.h"

#include <set>
#include <string>
#include <vector>

namespace carve::probe::test {

struct StandInPlan {
  std::string Mode = "replay", Fallback = "none";
  unsigned HangMs = 10'000, ReplayMs = 20'000;
  /// The variants of every kernel that are excluded or measured.
  std::vector<std::string> Excluded, Measured;
  /// The constants that every kernel names.
  std::vector<std::string> Constants = {};
  /// The variants of every kernel that launches may run only after they were compared.
  std::vector<std::string> ToCompare = {};
  /// The variants of every kernel that are not in the plan.
  std::set<std::string> Omitted = {};
  /// The variants of every kernel that may run only if the kernel's count is GuardedCount.
  std::set<std::string> Guarded = {};
  unsigned GuardedCount = 0;
  unsigned GuardedOffset = 0; ///< Where the guard has it in the parameter, in bytes.
  /// Whether `fast` is another code of the variant `odd`, for launches with half of GuardedCount,
  /// and with the grid GuardedGrid if that is not empty.
  bool SecondCode = false;
  std::string GuardedGrid = {};
  /// Whether the launches of a shape are divided as they were traced: the first class is that of
  /// the arguments with the most time.
  bool Divided = false;
  unsigned MostClasses = 8; ///< Further classes are not timed.
  /// Whether they are divided by their order, as it was traced.
  bool Segmented = false;
  /// The two launches of every shape that are replayed, if not the first and the middle one.
  std::string ToReplay = {};
};

class StandInRun {
public:
  /// Runs \p Scenario without the probe and then traced. One clone of every kernel has the fault
  /// \p Bad.
  explicit StandInRun(const std::string &Scenario, const std::string &Bad = "");

  /// Runs the program with the clones in the image that replaces its own, and with a plan for every
  /// traced kernel.
  CommandResult time(const StandInPlan &Plan);
  /// The same, once more if other launches than those with the numbers \p Replayed were replayed,
  /// five times at most: on a busy host a replay waits for a later launch.
  CommandResult time(const StandInPlan &Plan, const std::set<std::string> &Replayed);

  CommandResult Plain, Trace;
  Records Traced, Timed;

private:
  std::string planText(const StandInPlan &Plan) const;
  std::string dividedShape(const Fields &Kernel, const StandInPlan &Plan) const;
  std::string segments(const Fields &Kernel) const;
  std::vector<std::string> Arguments;
};

/// A plan that rotates every kernel.
StandInPlan rotation();

/// Expects that \p With computed what \p Without did, and that no sanitizer reports anything.
void expectAsPlain(const CommandResult &With, const CommandResult &Without);

/// How many launches of \p Kernel were in graphs.
uint64_t graphLaunchesOf(const Records &File, const std::string &Kernel);

} // namespace carve::probe::test
