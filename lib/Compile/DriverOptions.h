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
};

/// Splits \p Argv (argv[0] excluded) into our settings and what is nvcc's. Fails with a UsageError
/// for a `--carve-*` that is none of ours or has a bad value.
llvm::Expected<DriverOptions> takeDriverOptions(llvm::ArrayRef<std::string> Argv, GetEnv Env,
                                                std::vector<std::string> &ForNvcc);

/// The effort where no option says one: `CARVE_EFFORT`, else 2. Fails with a UsageError where that
/// is no whole number from 0 to 3.
llvm::Expected<unsigned> defaultEffort(GetEnv Env);

/// What `--carve-help` prints.
llvm::StringRef driverHelp();

/// `$CARVE_STORE`, else `$XDG_CACHE_HOME/carve-nvcc`, else `~/.cache/carve-nvcc`; nothing where
/// there is no home.
std::optional<std::string> storeRoot(GetEnv Env);

/// Bytes that the store may take: `CARVE_STORE_SIZE` in megabytes, else 5 GB.
uint64_t storeLimit(GetEnv Env);

/// Where our own files are, relative to the running program, so that the tree can be moved.
struct InstallTree {
  std::string Probe;      ///< lib/libcarve_probe.so
  std::string DevicesDir; ///< share/carve-nvcc/devices
  std::string Launch;     ///< bin/carve-launch
};
InstallTree findInstallTree(llvm::StringRef OwnPath);

/// Whether a GPU can be used: a device node is there, and CUDA_VISIBLE_DEVICES does not hide all.
bool gpuPresent(GetEnv Env);

} // namespace carve
