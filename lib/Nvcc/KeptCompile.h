/// \file
/// One run of nvcc that keeps its intermediate files, with the plan that says which they are.
#pragma once

#include "Nvcc/BuildPlan.h"
#include "Nvcc/Toolchain.h"

#include <string>
#include <vector>

namespace carve {

struct KeptCompile {
  CommandResult Nvcc; ///< How nvcc ended. Where it failed the plan is empty.
  BuildPlan Plan;
  /// Why there is no plan although nvcc succeeded.
  std::optional<std::string> NoPlan;

  /// The signal by which a command ends after this; 0 where it ends with nvcc's status. Asked to
  /// terminate, nvcc exits with a status of its own; where it went on to its end, we stop.
  int endingSignal() const {
    return Nvcc.Interrupted && Nvcc.ExitStatus == 0 ? Nvcc.Interrupted : Nvcc.Signal;
  }
};

/// Runs nvcc with \p Arguments in \p Dir (empty: the caller's) and `--keep --keep-dir KeepDir`,
/// and beside it, on another processor, `--dryrun` of the same. \p Quiet captures the streams,
/// which are the caller's otherwise. Fails only where nvcc cannot be started.
llvm::Expected<KeptCompile> compileKeeping(const Toolchain &T, CommandRunner &Runner,
                                           llvm::ArrayRef<std::string> Arguments,
                                           llvm::StringRef Dir, llvm::StringRef KeepDir,
                                           bool Quiet);

/// How many seconds a command of \p Words waits for its keep directory where the same command holds
/// it, before it takes another: longer with debug information, which holds the directory's path.
double keepDirPatience(llvm::ArrayRef<std::string> Words);

} // namespace carve
