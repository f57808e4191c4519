/// \file
/// Plans the recheck of a whole store: finds for each decision the workload with which it was
/// tuned, and says why a decision cannot be timed. RecheckCommand carries the plan out.
#pragma once

#include "Recheck/Recheck.h"
#include "Tune/TunedWorkload.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace carve {

/// A decision of the store that changes a kernel's code.
struct StoredDecision {
  std::string Unit; ///< The key of the unit that has it.
  Decision Decided;
  std::string Mangled; ///< The kernel's mangled name; empty while no workload is known.
};

/// A decision that was not timed.
struct UntimedDecision {
  StoredDecision Stored;
  std::string Why;
};

/// One workload that is to run, and the decisions that are timed with it.
struct WorkloadTurn {
  TunedWorkload Workload;
  std::vector<StoredDecision> Decisions;
  double GpuNs = 0; ///< GPU time of their kernels in one run.
};

/// What is done for a store.
struct StorePlan {
  std::vector<WorkloadTurn> Turns; ///< By falling GPU time.
  std::vector<UntimedDecision> Untimed;
};

/// Returns the decisions of \p Store that change code: of each unit, kernel and architecture the
/// newest one, unless that leaves nvcc's code. Decisions made by hand, and those of a site's store
/// above it, are left out.
std::vector<StoredDecision> changingDecisions(const UnitStore &Store);

/// Shares \p Decisions out to \p Workloads, which begin with the one that was tuned last. Each goes
/// to the first one that decided it and for which \p WhyGone returns an empty text. If there is
/// none, it is not timed; the reason is that of the first one that decided it.
StorePlan planStore(std::vector<StoredDecision> Decisions,
                    const std::vector<TunedWorkload> &Workloads,
                    llvm::function_ref<std::string(const TunedWorkload &)> WhyGone);

/// What became of the decisions of a store.
struct StoreOutcome {
  std::string Store;                     ///< Its folder.
  std::vector<RecheckOutcome> Workloads; ///< Those that were timed, in the order of their turns.
  std::vector<UntimedDecision> Untimed;

  /// Adds what came of \p Turn. Decisions on kernels that \p Timed does not have are untimed.
  void add(const WorkloadTurn &Turn, RecheckOutcome Timed);
  /// Adds all decisions of \p Turn as untimed, because of \p Why.
  void skip(const WorkloadTurn &Turn, const std::string &Why);
  /// Returns the number of kernels with the verdict \p V. With Untimed, those of Untimed count.
  size_t count(RecheckVerdict V) const;
};

/// Returns the outcome as text: a line that sums up, each workload as printRecheckText() does, and
/// the decisions that were not timed.
std::string printStoreText(const StoreOutcome &Outcome);
/// Returns the outcome as one JSON object; share/doc/formats.md describes it.
std::string printStoreJson(const StoreOutcome &Outcome);

} // namespace carve
