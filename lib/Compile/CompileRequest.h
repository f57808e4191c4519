/// \file
/// The input of a compile: the command, our own settings, and what the compile needs to know about
/// the process in which it runs.
#pragma once

#include "Command/Installation.h"
#include "Compile/CommandStore.h"
#include "Compile/DriverOptions.h"
#include "Nvcc/CommandLine.h"
#include "Support/ProgressDisplay.h"
#include "Workload/TimedGpus.h"

#include <string>

namespace carve {

struct CompileRequest {
  CommandLine Line;
  DriverOptions Options;
  std::string WorkDir;
  /// Identifies what is compiled, in 16 digits; the same command has the same tag.
  std::string Tag;
  std::string CommandDigest; ///< commandDigest() of Line.
  bool BehindCache = false;  ///< The result of cacheWouldNotNotice().
  InstallTree Install;
  bool GpuPresent = false;
  /// This process is one of several ranks (LaunchedRank.h), but not rank 0, which tunes for all.
  std::string OtherRank;
  bool ConfigureProbe = false;
  bool ListDecisions = true; ///< True if the store outlives the compile.
  uint64_t StoreLimitBytes = 0;
  GpuPlaces Gpus;
  std::vector<std::string> WorkloadEnvironment;  ///< The result of workloadEnvironment().
  ProgressDisplay *Progress = &silentProgress(); ///< Shows a tuning; never null.
};

/// Makes a request from the state of the process: TMPDIR, GPU, installed files, a compiler cache in
/// front, and whether the command is a probe of a configure step. \p Environment holds all its
/// variables as `NAME=value`.
CompileRequest makeCompileRequest(CommandLine Line, DriverOptions Options, llvm::StringRef OwnPath,
                                  std::string WorkDir, const CommandStore &Store,
                                  const Toolchain &T, GetEnv Env,
                                  llvm::ArrayRef<std::string> Environment);

} // namespace carve
