/// \file
/// From what a timing run measured inside the program to a nominee per kernel: which variant goes
/// into the confirmation, which kernels keep their default, and which only whole runs can decide.
/// Numbers and records only: no GPU, no files.
#pragma once

#include "Tune/Selection/Statistics.h"
#include "Workload/InRunRecord.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace carve {

/// A kernel as the selection sees it. Variant 0 is the default and variant 1 its control copy.
struct InRunSubject {
  struct TracedShape {
    LaunchShape Shape;
    uint64_t Launches = 0;
    double TotalNs = 0; ///< Of the default, in the traced run.
  };
  std::string Kernel;                ///< Mangled.
  std::vector<std::string> Variants; ///< Their names.
  std::vector<TracedShape> Shapes;
  std::set<size_t> OnlyTimed = {}; ///< Variants that compute something else: never nominated.

  /// Which of Variants is called \p Name; their number if none is. Records come from a file.
  size_t numberOf(llvm::StringRef Name) const {
    return llvm::find(Variants, Name) - Variants.begin();
  }
};

struct InRunLimits {
  double ScreeningRatio = 0.995; ///< A candidate's median ratio in the choosing rounds: below.
  double WinningRatio = 0.99;    ///< Its median in the rounds held out: at most.
  double LeastMargin = 0.003;    ///< As SelectionLimits::LeastMargin.
  /// The chance, per kernel, that a variant that gains nothing is nominated.
  double Alpha = 0.05;
  unsigned ChoosingRounds = 3; ///< At least; of the held-out rounds as many as Alpha needs.
  unsigned Candidates = 2;     ///< Variants of a kernel that are judged on held-out rounds.
  double LeastCovered = 0.5;   ///< Share of the kernel's time in shapes that were timed.
  /// By which the control may scatter where a kernel is said to stay; beyond, nothing is known.
  double LargestScatter = 0.02;
};

/// How it is known that a variant computes what the default does.
enum class OutputProof {
  Bitwise,       ///< Every launch that was replayed left the default's bytes.
  WithinSpread,  ///< The default differs from run to run, and the variant no more than that.
  ProgramOutput, ///< The program printed the same; the kernel's memory was not compared.
};

enum class InRunTiming { None, Replay, Rotate };

enum class InRunVerdict {
  Nominated,
  Stays,     ///< No variant is faster.
  Undecided, ///< The run cannot tell: whole runs have to.
};

struct InRunOutcome {
  InRunVerdict Verdict = InRunVerdict::Undecided;
  size_t Nominee = 0;
  std::string Reason;                     ///< Why it stays or is undecided.
  InRunTiming Timing = InRunTiming::None; ///< Of the shapes that take most of the time.
  bool Rotated = false;    ///< Variants of it have computed the program's own results.
  std::string NotReplayed; ///< Why the probe stood back from replaying it; empty: it did not.
  OutputProof Proof = OutputProof::ProgramOutput;
  unsigned ChoosingRounds = 0, HeldOutRounds = 0;
  RatioInterval Ratio;        ///< Of the best variant in the rounds held out.
  double ControlDistance = 0; ///< |median ratio of the control - 1|.
  /// Medians of the default for the heaviest replayed shape, and how much the warm time counts so
  /// that the two make the traced time. 0 where it was not replayed.
  double ColdNs = 0, WarmNs = 0, WarmWeight = 0;
  double Covered = 0; ///< Share of the kernel's traced time in shapes that were timed.
  struct Rejection {
    size_t Variant = 0;
    std::string Why;
  };
  std::vector<Rejection> Rejected; ///< By what they wrote or did, however fast.
  /// Median ratio of every variant over the choosing rounds; 0 where not timed.
  std::vector<double> Ratios;
  /// Around each of these: 95 %, of fewer than 6 rounds their ends. As many as Ratios; meaningful
  /// where the ratio is not 0.
  std::vector<RatioInterval> Intervals;
};

/// Selects for every subject.
///
/// A round has a time of every variant; its ratios are to the default of the same round. A cold
/// and a warm time are weighted so that the default's come out as in the trace. Rounds of several
/// launches of a shape are pooled; shapes are summed, weighted by their traced time, and those that
/// were not timed count as if no variant changed them; where that alone makes a gain too small,
/// whole runs decide. Of eight cycles of rotation five are held out.
///
/// A variant with any verdict but Equal or WithinSpread, or with a fault, is out. Of the others the
/// best in the choosing rounds are judged on those held out: nominated is the one with the least
/// median that is at most WinningRatio and whose interval (order statistics, Alpha shared by the
/// variants judged) lies below 1 - max(LeastMargin, twice the control's distance).
std::vector<InRunOutcome> selectInRun(const std::vector<InRunSubject> &Subjects,
                                      const InRunRecord &Record, const InRunLimits &Limits = {});

/// After a run whose output was not the default's (\p Difference says how): nobody knows which of
/// the kernels did it whose variants computed the program's own results, so that these become
/// undecided. Where nothing was rotated the replays themselves are in doubt, and all become so.
void distrustRotated(std::vector<InRunOutcome> &Outcomes, const std::string &Difference);

} // namespace carve
