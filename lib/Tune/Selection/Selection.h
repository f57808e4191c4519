/// \file
/// The search itself, over numbered variants: rounds of runs in which every subject takes its own
/// random permutation, screening, confirmation on fresh data, and the program's own A/B. It knows
/// nothing of kernels, files or GPUs, so that tests feed it by hand.
#pragma once

#include "Tune/Selection/Statistics.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One thing that takes variants of its own: a kernel, or with `--carve-scope=file` a unit.
/// Variant 0 is the default and variant 1 an identical control copy of it.
struct SubjectSpace {
  std::string Name;
  size_t Variants = 2;
  /// What a timing run has found out already: a variant that goes straight to the confirmation (0:
  /// none), why the subject takes part in nothing (empty: it does), and variants that are out.
  size_t Nominee = 0;
  std::string Stays = {};
  std::map<size_t, std::string> Excluded = {};
};

/// The variant of every subject in one run. Empty: the program untouched, nothing swapped.
using Assignment = std::vector<size_t>;

/// One run as the selection sees it.
struct RunSample {
  std::vector<double> SubjectNs; ///< GPU time of each subject, all launches and shapes.
  double ProgramNs = 0;          ///< GPU time of all kernels of the program.
  double WallS = 0;
  /// Why the run cannot count: it failed, timed out, or printed something else than the default.
  std::optional<std::string> Fault;
};

/// Makes runs. Fails only where tuning cannot go on at all (interrupted, the default fails).
using RunFunction = llvm::function_ref<llvm::Expected<RunSample>(const Assignment &)>;

struct SelectionLimits {
  unsigned ScreeningRounds = 3;
  double ScreeningRatio = 0.995; ///< A candidate's median ratio must be below.
  double ClearlyWorse = 1.03;    ///< Dropped before the next round of screening.
  unsigned ConfirmationPairs = 9;
  unsigned MaxConfirmationPairs = 27;
  double WinningRatio = 0.99; ///< Median of the confirmation must be at most this.
  double LeastMargin =
      0.003; ///< The interval must stay below 1 by this or by twice the control's distance.
  unsigned MaxRuns = 400;  ///< Of the whole tuning,
  unsigned RunsBefore = 0; ///< and how many of these were made before the selection.
  double BudgetS = 0;      ///< For the whole tuning; 0: none.
  double RunS = 0;         ///< What a run is thought to take before one was made.
  /// Seconds since the tuning began. Needed with a budget.
  std::function<double()> ElapsedS = [] { return 0.0; };
  uint64_t Seed = 1;
};

/// What became of one variant in screening.
struct ScreenedVariant {
  size_t Variant = 0;
  std::vector<double> Ratios; ///< To the default of the same round, one per round.
  std::optional<std::string> Fault;
};

struct SubjectOutcome {
  size_t Chosen = 0; ///< 0: the default stays.
  std::vector<ScreenedVariant> Screened;
  size_t Candidate = 0; ///< Best of screening; 0 where none passed.
  RatioInterval Ratio;  ///< Of the candidate, in the last confirmation it took part in.
  unsigned Pairs = 0;
  double ControlDistance = 0; ///< |median ratio of the control - 1|.
  std::string Reason;         ///< Why the default stays.
};

struct SelectionOutcome {
  std::vector<SubjectOutcome> Subjects;
  RatioInterval Program; ///< GPU time, winners together over the untouched program.
  RatioInterval Wall;
  unsigned Runs = 0;
  unsigned ScreeningRuns = 0; ///< Of these, before the confirmation.
  unsigned Pairs = 0;
  bool OutOfRuns = false, OutOfTime = false;
};

/// SubjectOutcome::Reason of what the budget left undecided.
inline constexpr char BudgetReason[] = "budget";

/// Tells of progress: runs done and runs expected in all.
using ProgressFunction = llvm::function_ref<void(unsigned Done, unsigned Expected)>;

/// Selects a variant for every subject.
///
/// Screening: a round is as many runs as the subject with most variants has; in each, every
/// subject takes the next variant of its own permutation, uncorrelated with the others'. After
/// each round variants that are clearly worse are dropped; after the last the best whose median
/// ratio is below the limit is the candidate. A run with a fault is repeated in halves until the
/// variants at fault are found; these are out. Subjects with a nominee run their default.
///
/// Confirmation: pairs of runs, all candidates against the untouched program in alternating order,
/// every second default run with the control copies in place. A subject wins where its median is
/// at most WinningRatio and its interval's upper end is below 1 - max(LeastMargin, twice the
/// control's distance). Pairs are added while some subject is undecided. Where one loses, the
/// winners are confirmed again without it. The program wins where its own median is not above 1
/// and its wall time is not measurably above; otherwise nobody does.
///
/// With a budget, screening ends while the least confirmation still fits. A confirmation is begun
/// while there is time, and gets at least the pairs that can decide; what is undecided then stays
/// with BudgetReason.
llvm::Expected<SelectionOutcome> selectVariants(const std::vector<SubjectSpace> &Subjects,
                                                const SelectionLimits &Limits, RunFunction Run,
                                                ProgressFunction Progress);

} // namespace carve
