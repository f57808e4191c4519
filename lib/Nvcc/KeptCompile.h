/// \file
/// Runs nvcc so that it keeps its intermediate files, and reads the plan that says which files they
/// are. Every compile and link that carve handles starts like this.
#pragma once

#include "Nvcc/BuildPlan.h"
#include "Nvcc/Toolchain.h"

#include <string>
#include <vector>

namespace carve {

struct KeptCompile {
  CommandResult Nvcc; ///< The result of nvcc. If it failed, the plan is empty.
  BuildPlan Plan;
  /// The reason if there is no plan although nvcc succeeded.
  std::optional<std::string> NoPlan;

  /// Returns the signal by which the command must end after this run; 0 if it ends with nvcc's
  /// status. nvcc exits with a status of its own when it is asked to terminate; if it finished
  /// anyway, we stop.
  int endingSignal() const {
    return Nvcc.Interrupted && Nvcc.ExitStatus == 0 ? Nvcc.Interrupted : Nvcc.Signal;
  }
};

/// Runs nvcc with \p Arguments and `--keep --keep-dir KeepDir` in \p Dir (empty means the caller's
/// directory). At the same time it runs `--dryrun` with the same arguments on another processor. If
/// \p Quiet is set the streams are captured, otherwise they are the caller's. Fails only if nvcc
/// cannot be started.
llvm::Expected<KeptCompile> compileKeeping(const Toolchain &T, CommandRunner &Runner,
                                           llvm::ArrayRef<std::string> Arguments,
                                           llvm::StringRef Dir, llvm::StringRef KeepDir,
                                           bool Quiet);

/// Returns how many seconds a command of \p Words waits for its keep directory if the same command
/// holds it already, before it takes another directory. The time is longer with debug information,
/// which contains the directory's path.
double keepDirPatience(llvm::ArrayRef<std::string> Words);

} // namespace carve
