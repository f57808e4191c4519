/// \file
/// Makes the run that times variants inside the program. If a variant hangs or fails, the run is
/// made again without it. The output is compared with the default's. It comes after ProbePlan, and
/// InRunTuning judges its records. The function that makes a run is a parameter, so that recorded
/// samples take the same path as a GPU.
#pragma once

#include "Support/ProgressDisplay.h"
#include "Workload/OutputCheck.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <map>
#include <vector>

namespace carve {

/// What the plan must leave out, because an earlier run failed with it.
struct PlanExclusions {
  std::vector<VariantFault> Faults;           ///< Faults of variants that may not run again.
  std::map<std::string, std::string> Kernels; ///< Reasons by mangled name of the whole kernel.
};

/// The limits of making a run again.
struct TimingRunLimits {
  unsigned MostReruns = 5;
  unsigned FaultsOfAKernel = 3; ///< A kernel with so many faults is left out of further runs.
  /// Whether the output of a run is kept (OutputCheck::keep()) and not compared at once, if no
  /// kernel was rotated in it, or if it differs in times alone. Then the caller asks
  /// OutputCheck::differenceOfKept() before it uses the times: for MemoryOfRun::Same, and for
  /// MemoryOfRun::NotCompared if it uses times of rotated kernels.
  bool OutputWaits = false;
  /// Why the tuning may make no other run after \p Runs runs, or nothing if it may. It checks the
  /// limits of the whole tuning.
  std::function<std::optional<std::string>(unsigned Runs)> WhyNoMore = [](unsigned) {
    return std::nullopt;
  };
};

/// The result of a timing run with its reruns.
struct TimingRunResult {
  InRunRecord Record; ///< The records of the last run, with the faults of all runs.
  PlanExclusions Excluded;
  /// How the program's output differed from the default's, although the default was run again to
  /// see how its own output varies.
  std::optional<std::string> Difference;
  std::optional<std::string> Failure; ///< Why the times of the run do not count.
  unsigned Runs = 0;
  double WallS = 0;                ///< Wall time of the last run, in seconds.
  unsigned Processes = 0;          ///< How many processes of the last run used CUDA.
  std::vector<std::string> Reruns; ///< Why each run had to be made again, as text for a person.
};

/// Prints the plan without what is excluded. Returns an empty text if nothing is left to be timed.
using PlanFunction = llvm::function_ref<std::string(const PlanExclusions &)>;
/// Makes a run with a plan.
using PlannedRunFunction = llvm::function_ref<llvm::Expected<RunRecord>(const std::string &Plan)>;

/// Makes the timing run. If a variant ends a run, \p Progress gets a note, and the run is made
/// again without that variant. It is made again without the whole kernel if the kernel's default or
/// control ended it, or several of its variants did. If the last rerun fails, too, or no other run
/// is allowed, the result has a Failure; that is not an error. \p Check compares the output; it is
/// null for recorded samples, which have no output. Fails if tuning cannot go on: it was
/// interrupted, or the program cannot be started.
llvm::Expected<TimingRunResult> timeInRun(PlanFunction Plan, PlannedRunFunction Run,
                                          OutputCheck *Check, ProgressDisplay &Progress,
                                          const TimingRunLimits &Limits = {});

} // namespace carve
