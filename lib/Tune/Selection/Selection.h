/// \file
/// Selects variants by whole runs of the program: screening in rounds, confirmation on fresh runs,
/// and a comparison of the program as a whole. It comes after the timing runs and decides which
/// variants are kept. Variants are only numbers here. The code knows no kernels, files or GPUs, so
/// that tests can feed it by hand.
#pragma once

#include "Protocol/TimingRecords.h"
#include "Support/ProgressDisplay.h"
#include "Tune/Selection/Statistics.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One thing that has its own variants: a kernel, or a unit with `--carve-scope=file`. Variant 0 is
/// the default. Variant 1 is an identical control copy of it, which shows how much two copies of
/// the same code differ in time.
struct SubjectSpace {
  std::string Name;
  size_t Variants = FirstPlace;
  // A timing run may have found the following before.
  size_t Nominee = 0;     ///< This variant goes straight to the confirmation; 0 if there is none.
  std::string Stays = {}; ///< Why the subject keeps its default and is not run; empty if it is.
  std::map<size_t, std::string> Excluded = {}; ///< Variants that are not run, with the reason.
  double Predicted = 0; ///< The nominee's ratio in the timing run; 0 if not known.
  /// Whether timing runs compared in memory what the nominee wrote, in launch shapes with nearly
  /// all of its time.
  bool Compared = false;
  /// Whether the default's output was seen to differ from run to run, so that the nominee's could
  /// not be compared bit by bit.
  bool Varies = false;
  /// Whether a knob of the nominee may move last bits (VariantSetting::needsComparedOutput()). It
  /// did not in the launches that were compared.
  bool MayMoveBits = false;
  /// GPU times of the subject in earlier runs of the untouched program.
  std::vector<double> EarlierNs = {};
};

/// The variant of every subject in one run. If it is empty, the program runs untouched and no image
/// is swapped.
using Assignment = std::vector<size_t>;

/// One run as the selection sees it.
struct RunSample {
  std::vector<double> SubjectNs; ///< GPU time of each subject, over all launches and shapes.
  double ProgramNs = 0;          ///< GPU time of all kernels of the program.
  double WallS = 0;
  /// The time from the first kernel's start to the last one's end, a sum over the processes. 0 if
  /// it is not known.
  double SpanNs = 0;
  /// Why the run does not count: it failed, timed out, or its output differs from the default's.
  std::optional<std::string> Fault;
};

/// Makes one run. Fails only if tuning cannot go on at all: it was interrupted, or the default
/// itself fails.
using RunFunction = llvm::function_ref<llvm::Expected<RunSample>(const Assignment &)>;

/// The limits of a selection, and the thresholds of its decisions.
struct SelectionLimits {
  unsigned ScreeningRounds = 3;
  double ScreeningRatio = 0.995;      ///< A candidate's median ratio must be below this.
  double ClearlyWorse = 1.03;         ///< Variants above this are dropped before the next round.
  unsigned MaxConfirmationPairs = 27; ///< A confirmation makes no more pairs than this.
  double WinningRatio = 0.995;        ///< The median of the confirmation must be at most this.
  /// The interval must stay below 1 by this, or by twice the control's distance if that is more.
  double LeastMargin = 0.003;
  /// The logarithm of the program's ratio may be off the predicted one by this part of it.
  double SumTolerance = 0.25;
  unsigned MaxRuns = 400;  ///< The whole tuning makes no more runs than this.
  unsigned RunsBefore = 0; ///< Runs that the tuning made before the selection; they count too.
  double BudgetS = 0;      ///< Time for the whole tuning, in seconds; 0 if it is not limited.
  double RunS = 0;         ///< Estimated seconds per run, used until a run has been made.
  std::vector<double> EarlierProgramNs = {}; ///< GPU time of the program in earlier runs.
  double EarlierSpanNs = 0; ///< RunSample::SpanNs of that run; 0 if it is not known.
  double PlainWallS = 0;    ///< Wall time of an earlier run of the untouched program; 0: not known.
  /// Returns the seconds since the tuning began. It must be set if there is a budget.
  std::function<double()> ElapsedS = [] { return 0.0; };
  uint64_t Seed = 1;

