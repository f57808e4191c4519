/// \file
/// Our own settings: `--carve-*` and `CARVE_*`, taken out of the user's command before nvcc's part
/// is looked at.
#pragma once

#include "Nvcc/Toolchain.h"
#include "Tune/InRun/ModeChoice.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

enum class RunMode {
  Auto, ///< An executable made in one step is run where a GPU is present.
  None,
  Command, ///< The workload was given.
};

struct DriverOptions {
  RunMode Run = RunMode::Auto;
  std::vector<std::string> RunCommand;
  std::vector<std::string> OutputFiles; ///< Files of the workload to compare.
  double TimeoutS = 60;
  unsigned MaxRuns = 400;
  double BudgetS = 0; ///< For a tuning; 0: none.
  ModeRequest Mode = ModeRequest::Auto;
  TuningScope Scope = TuningScope::Kernel;
  unsigned Effort = 2; ///< As SearchLimits::Effort.
  LaunchDomain Domain = LaunchDomain::Preserve;
  std::string ProfilePath, LogPath;
  bool ProfileByOption = false; ///< Else by CARVE_PROFILE.
  std::string Samples;          ///< Recorded samples in the GPU's place.
  bool Quiet = false;           ///< Nothing of our own on a terminal but errors.
  bool Help = false, Version = false, CacheKey = false;
  bool HelpWords = false; ///< `--carve-help=words`: the help for the scripts in share/completion.
};

/// Splits \p Argv (argv[0] excluded) into our settings and what is nvcc's. Fails with a UsageError
/// for a `--carve-*` that is none of ours or has a bad value.
llvm::Expected<DriverOptions> takeDriverOptions(llvm::ArrayRef<std::string> Argv, GetEnv Env,
                                                std::vector<std::string> &ForNvcc);

/// What `--carve-help` prints, or \p ForCompletion `--carve-help=words`.
std::string driverHelp(bool ForCompletion);

} // namespace carve
