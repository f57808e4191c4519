/// \file
/// Registers the options that `carve tune` and carve-nvcc have in common. Only their prefixes
/// differ, as in `--budget` and `--carve-budget`.
#pragma once

#include "Support/Flags.h"
#include "Tune/InRun/ModeChoice.h"
#include "Tune/Job/TuningOptions.h"
#include "Workload/ChosenGpus.h"

namespace carve {

/// The variables that receive the values. Before parsing, they hold the defaults.
struct TuningValues {
  double &TimeoutS;
  unsigned &MaxRuns;
  double &BudgetS;
  ModeRequest &Mode;
  unsigned *Effort;   ///< Null for a command that does not search.
  TuningScope *Scope; ///< Likewise.
  LaunchDomain &Domain;
  FurtherEntries &Entries;
  std::vector<std::string> &OutputFiles;
  std::string &SamplesPath;
  GpuRequest *Gpus = nullptr; ///< Null for a command that always uses one GPU.
};

/// Registers the options in \p F. \p Prefix, such as `--carve-`, comes before each name.
void registerTuning(Flags &F, llvm::StringRef Prefix, const TuningValues &Values);

} // namespace carve
