/// \file
/// What one tuning found: the record behind the table, the JSON and the stored report.
#pragma once

#include "Tune/InRun/InRunTuning.h"
#include "Tune/Job/TuningJob.h"
#include "Tune/Selection/Selection.h"
#include "Workload/GpuUsers.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One variant that was timed, or compiled and carved away.
struct VariantReport {
  std::string Name;  ///< `r40-f255`
  unsigned Regs = 0; ///< That the code uses.
  unsigned SpillBytes = 0;
  double Occupancy = 0; ///< Of the heaviest shape, 0 to 1.
  double Ratio = 0;     ///< Median of screening, in the run or by runs; 0 where not timed.
  std::string Fault;
  /// Static metrics (Metrics/Counts/Metrics.h); 0 where not known.
  double Efficiency = 0, Utilization = 0;
  std::string Carved;    ///< Why it is not timed; empty: it is.
  double LocalBytes = 0; ///< That a thread loads and stores, loops counted; 0 where not known.
  /// 95 % interval of the ratio; both 0 where it was not timed or the report is of before.
  double RatioLow = 0, RatioHigh = 0;

  /// Takes Ratio and these from \p R.
  void setRatio(const RatioInterval &R);
};

/// Up to how many registers so many blocks are resident, in a kernel's heaviest shape.
struct ConcurrencyLevel {
  unsigned MaxRegs = 0;
  unsigned BlocksPerSm = 0;
  double Occupancy = 0; ///< 0 to 1.
};

/// What a timing run found of a kernel, for a person; all empty where it was not timed there.
struct InRunReport {
  std::string Mode;   ///< `replay`, `rotate`, `verify-rotate`; `fixed`: decided by whole runs.
  std::string Reason; ///< Why so.
  std::string
      Verified;        ///< Of the variant that was nominated: `bitwise`, `within-spread`, `output`.
  unsigned Rounds = 0; ///< Held out from the choice.
  RatioInterval Ratio; ///< Of the best variant in these; meaningful where Rounds > 0.
  double ControlDistance = 0;
  /// Of the default, replayed: from memory, from the cache, and how much the latter counts.
  double ColdNs = 0, WarmNs = 0, WarmWeight = 0;
};

struct KernelReport {
  std::string Kernel, Mangled;
  std::string Output; ///< Of the unit: object or executable.
  std::string Source; ///< Of the unit, below its project's root; empty where not known.
  double Share = 0;   ///< Of GPU time, 0 to 1.
  uint64_t Launches = 0;
  double MeanNs = 0; ///< Of a launch in the traced run.
  /// The register region, and its concurrency levels by falling registers; empty where not known.
  unsigned LeastRegs = 0, MostRegs = 0;
  std::vector<ConcurrencyLevel> Levels;
  /// The default's static metrics; 0 where not known.
  double EfficiencyBefore = 0, UtilizationBefore = 0, LocalBytesBefore = 0;
  unsigned RegsBefore = 0, RegsAfter = 0;
  double OccupancyBefore = 0, OccupancyAfter = 0;
  /// Bytes, stores and loads of the entry. Not known (0) with TuningScope::File: cubins do not
  /// tell.
  unsigned SpillBefore = 0, SpillAfter = 0;
  bool Tuned = false;
  std::string Variant; ///< `default` or `r40-f255`.
  RatioInterval Ratio; ///< Of the confirmation; meaningful where Pairs > 0.
  unsigned Pairs = 0;
  std::string Reason; ///< Why it stayed.
  InRunReport InRun;
  std::vector<std::string> Shapes;
  std::vector<VariantReport> Variants; ///< That were timed.
  std::vector<VariantReport> Carved;
  std::vector<std::string> Dropped; ///< What could not be had or is forbidden, with its reason.
  unsigned Compiled = 0;            ///< Settings that were compiled, the default not counted.
};

/// A unit whose image was timed at other register-usage levels, its kernels as they were chosen.
struct UnitReport {
  std::string Output, Source;
  std::string Variant = "default"; ///< Or `l10`.
  RatioInterval Ratio; ///< Of its tuned kernels together, over the level of the command.
  unsigned Pairs = 0;
  std::string Reason;                  ///< Why the level stays.
  std::vector<VariantReport> Variants; ///< That were timed; names and ratios alone.
  std::vector<std::string> Dropped;
};

struct TuningReport {
  std::string Date; ///< ISO 8601, UTC.
  std::string Workload, Device, Driver, NvccVersion, Scope, Domain;
  unsigned Runs = 0;
  unsigned RunsBeforeConfirmation = 0;
  std::vector<std::string> Reruns; ///< Why a timing run was made again.
  double TimingWallS = 0;          ///< Of the timing runs; 0 where there was none.
  unsigned VariantsCompiled = 0;
  /// Runs of variants in it whose output was compared, each of one launch.
  unsigned VariantsCompared = 0;
  double WallS = 0;      ///< Of the whole tuning.
  double PlainWallS = 0; ///< Of one run of the program, traced.
  unsigned VariantsTimed = 0;
  RatioInterval Program, ProgramWall;
  unsigned Pairs = 0;
  size_t UnstableLines = 0;
  bool Unordered = false;          ///< Lines of the output were compared without their places.
  unsigned Processes = 1;          ///< Of the program that used CUDA.
  unsigned Gpus = 1;               ///< That they used.
  std::vector<GpuUser> OtherUsers; ///< Of the same GPUs, seen while timing.
  std::string Note;                ///< Why nothing was tuned at all; else empty.
  std::vector<KernelReport> Kernels;
  std::vector<UnitReport> Units; ///< Empty below the largest effort.

  size_t tunedKernels() const;
};

/// `grid 512x204x1 block 32x1x1 dynamic-smem 0`, as evidence and report write it.
std::string shapeText(const KernelLaunches &Launches);

/// Of \p R in the launch shape of \p K that takes most time: resident warps over the most that an
/// SM of \p Job's device holds, 0 to 1.
double heaviestOccupancy(const TuningJob &Job, const JobKernel &K, const KernelResources &R);

/// The report of a job and what was selected, in a timing run (\p InRun; null: there was none) and
/// by whole runs. Runs of the trace and the timing, times and date are left to the caller.
TuningReport describeTuning(const TuningJob &Job, TuningScope Scope,
                            const SelectionOutcome &Outcome, const InRunTuning *InRun = nullptr);

/// The decisions of \p Outcome for module \p Module of the job, winners and kernels that stay
/// alike, so that neither is timed again.
Profile decisionsFor(const TuningJob &Job, size_t Module, TuningScope Scope,
                     const SelectionOutcome &Outcome, const TuningReport &Report);

} // namespace carve
