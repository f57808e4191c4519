/// \file
/// Judges the records of a timing run: which variant of each kernel goes into the confirmation,
/// which kernels keep their default, and which only whole runs can decide. It comes after TimingRun
/// and before Selection. It uses numbers and records only, no GPU and no files.
#pragma once

#include "Tune/Selection/Statistics.h"
#include "Workload/InRunRecord.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace carve {

/// A kernel as the selection sees it. Variant 0 is the default and variant 1 its control copy.
struct InRunSubject {
  /// A launch shape, or a class of one (LaunchDivision), as it was traced.
  struct TracedShape {
    LaunchShape Shape;
    uint64_t Launches = 0;
    double TotalNs = 0; ///< GPU time of all its launches in the traced run, with the default.
    /// The number of the shape that represents it, whose ratios count for it. Absent if it is timed
    /// itself, or not at all.
    std::optional<size_t> Representative = {};
    /// The mean time of the typical launches, if the trace has chosen some to be replayed.
    std::optional<double> TypicalNs = {};
    /// The time of a launch that is replayed, as traced.
    double replayedNs() const {
      return TypicalNs.value_or(TotalNs / double(std::max<uint64_t>(1, Launches)));
    }
  };
  std::string Kernel;                ///< The mangled name.
  std::vector<std::string> Variants; ///< Names, such as `r32`.
  std::vector<TracedShape> Shapes;
  /// Variants that compute something else than the kernel. They are never nominated.
  std::set<size_t> OnlyTimed = {};
  /// Variants that are nominated only if their output was compared with the default's.
  std::set<size_t> NeedProof = {};
  /// Variants that are for the launches of some shapes only. At the others, the default runs, and
  /// the variant has no times.
  std::set<size_t> Partial = {};
  /// By variant that consists of several codes: for each code, the numbers of the shapes whose
  /// launches all run it.
  std::map<size_t, std::vector<std::set<size_t>>> ShapesOfCodes = {};
  /// Variants that are composed of others. Each is nominated only if it takes at most WinningRatio
  /// of the time of every other variant: it is more code, and for fewer launches.
  std::set<size_t> Composed = {};
  /// Variants whose loads are evicted from L2 first. A replay cannot see what that costs the next
  /// kernel, so each is nominated by a replay only if it is faster than every other variant by
  /// InRunLimits::EvictionMargin.
  std::set<size_t> EvictFirst = {};

  /// The index of the variant \p Name, or Variants.size() if there is none. Records come from a
  /// file and may have any name.
  size_t numberOf(llvm::StringRef Name) const {
    return llvm::find(Variants, Name) - Variants.begin();
  }
};

/// The limits of the judgement.
struct InRunLimits {
  /// A candidate's median ratio in the choosing rounds must be below this.
  double ScreeningRatio = 0.995;
  double WinningRatio = 0.995;  ///< Its median in the held-out rounds must be at most this.
  double LeastMargin = 0.003;   ///< See SelectionLimits::LeastMargin.
  double EvictionMargin = 0.02; ///< See InRunSubject::EvictFirst.
  /// The probability, per kernel, that a variant that gains nothing is nominated.
  double Alpha = 0.05;
  /// A shape needs at least so many choosing rounds, and as many held-out rounds as Alpha needs.
  unsigned ChoosingRounds = 3;
  unsigned Candidates = 2; ///< At most so many variants of a kernel are judged on held-out rounds.
  /// The timed shapes must have at least this share of the kernel's time.
  double LeastCovered = 0.5;
  /// If the control's interval is further from 1 than this, a kernel is undecided and does not
  /// stay.
  double LargestScatter = 0.02;
};

/// How it is known that a variant computes what the default does.
enum class OutputProof {
  Bitwise,       ///< Every replayed launch left the same bytes as the default.
  WithinSpread,  ///< The default differs from run to run, and the variant differs no more.
  ProgramOutput, ///< The program's output is the same; the kernel's memory was not compared.
};

/// Why a variant that needs its output compared is out.
inline constexpr char NotCompared[] =
    "nothing compared its output with the default's, and its front-end knob may move last bits";

/// How the launches of a shape were timed.
enum class InRunTiming { None, Replay, Rotate };

/// What a timing run says of a kernel.
enum class InRunVerdict {
  Nominated, ///< A variant is faster. The confirmation has the last word.
  Stays,     ///< No variant is faster.
  Undecided, ///< The run cannot decide; whole runs have to.
};

