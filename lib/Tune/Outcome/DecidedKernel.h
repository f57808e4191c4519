/// \file
/// What a tuning has decided of each kernel, with what speaks for it. The decisions of the store
/// and the report are both made from this record.
#pragma once

#include "Tune/InRun/InRunTuning.h"
#include "Tune/Job/TuningJob.h"
#include "Tune/Selection/Selection.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What the timing runs found of a kernel; all empty if it was not timed in them.
struct InRunFinding {
  std::string Mode;   ///< `replay`, `rotate`, `verify-rotate`; `fixed`: decided by whole runs.
  std::string Reason; ///< Why in this mode.
  /// How the nominated variant was verified: `bitwise`, `within-spread`, `output`.
  std::string Verified;
  unsigned Rounds = 0; ///< Rounds that had no part in choosing the variant.
  RatioInterval Ratio; ///< Of the best variant in these rounds; meaningful if Rounds > 0.
  double ControlDistance = 0;
  /// Times of a replay of the default from memory and from the cache, and the weight of the latter.
  double ColdNs = 0, WarmNs = 0, WarmWeight = 0;
};

/// A kernel of the job and the variant that it gets.
struct DecidedKernel {
  size_t Kernel = 0;      ///< Index in TuningJob::Kernels.
  bool Tuned = false;     ///< It gets another variant than nvcc's.
  VariantSetting Setting; ///< With TuningScope::File the unit's.
  std::string CodeDigest; ///< Of the code that it gets; empty for the default.
  /// Of nvcc's code, and of the code that it gets. Of a cubin's spills nothing is known (0).
  KernelResources Default, Chosen;
  double DefaultOccupancy = 0, ChosenOccupancy = 0; ///< See heaviestOccupancy().
  RatioInterval Ratio;                              ///< Of the confirmation.
  unsigned Pairs = 0; ///< Pairs of runs of the confirmation; Ratio is meaningful if > 0.
  std::string Reason; ///< Why the default stays.
  InRunFinding InRun;
};

/// The decided kernels of one module of the job.
struct DecidedUnit {
  std::vector<DecidedKernel> Kernels; ///< In the order of JobModule::Kernels.
  std::optional<unsigned> FileCap; ///< TuningScope::File: the register cap of the unit, if one won.

  /// The kernel of the job with index \p Kernel; null if the unit does not hold it.
  const DecidedKernel *find(size_t Kernel) const;
};

/// The device, program and date of a tuning.
struct Circumstances {
  std::string Date; ///< ISO 8601, UTC.
  std::string Workload, Device, Driver;
  LaunchDomain Domain = LaunchDomain::Preserve;
};

/// Resident warps of \p K with \p R over the most that an SM of \p Job's device holds, 0 to 1, in
/// the launch shape that takes most of the kernel's time.
double heaviestOccupancy(const TuningJob &Job, const JobKernel &K, const KernelResources &R);

/// `grid 512x204x1 block 32x1x1 dynamic-smem 0`, as evidence and report write it.
std::string shapeText(const KernelLaunches &Launches);
/// The shapes of \p T as text, at most eight of them and how many more there are.
std::vector<std::string> shapeTexts(const TracedKernel &T);
/// Mean time of a launch in the traced run.
double meanNs(const TracedKernel &T);
/// The source that a decision on \p K names: if several units hold it, the first by name.
std::string sourceOf(const TuningJob &Job, const JobKernel &K);

/// Resources of \p Kernel in the image \p CubinBytes, as far as a cubin tells them: no spills.
KernelResources resourcesIn(const std::string &CubinBytes, const std::string &Kernel);

/// What the selection by whole runs (\p Outcome) and the timing runs (\p InRun; null: there were
/// none) have decided, by module of \p Job.
std::vector<DecidedUnit> decideKernels(const TuningJob &Job, TuningScope Scope,
                                       const SelectionOutcome &Outcome,
                                       const InRunTuning *InRun = nullptr);

/// The decisions on module \p Module of \p Job: winners and kernels that stay alike, so that
/// neither is timed again. A kernel that was left out of the tuning has none.
Profile decisionsFor(const TuningJob &Job, size_t Module, TuningScope Scope,
                     const DecidedUnit &Decided, const Circumstances &When);

} // namespace carve
