/// \file
/// The report of `carve explain -- COMMAND`: the limiter of each kernel, the evidence, the
/// findings, what carve tried and what is left to the author. Explain/LimitsPipeline fills it.
#pragma once

#include "Explain/LimitFindings.h"
#include "Tune/Outcome/TuningReport.h"

#include <string>
#include <vector>

namespace carve {

/// The judgement on one kernel, with its evidence.
struct KernelLimits {
  KernelEvidence Evidence;
  KernelLimit Limit;
  std::vector<Finding> Findings;
};

/// The judgements on all kernels of one program.
struct LimitsReport {
  std::string Workload;
  DeviceBalance Balance;
  ProgramFacts Program;
  /// Why there are no counters, or no modified times. Empty if there are some, or if the user
  /// wanted none.
  std::string CountersRefused, ModifiedRefused;
  bool CountersOff = false, ModifiedOff = false;
  /// The date of the report that says what was tried; empty if there is none.
  std::string TunedOn;
  std::vector<std::string> Notes;    ///< What was unusual about the runs.
  unsigned Runs = 0;                 ///< The number of runs of the program.
  std::vector<KernelLimits> Kernels; ///< By falling share of GPU time.
};

/// Returns what carve tried for \p K, for KernelEvidence::Tried.
TriedVariants triedVariants(const KernelReport &K);

/// Returns the findings that a tuning's report alone allows: concurrency levels, spills, the best
/// variant.
std::vector<Finding> reportFindings(const KernelReport &K);

/// Returns the report as text for a terminal. Findings are wrapped at 100 columns.
std::string headline(const KernelLimit &L);

/// Returns the report as text for a terminal, at most 100 columns wide.
std::string printLimitsText(const LimitsReport &R);

} // namespace carve
