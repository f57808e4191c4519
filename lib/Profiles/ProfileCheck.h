/// \file
/// Compares two sets of measured kernels for `carve check`, a guard for CI: decides which kernels
/// became worse. The two sets can be from two states of a source, two toolkits or two GPUs. It is a
/// pure function from records to verdicts.
#pragma once

#include "Store/Profile.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// The GPU time of a launch in ns, with its interval as the tuning measured it.
struct LaunchTime {
  double Ns = 0, LowNs = 0, HighNs = 0;
};

/// The guard of a kernel's further entry.
struct CheckedGuard {
  std::string When;              ///< The launches that it lets through (guardText()).
  std::optional<GuardHold> Held; ///< In how much of the record's run it held; absent if not known.
};

/// One kernel as it runs in a build with these decisions.
struct CheckedKernel {
  std::string Kernel;
  std::string Arch; ///< `sm_90`; empty for any architecture, or if it is not known.
  std::string Device, Toolkit, Source;
  /// The shapes of its launches, as in evidence; empty if not known.
  std::vector<std::string> Shapes;
  unsigned Line = 0; ///< The line of its definition in Source; 0 if not known.
  /// The digest in a decision; absent for a pin, or if not known.
  std::optional<std::string> Digest;
  std::string Setting = "default";
  bool Tuned = false;
  std::optional<unsigned> Regs, SpillBytes; ///< Values per thread.
  std::optional<double> Occupancy;          ///< The occupancy of the heaviest launch shape, 0 to 1.
  std::optional<LaunchTime> Time;
  LaunchTime Ratio = {1, 1, 1}; ///< The time divided by the default's, if it was measured.
  bool Measured = false;        ///< True if Ratio was measured.
  /// Of its further entries, and of those that were in force when it was tuned.
  std::vector<CheckedGuard> Guards;

  /// Returns a name for people: the kernel, and the architecture if it is known.
  std::string name() const { return Arch.empty() ? Kernel : Kernel + " on " + Arch; }
};

/// Returns the kernels of \p P, one for each entry.
std::vector<CheckedKernel> checkedKernels(const Profile &P);

/// A property that may not become worse.
enum class CheckRule { RegisterIncrease, SpillIncrease, OccupancyLoss, TimeIncrease, LostTuning };
/// All rules, in the order in which they are reported.
inline constexpr CheckRule AllCheckRules[] = {CheckRule::SpillIncrease, CheckRule::RegisterIncrease,
                                              CheckRule::OccupancyLoss, CheckRule::TimeIncrease,
                                              CheckRule::LostTuning};
/// Returns a stable name such as `spill-increase`. It is also the rule's id in SARIF.
llvm::StringRef checkRuleName(CheckRule Rule);
/// Returns a sentence, without full stop, that says what the rule finds.
llvm::StringRef checkRuleText(CheckRule Rule);

/// How much worse each property may become. A property without a limit is not judged.
struct CheckTolerances {
  std::optional<unsigned> RegsIncrease = {}; ///< Registers per thread.
  std::optional<unsigned> SpillIncrease = 0; ///< Bytes per thread.
  std::optional<double> OccupancyLoss = 0;   ///< As a share of all warps, 0 to 1.
  /// A share of the time before, beyond both intervals.
  std::optional<double> TimeIncrease = 0.05;
  /// Judges even across architectures, and judges time across GPUs, toolkits and launch shapes.
  bool Across = false;
  bool Strict = false; ///< If true, a lower time excuses nothing.
};

/// The verdict on one property.
enum class CheckVerdict {
  Passed,
  Regressed,
  NotJudged, ///< A value is not known, or the rule does not apply. PropertyCheck::Detail says why.
};

/// One property of one kernel.
struct PropertyCheck {
  CheckRule Rule = CheckRule::SpillIncrease;
  CheckVerdict Verdict = CheckVerdict::NotJudged;
  std::string Before = {}, After = {}; ///< The values as text; empty if not known.
  std::string Detail = {};             ///< What failed, what excuses it, or why it is not judged.
};

/// How much of the two records' runs a guard held in. It is a note and no verdict: a launch that an
/// entry is not for takes nvcc's code, which is right and as fast as without a tuning.
struct GuardCheck {
  std::string When;
  std::optional<GuardHold> Before, After; ///< Absent if that side does not know.

  /// Returns holdWarning() if both sides know; otherwise an empty text.
  std::string warning() const;
};

/// One kernel that both sides have.
struct KernelCheck {
  CheckedKernel Before, After;
  std::vector<PropertyCheck> Properties;
  std::vector<GuardCheck> Guards = {}; ///< Those of the base first.

  /// True if at least one property became worse.
  bool regressed() const;
};

/// The verdicts on all kernels.
struct CheckOutcome {
  std::vector<KernelCheck> Kernels; ///< Sorted by name and architecture.
  /// Kernels that only one side has. They are notes, not regressions.
  std::vector<CheckedKernel> Vanished, Appeared;

  unsigned count(CheckVerdict V) const; ///< Counts the properties with verdict \p V.
};

/// Compares kernel by kernel and returns the verdicts. Entries are paired by name and architecture.
/// If there are several, those of one source are paired first (same digest, then same toolkit, then
/// any), then those with the same digest, then those of one toolkit. If only one side has an
/// architecture, whatever is left of the name is paired.
///
/// More registers or spills and less occupancy are excused in two cases. Either the time is lower
/// by more than 2 % beyond both intervals; 2 % is how much launch times scatter from tuning to
/// tuning. Or the code is the same (one digest), so that only the tuner's choice differs and the
/// time alone judges it.
CheckOutcome checkKernels(const std::vector<CheckedKernel> &Before,
                          const std::vector<CheckedKernel> &After, const CheckTolerances &T);

} // namespace carve
