/// \file
/// The run that times variants inside the program: made with the plan, made again without a variant
/// that hung or failed, and compared with the default's output. Who makes a run is given, so that
/// recorded samples go the same way as a GPU.
#pragma once

#include "Workload/OutputCheck.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>
#include <map>
#include <vector>

namespace carve {

/// What runs have shown to be left out of the plan.
struct PlanExclusions {
  std::vector<VariantFault> Faults;           ///< Each of a variant that may not run again.
  std::map<std::string, std::string> Kernels; ///< Whole kernels, mangled, with the reason.
};

struct TimingRunLimits {
  unsigned MostReruns = 5;
  unsigned FaultsOfAKernel = 3; ///< With so many, a kernel is left out of further runs.
  /// Why there is no other run after so many, or nothing: what the whole tuning may take.
  std::function<std::optional<std::string>(unsigned Runs)> WhyNoMore = [](unsigned) {
    return std::nullopt;
  };
};

struct TimingRunResult {
  InRunRecord Record; ///< Of the run that counts, with the faults of those before it.
  PlanExclusions Excluded;
  /// How the program's output was not the default's, although that has run again.
  std::optional<std::string> Difference;
  std::optional<std::string> Failure; ///< Why nothing of the run counts.
  unsigned Runs = 0;
  double WallS = 0;                ///< Of the run that counts.
  std::vector<std::string> Reruns; ///< Why each was made again, for a person.
};

/// The text of the plan without what is excluded; empty: nothing is left to be timed.
using PlanFunction = llvm::function_ref<std::string(const PlanExclusions &)>;
/// Makes a run with a plan.
using PlannedRunFunction = llvm::function_ref<llvm::Expected<RunRecord>(const std::string &Plan)>;
/// Told of a run that is made again, and why.
using AnnounceFunction = llvm::function_ref<void(llvm::StringRef)>;

/// Makes the timing run. A run that a variant ended is announced and made again without that
/// variant; without the kernel where its default or control was at fault, or several of its
/// variants were. After the last of the reruns, or where there may be no other, nothing counts,
/// which is a result. \p Check compares the output; null: recorded samples have none. Fails where
/// tuning cannot go on: interrupted, the program cannot be started.
llvm::Expected<TimingRunResult> timeInRun(PlanFunction Plan, PlannedRunFunction Run,
                                          OutputCheck *Check, AnnounceFunction Announce,
                                          const TimingRunLimits &Limits = {});

} // namespace carve
