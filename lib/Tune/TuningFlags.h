/// \file
/// The options that `carve tune` and carve-nvcc have in common. They differ in the prefix alone:
/// `--budget` and `--carve-budget`.
#pragma once

#include "Support/Flags.h"
#include "Tune/InRun/ModeChoice.h"
#include "Tune/Job/TuningOptions.h"

namespace carve {

/// Where the values go. What is there before is the default.
struct TuningValues {
  double &TimeoutS;
  unsigned &MaxRuns;
  double &BudgetS;
  ModeRequest &Mode;
  unsigned &Effort;
  TuningScope &Scope;
  LaunchDomain &Domain;
  std::vector<std::string> &OutputFiles;
  std::string &SamplesPath;
};

/// Registers the options at \p F, their names with \p Prefix before them.
void registerTuning(Flags &F, llvm::StringRef Prefix, const TuningValues &Values);

} // namespace carve
