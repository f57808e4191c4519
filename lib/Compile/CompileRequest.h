/// \file
/// What a compile is asked for, and what it needs to know of the process that it runs in.
#pragma once

#include "Command/Installation.h"
#include "Compile/CommandStore.h"
#include "Compile/DriverOptions.h"
#include "Nvcc/CommandLine.h"
#include "Workload/TimedGpus.h"

#include <functional>
#include <string>

namespace carve {

struct CompileRequest {
  CommandLine Line;
  DriverOptions Options;
  std::string WorkDir;
  std::string Tag;           ///< What is compiled, in 16 digits: the same for the same command.
  std::string CommandDigest; ///< commandDigest() of Line.
  bool BehindCache = false;  ///< See cacheWouldNotNotice().
  InstallTree Install;
  bool GpuPresent = false;
  bool ConfigureProbe = false;
  bool ListDecisions = true; ///< Where the store outlives the compile.
  uint64_t StoreLimitBytes = 0;
  GpuPlaces Gpus;
  std::function<void(unsigned, unsigned, double)> Progress = [](unsigned, unsigned, double) {};
  std::function<void(llvm::StringRef, size_t, size_t)> Step = [](llvm::StringRef, size_t, size_t) {
  };
  TimedGpus::WaitingFunction Waiting = [](llvm::StringRef) {};
};

/// The request as the process finds it, with \p Environment, all its variables as `NAME=value`:
/// TMPDIR, GPU, installed files, a compiler cache in front, whether it is a probe of a configure
/// step.
CompileRequest makeCompileRequest(CommandLine Line, DriverOptions Options, llvm::StringRef OwnPath,
                                  std::string WorkDir, const CommandStore &Store,
                                  const Toolchain &T, GetEnv Env,
                                  llvm::ArrayRef<std::string> Environment);

} // namespace carve
