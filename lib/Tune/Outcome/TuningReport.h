/// \file
/// Records what one tuning found. The table, the JSON output and the stored report are printed from
/// it, after the decisions are made.
#pragma once

#include "Support/StayReason.h"
#include "Tune/Outcome/DecidedKernel.h"
#include "Workload/ChosenGpus.h"
#include "Workload/GpuUsers.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// One variant that was timed, or compiled and carved away.
struct VariantReport {
  std::string Name;        ///< Its name, such as `r40-f255`.
  unsigned Regs = 0;       ///< Registers per thread that the code uses.
  unsigned SpillBytes = 0; ///< Spill stores and loads of the entry, in bytes.
  double Occupancy = 0;    ///< Occupancy in the heaviest shape, 0 to 1.
  /// Median time over the default's in the screening, inside the program or by whole runs; 0 if it
  /// was not timed.
  double Ratio = 0;
  std::string Fault; ///< Why it was rejected; empty if it was not.
  /// Static metrics (Metrics/Counts/Metrics.h); 0 if they are not known.
  double Efficiency = 0, Utilization = 0;
  std::string Carved; ///< Why it is not timed; empty if it is.
  /// Bytes of local memory that a thread loads and stores, with loops counted; 0 if not known.
  double LocalBytes = 0;
  /// The ends of the ratio's 95 % interval; both are 0 if it was not timed.
  double RatioLow = 0, RatioHigh = 0;

  /// Sets Ratio, RatioLow and RatioHigh from \p R.
  void setRatio(const RatioInterval &R);
};

/// The most registers with which a number of blocks is resident, in a kernel's heaviest shape.
struct ConcurrencyLevel {
  unsigned MaxRegs = 0;
  unsigned BlocksPerSm = 0;
  double Occupancy = 0; ///< Occupancy with these blocks, 0 to 1.
};

/// What is reported about one kernel.
struct KernelReport {
  std::string Kernel, Mangled;
  std::string Output; ///< The unit's output: an object or executable.
  std::string Source; ///< The unit's source, relative to its project's root; empty if not known.
  double Share = 0;   ///< Share of GPU time, 0 to 1.
  uint64_t Launches = 0;
  double MeanNs = 0; ///< Mean GPU time of a launch in the traced run.
  /// The register region, and its concurrency levels by falling registers; empty if not known.
  unsigned LeastRegs = 0, MostRegs = 0;
  std::vector<ConcurrencyLevel> Levels;
  /// The default's static metrics; 0 if they are not known.
  double EfficiencyBefore = 0, UtilizationBefore = 0, LocalBytesBefore = 0;
  unsigned RegsBefore = 0, RegsAfter = 0;
  double OccupancyBefore = 0, OccupancyAfter = 0;
  /// Spill stores and loads of the entry, in bytes. They are 0 with TuningScope::File, because
  /// cubins do not tell them.
  unsigned SpillBefore = 0, SpillAfter = 0;
  bool Tuned = false;
  std::string Variant; ///< The chosen variant: `default`, or for example `r40-f255`.
  /// If it becomes further entries, these, and in how much of the traced run their guards held.
  std::vector<EntryHold> Entries;
  /// The further entries that were in force before this tuning, in the same run.
  std::vector<EntryHold> Earlier;
  RatioInterval Ratio; ///< Its time over the default's in the confirmation; valid if Pairs > 0.
  unsigned Pairs = 0;  ///< Pairs of runs in the confirmation.
  StayReason Reason;   ///< Why the default stays.
  InRunFinding InRun;
  std::vector<std::string> Shapes;
  std::vector<VariantReport> Variants; ///< Variants that were timed.
  std::vector<VariantReport> Carved;   ///< Variants that were carved away.
  std::vector<std::string> Dropped;    ///< Settings that failed or are forbidden, with the reason.
  unsigned Compiled = 0;               ///< Settings that were compiled, without the default.
  SearchEnd End;                       ///< What the search left.
};

/// What is reported about a whole tuning.
struct TuningReport {
  std::string Date; ///< ISO 8601, UTC.
  std::string Workload, Device, Driver, NvccVersion, Scope, Domain;
  unsigned Runs = 0;
  unsigned RunsBeforeConfirmation = 0;
  std::vector<std::string> Reruns; ///< Why timing runs were made again.
  double TimingWallS = 0;          ///< Wall time of the timing runs; 0 if there were none.
  unsigned VariantsCompiled = 0;
  /// Runs of variants in the timing runs, each of one launch, whose output was compared.
  unsigned VariantsCompared = 0;
  double WallS = 0;      ///< Wall time of the whole tuning.
  double PlainWallS = 0; ///< Wall time of one traced run of the program.
  unsigned VariantsTimed = 0;
  RatioInterval Program, ProgramWall;
  /// The ratio of the times from the first kernel's start to the last one's end; 0 if not known.
  RatioInterval ProgramSpan = {0, 0, 0};
  unsigned Pairs = 0;     ///< Pairs of runs that these ratios are computed from.
  unsigned PairsMade = 0; ///< Pairs of runs in all confirmations.
  /// Why the last confirmation made no more pairs: see nameOf(ConfirmationEnd). Empty if there was
  /// no confirmation.
  std::string Ended;
  size_t UnstableLines = 0;
  bool Unordered = false; ///< Whether output lines were compared without their order.
  unsigned Processes = 1; ///< Processes of the program that used CUDA.
  unsigned Gpus = 1;      ///< GPUs that these processes used.
  double GraphShare = 0;  ///< Share of the traced GPU time in kernels that graphs launched.
  std::vector<GpuUser> OtherUsers;  ///< Other users of the same GPUs, seen while timing.
  std::vector<std::string> TimedOn; ///< The GPUs of `--gpus` that took part; the first confirmed.
  std::vector<LeftGpu> LeftGpus;    ///< GPUs of `--gpus` that took no part.
  std::string GpuNote; ///< Why several GPUs of `--gpus` were not used at once; empty if they were.
  std::string Note;    ///< Why nothing was tuned at all; empty if something was.
  std::vector<KernelReport> Kernels;

  /// The number of kernels that get another variant than nvcc's.
  size_t tunedKernels() const;
  /// Sets date, workload, device, driver and domain from \p When.
  void take(const Circumstances &When);
};

/// The report of \p Job and what was built from it. \p Decided has one element per module of the
/// job. \p InRun has the timing runs; it is null if there were none. The caller adds the runs of
/// the trace and the timing, and their times.
TuningReport describeTuning(const TuningJob &Job, const JobBuild &Built, TuningScope Scope,
                            const SelectionOutcome &Outcome, const InRunTuning *InRun,
                            const std::vector<DecidedUnit> &Decided, const Circumstances &When);

} // namespace carve
