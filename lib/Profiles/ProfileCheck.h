/// \file
/// A guard for CI: whether what was tuned is worse in one set of measurements than in another, be
/// they of two states of a source, two toolkits or two GPUs. Pure: records in, verdicts out.
#pragma once

#include "Store/Profile.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// GPU time of a launch, with what the tuning knows of its doubt.
struct LaunchTime {
  double Ns = 0, LowNs = 0, HighNs = 0;
};

/// One kernel as a build with these decisions runs it.
struct CheckedKernel {
  std::string Kernel;
  std::string Arch; ///< `sm_90`; empty: any, or not known.
  std::string Device, Toolkit, Source;
  std::vector<std::string> Shapes;   ///< Of its launches, as in evidence; empty: not known.
  unsigned Line = 0;                 ///< Of its definition in Source; 0: not known.
  std::optional<std::string> Digest; ///< As in a decision; absent: pinned, or not known.
  std::string Setting = "default";
  bool Tuned = false;
  std::optional<unsigned> Regs, SpillBytes; ///< Per thread.
  std::optional<double> Occupancy;          ///< Of the heaviest shape, 0 to 1.
  std::optional<LaunchTime> Time;
  LaunchTime Ratio = {1, 1, 1}; ///< Time over the default's, where it was measured.
  bool Measured = false;        ///< Ratio was.

  /// For a person: the kernel, and where it is known the architecture.
  std::string name() const { return Arch.empty() ? Kernel : Kernel + " on " + Arch; }
};

/// The kernels of \p P, an entry each.
std::vector<CheckedKernel> checkedKernels(const Profile &P);

enum class CheckRule { RegisterIncrease, SpillIncrease, OccupancyLoss, TimeIncrease, LostTuning };
inline constexpr CheckRule AllCheckRules[] = {CheckRule::SpillIncrease, CheckRule::RegisterIncrease,
                                              CheckRule::OccupancyLoss, CheckRule::TimeIncrease,
                                              CheckRule::LostTuning};
/// `spill-increase` and so on; stable, also the rule's id in SARIF.
llvm::StringRef checkRuleName(CheckRule Rule);
/// What the rule finds, in a sentence.
llvm::StringRef checkRuleText(CheckRule Rule);

/// What may become worse. Absent: not judged.
struct CheckTolerances {
  std::optional<unsigned> RegsIncrease = {}; ///< Registers per thread.
  std::optional<unsigned> SpillIncrease = 0; ///< Bytes per thread.
  std::optional<double> OccupancyLoss = 0;   ///< Of 1.
  std::optional<double> TimeIncrease = 0.05; ///< Of the time before, beyond both intervals.
  bool Across =
      false; ///< Judge across architectures, and time across GPUs, toolkits and launch shapes.
  bool Strict = false; ///< Nothing is excused by time.
};

enum class CheckVerdict {
  Passed,
  Regressed,
  NotJudged, ///< A value is not known, or the rule does not apply; Detail says why.
};

struct PropertyCheck {
  CheckRule Rule = CheckRule::SpillIncrease;
  CheckVerdict Verdict = CheckVerdict::NotJudged;
  std::string Before = {}, After = {}; ///< The values, with units; empty where not known.
  std::string Detail = {};             ///< What failed, what excuses it, or why it is not judged.
};

/// One kernel of both sides.
struct KernelCheck {
  CheckedKernel Before, After;
  std::vector<PropertyCheck> Properties;

  bool regressed() const;
};

struct CheckOutcome {
  std::vector<KernelCheck> Kernels;              ///< By name and architecture.
  std::vector<CheckedKernel> Vanished, Appeared; ///< Notes: no regressions.

  unsigned count(CheckVerdict V) const; ///< Of properties.
};

/// Compares kernel by kernel: those of one name and architecture, where there are several first
/// those of one source (of one digest, then of one toolkit, then any), then of one digest, then of
/// one toolkit; where an architecture is in one side alone, whatever is left of the name.
/// Registers, spills and occupancy are excused where the time is lower by more than 2 % beyond both
/// intervals, which is what launches scatter by from tuning to tuning, or where the code is the
/// same (one digest), so that only the tuner's choice is another and the time alone judges it.
CheckOutcome checkKernels(const std::vector<CheckedKernel> &Before,
                          const std::vector<CheckedKernel> &After, const CheckTolerances &T);

} // namespace carve
