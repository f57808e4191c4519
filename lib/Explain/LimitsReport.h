/// \file
/// What limits a program's kernels, as `carve explain -- COMMAND` shows it: the judgement, what it
/// rests on, what follows, what carve tried and what is left to the author. Made by
/// Explain/LimitsPipeline.
#pragma once

#include "Explain/LimitFindings.h"
#include "Tune/Outcome/TuningReport.h"

#include <string>
#include <vector>

namespace carve {

/// One kernel.
struct KernelLimits {
  KernelEvidence Evidence;
  KernelLimit Limit;
  std::vector<Finding> Findings;
};

struct LimitsReport {
  std::string Workload;
  DeviceBalance Balance;
  ProgramFacts Program;
  /// Why there are no counters, or no modified times; empty where there are, or none were wanted.
  std::string CountersRefused, ModifiedRefused;
  bool CountersOff = false, ModifiedOff = false;
  std::string TunedOn;               ///< Date of the report that says what was tried; empty: none.
  std::vector<std::string> Notes;    ///< What was odd about the runs.
  unsigned Runs = 0;                 ///< Of the program.
  std::vector<KernelLimits> Kernels; ///< By falling share.
};

/// What carve tried of \p K, for KernelEvidence::Tried.
TriedVariants triedVariants(const KernelReport &K);

/// What a tuning's report alone tells of a kernel: concurrency levels, spills, the best variant.
std::vector<Finding> reportFindings(const KernelReport &K);

/// `limited by DRAM bandwidth: 91 % of its peak (counters)`
std::string headline(const KernelLimit &L);

/// The report for a terminal.
std::string printLimitsText(const LimitsReport &R);

} // namespace carve