/// What timing runs say of one launch shape of a kernel.
struct InRunShapeTimes {
  double TotalNs = 0; ///< GPU time of its launches in the traced run, with the default.
  /// By variant, its time over the default's in all rounds; the median is 0 if it was not timed.
  /// Empty if the shape was timed in too few rounds. Of a shape with a representative it is the
  /// representative's, where all launches of both run the same code of the variant.
  std::vector<RatioInterval> Ratios;
  /// Whether it has a representative or is one: then its times are not for its own grid alone.
  bool InGroup = false;
};

/// The result of a timing run for one kernel.
struct InRunOutcome {
  InRunVerdict Verdict = InRunVerdict::Undecided;
  size_t Nominee = 0;
  std::string Reason;                     ///< Why it stays or is undecided.
  InRunTiming Timing = InRunTiming::None; ///< How its heaviest timed shape was timed.
  bool Rotated = false;    ///< Whether its variants computed results that the program used.
  std::string NotReplayed; ///< Why the probe refused to replay it; empty if it did not refuse.
  OutputProof Proof = OutputProof::ProgramOutput;
  unsigned ChoosingRounds = 0, HeldOutRounds = 0;
  RatioInterval Ratio;        ///< Time of the best variant over the default's, in held-out rounds.
  double ControlDistance = 0; ///< |median ratio of the control - 1|.
  /// The default's median times for the heaviest shape, and the weight of the warm time that makes
  /// their mean the traced time. All are 0 if that shape was not replayed.
  double ColdNs = 0, WarmNs = 0, WarmWeight = 0;
  /// |that mean / the traced time - 1|: how unlike the program the replays of that shape are.
  double ReplayDistance = 0;
  /// Share of the kernel's traced time in shapes that were timed, and in those that these
  /// represent, 0 to 1.
  double Covered = 0;
  /// A variant that is out, with the reason.
  struct Rejection {
    size_t Variant = 0;
    std::string Why;
  };
  std::vector<Rejection> Rejected; ///< Rejected for what they wrote or did, however fast they are.
  bool isRejected(size_t Variant) const {
    return llvm::any_of(Rejected, [&](const Rejection &R) { return R.Variant == Variant; });
  }
  /// The median ratio of every variant over the choosing rounds; 0 if it was not timed.
  std::vector<double> Ratios;
  /// The 95 % interval of each ratio, or the smallest and largest of fewer than 6 rounds. It has as
  /// many elements as Ratios. An element has a meaning only if its ratio is not 0.
  std::vector<RatioInterval> Intervals;
  /// In the order of InRunSubject::Shapes, in which shapes are divided. Empty if the kernel was not
  /// judged.
  std::vector<InRunShapeTimes> Shapes = {};
};

/// Judges every subject by \p Record. The result has one outcome per subject, in the same order.
///
/// A round has a time of every variant, and each ratio is to the default of the same round. Cold
/// and warm times are weighted so that the default's mean is its traced mean. Rounds of several
/// launches of a shape are pooled. Shapes are summed, weighted by their traced time, and a
/// representative by that of its group. These count as if no variant changed them: shapes that were
/// not timed and have no representative, those that a partial variant is not for, and those of a
/// group whose launches run another code of it than the representative's. If only that makes a gain
/// too small, whole runs decide. Of every eight cycles of rotation, five are held out.
///
/// A variant is rejected if it has a fault or any verdict but Equal or WithinSpread, or if it needs
/// proof and was timed at a shape at which its output was compared neither in this run nor in an
/// earlier one, of which \p Earlier has the verdicts. The best of the others in the choosing rounds
/// are judged on the held-out rounds. The nominee is the variant with the least median, if the
/// median is at most WinningRatio and its interval (by order statistics; the judged variants share
/// Alpha) is below 1 - max(LeastMargin, twice the control's distance). The median of a composed
/// variant is divided by WinningRatio for that comparison.
std::vector<InRunOutcome> selectInRun(const std::vector<InRunSubject> &Subjects,
                                      const InRunRecord &Record, const InRunLimits &Limits = {},
                                      llvm::ArrayRef<VerifiedVariant> Earlier = {});

/// Changes \p Outcomes after a run whose output differed from the default's, as \p Difference says.
/// Any kernel whose variants computed the program's results may be the cause, so all these become
/// undecided. If no kernel was rotated, the replays themselves are in doubt, and all kernels become
/// undecided.
void distrustRotated(std::vector<InRunOutcome> &Outcomes, const std::string &Difference);

} // namespace carve