  /// The upper end of the interval must be below this for a subject to win whose control copy is
  /// off by \p ControlDistance.
  double highBound(double ControlDistance) const {
    return 1 - std::max(LeastMargin, 2 * ControlDistance);
  }
};

/// The result of screening for one variant.
struct ScreenedVariant {
  size_t Variant = 0;
  std::vector<double> Ratios; ///< Its time over the default's time in the same round, per round.
  std::optional<std::string> Fault; ///< Why it was excluded, if it was.
};

/// The result of a selection for one subject.
struct SubjectOutcome {
  size_t Chosen = 0;                     ///< The variant to use; 0 if the default stays.
  std::vector<ScreenedVariant> Screened; ///< Variants 2, 3, ...; element 0 is variant 2.
  size_t Candidate = 0; ///< The nominee, or the best variant of screening; 0 if there is none.
  RatioInterval Ratio;  ///< The candidate's time over the default's, in its last confirmation.
  unsigned Pairs = 0;   ///< Pairs of runs that Ratio is computed from.
  /// |median time with the control copy / median time with the default - 1|.
  double ControlDistance = 0;
  std::string Reason; ///< Why the default stays.
};

/// Why the last confirmation made no more pairs.
enum class ConfirmationEnd {
  None,      ///< There was no confirmation.
  Decided,   ///< The times of each candidate decided.
  Sum,       ///< The program gained what was predicted for all candidates together.
  PairLimit, ///< SelectionLimits::MaxConfirmationPairs were made.
  RunLimit,  ///< SelectionLimits::MaxRuns allowed no more.
  Budget,    ///< The time budget was spent.
  Fault,     ///< Runs had faults.
};

/// `decided`, `sum`, `pair-limit`, `run-limit`, `budget` or `fault`; empty for None.
llvm::StringRef nameOf(ConfirmationEnd End);

/// The result of a selection.
struct SelectionOutcome {
  std::vector<SubjectOutcome> Subjects;
  RatioInterval Program; ///< GPU time of the program with all winners over the untouched program's.
  RatioInterval Wall;    ///< The same ratio of the wall times.
  /// The same ratio of the spans (RunSample::SpanNs); nothing if they are not known.
  std::optional<RatioInterval> Span;
  unsigned Runs = 0;
  unsigned ScreeningRuns = 0; ///< How many of these runs were made before the confirmation.
  unsigned Pairs = 0;         ///< Pairs of runs that these ratios are computed from.
  unsigned PairsMade = 0;     ///< Pairs of runs in all confirmations.
  ConfirmationEnd End = ConfirmationEnd::None;
  bool OutOfRuns = false, OutOfTime = false;
};

/// SubjectOutcome::Reason of a subject that is undecided because the time budget was spent: the
/// identifier of KnownReason::Budget.
inline constexpr char BudgetReason[] = "budget";

/// Selects a variant for every subject.
///
/// Screening: a round has as many runs as the subject with the most variants has variants. In each
/// run, every subject takes the next variant of its own random permutation. The permutations are
/// independent, so that no variant always runs beside the same variant of another subject. After
/// each round, variants that are clearly worse are dropped. After the last round, a subject's
/// candidate is its variant with the least median ratio, if that is below the limit. If a run has a
/// fault, it is repeated without the subjects that vary by themselves, and then with halves of the
/// subjects, until the variants at fault are found; these are excluded. Subjects with a nominee run
/// their default.
///
/// Confirmation: pairs of runs compare all candidates together with the untouched program; see
/// confirmCandidates().
///
/// With a budget, screening ends early enough for the shortest confirmation.
///
/// \p Progress is told how many runs the whole tuning has made. Fails only if \p Run fails.
llvm::Expected<SelectionOutcome> selectVariants(const std::vector<SubjectSpace> &Subjects,
                                                const SelectionLimits &Limits, RunFunction Run,
                                                ProgressDisplay &Progress);

} // namespace carve
