/// \file
/// Records what a tuning has decided on each kernel, and the evidence for it. It follows the
/// selection by whole runs. Both the decisions in the store and the report are made from this
/// record.
#pragma once

#include "Support/StayReason.h"
#include "Tune/InRun/InRunTuning.h"
#include "Tune/Job/JobBuild.h"
#include "Tune/Selection/Selection.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What the timing runs found out about a kernel. All members are empty if they did not time it.
struct InRunFinding {
  std::string Mode;   ///< `replay`, `rotate`, `verify-rotate`, or `fixed` if whole runs decided.
  std::string Reason; ///< Why it was decided in this mode.
  /// How the nominated variant was verified: `bitwise`, `within-spread`, `output`.
  std::string Verified;
  unsigned Rounds = 0;        ///< Rounds that had no part in choosing the variant.
  RatioInterval Ratio;        ///< Time of the best variant over the default's; valid if Rounds > 0.
  double ControlDistance = 0; ///< |median ratio of the control - 1|.
  /// Times of a replay of the default from memory and from the cache, and the weight of the latter.
  double ColdNs = 0, WarmNs = 0, WarmWeight = 0;
  std::string Gpu = {}; ///< The GPU that timed it, if several did at once; otherwise empty.
};

/// A kernel of the job and the variant that it gets.
struct DecidedKernel {
  size_t Kernel = 0;      ///< Index in TuningJob::Kernels.
  bool Tuned = false;     ///< Whether it gets another variant than nvcc's.
  VariantSetting Setting; ///< Its setting; with TuningScope::File, the setting of the unit.
  /// If it gets codes with settings of their own, the variant's name. Setting is then the first's.
  std::string Composed = {};
  std::string CodeDigest; ///< The digest of the code that it gets; empty for the default.
  /// If it gets further entries, these, in the order in which launches are compared with them; the
  /// first entry is nvcc's code then. Setting, CodeDigest and Chosen are those of the variant.
  std::vector<FurtherEntry> Entries = {};
  /// The resources of nvcc's code and of the code that it gets. Spills are 0 if only a cubin is
  /// known, because cubins do not tell them.
  KernelResources Default, Chosen;
  double DefaultOccupancy = 0, ChosenOccupancy = 0; ///< See heaviestOccupancy().
  RatioInterval Ratio;                              ///< Chosen time over the default's.
  unsigned Pairs = 0; ///< Pairs of runs in the confirmation; Ratio is valid if this is not 0.
  StayReason Reason;  ///< Why the default stays.
  InRunFinding InRun;
};

/// The decided kernels of one module of the job.
struct DecidedUnit {
  std::vector<DecidedKernel> Kernels; ///< In the order of JobModule::Kernels.
  std::optional<unsigned> FileCap; ///< With TuningScope::File, the register cap that won, if any.

  /// The kernel of the job with index \p Kernel; null if the unit does not hold it.
  const DecidedKernel *find(size_t Kernel) const;
};

/// The device, program and date of a tuning.
struct Circumstances {
  std::string Date; ///< ISO 8601, UTC.
  std::string Workload, Device, Driver;
  LaunchDomain Domain = LaunchDomain::Preserve;
};

/// The occupancy of \p K with the resources \p R in the launch shape that takes most of its time:
/// resident warps over the most that an SM of \p Job's device holds, 0 to 1.
double heaviestOccupancy(const TuningJob &Job, const JobKernel &K, const KernelResources &R);

/// The shape as text for evidence and report, such as `grid 512x204x1 block 32x1x1 dynamic-smem 0`.
std::string shapeText(const KernelLaunches &Launches);
/// The shapes of \p T as text: at most eight of them, and then how many more there are.
std::vector<std::string> shapeTexts(const TracedKernel &T);
/// The mean GPU time of a launch in the traced run, in ns.
double meanNs(const TracedKernel &T);
/// The source file that a decision on \p K names. If several units have the kernel, it is the first
/// by name.
std::string sourceOf(const TuningJob &Job, const JobKernel &K);

/// The resources of \p Kernel in the image \p CubinBytes, without spills, which a cubin does not
/// tell.
KernelResources resourcesIn(const std::string &CubinBytes, const std::string &Kernel);

/// The decisions, by module of \p Job, of the selection by whole runs (\p Outcome) and the timing
/// runs (\p InRun; null if there were none), which chose among the variants of \p Built.
std::vector<DecidedUnit> decideKernels(const TuningJob &Job, const JobBuild &Built,
                                       TuningScope Scope, const SelectionOutcome &Outcome,
                                       const InRunTuning *InRun = nullptr);

/// The profile with the decisions on module number \p Module of \p Job. It has both winners and
/// kernels that keep their default, so that neither is timed again. A kernel that was left out of
/// the tuning has no decision.
Profile decisionsFor(const TuningJob &Job, const JobBuild &Built, size_t Module, TuningScope Scope,
                     const DecidedUnit &Decided, const Circumstances &When);

} // namespace carve
