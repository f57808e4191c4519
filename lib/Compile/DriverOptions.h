/// \file
/// Our own settings, `--carve-*` and `CARVE_*`. They are removed from the user's command before
/// nvcc's part is read.
#pragma once

#include "Emit/UnitEmitter.h"
#include "Nvcc/Toolchain.h"
#include "Tune/InRun/ModeChoice.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// Says whether and with which workload a compile tunes.
enum class RunMode {
  Auto, ///< An executable made in one step is run if a GPU is present.
  None,
  Command, ///< The user gave the workload.
};

/// The values of our settings, with their defaults.
struct DriverOptions {
  RunMode Run = RunMode::Auto;
  std::vector<std::string> RunCommand;
  std::vector<std::string> OutputFiles; ///< The files of the workload to compare.
  double TimeoutS = 60;
  unsigned MaxRuns = 400;
  double BudgetS = 0; ///< The limit for a tuning; 0 means none.
  ModeRequest Mode = ModeRequest::Auto;
  TuningScope Scope = TuningScope::Kernel;
  unsigned Effort = 2; ///< The value of TuningOptions::Effort.
  LaunchDomain Domain = LaunchDomain::Preserve;
  FurtherEntries Entries = FurtherEntries::Values;
  std::string ProfilePath, LogPath;
  bool ProfileByOption = false; ///< True for `--carve-profile`, false for CARVE_PROFILE.
  std::string Samples;          ///< A file of recorded samples that replace the GPU.
  bool Quiet = false;           ///< On a terminal we print only errors.
  bool Help = false, Version = false, CacheKey = false;
  bool HelpWords = false; ///< `--carve-help=words`, for the scripts in share/completion.
};

/// Splits \p Argv (without argv[0]) into our settings and the words for nvcc. Fails with UsageError
/// for an unknown `--carve-*` option or a bad value.
llvm::Expected<DriverOptions> takeDriverOptions(llvm::ArrayRef<std::string> Argv, GetEnv Env,
                                                std::vector<std::string> &ForNvcc);

/// Returns the text that `--carve-help` prints, or if \p ForCompletion that of
/// `--carve-help=words`.
std::string driverHelp(bool ForCompletion);

} // namespace carve
