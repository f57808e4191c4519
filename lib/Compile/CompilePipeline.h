/// \file
/// The compile: nvcc once, units recorded, known or freshly found decisions emitted.
#pragma once

#include "Compile/CommandStore.h"
#include "Compile/DriverOptions.h"
#include "Nvcc/CommandLine.h"
#include "Store/UnitStore.h"
#include "Tune/Outcome/TuningReport.h"
#include "Workload/TimedGpus.h"

#include <functional>
#include <optional>
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

struct CompileResult {
  int ExitStatus = 0;                ///< nvcc's.
  int Signal = 0;                    ///< That ended nvcc, or that we were sent: to be raised again.
  std::optional<TuningReport> Tuned; ///< Where the program was tuned just now.
  std::string Warning;               ///< For standard error; empty: none.
};

/// Compiles. Fails with Unsupported before nvcc was started (the command is then to be handed to
/// nvcc as it is), and with other errors only where nvcc cannot be started. Whatever fails after
/// nvcc succeeded leaves nvcc's output, is logged and counted in \p Store.
llvm::Expected<CompileResult> compile(const CompileRequest &Request, UnitStore &Store,
                                      const Toolchain &T, CommandRunner &Runner);

} // namespace carve
