/// \file
/// Runs the stages of `carve export` without its output: finds the tuned kernels of a project,
/// expresses their decisions as attributes in a patch or as options for files, and compares the
/// code of plain nvcc with the tuned code.
#pragma once

#include "Export/ExportRecord.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

namespace carve {

/// What the user asked for on the command line.
struct ExportOptions {
  ExportForm As = ExportForm::Patch;
  /// Root of the project, absolute. Units with a source below it belong to the project.
  std::string Root;
  /// Decisions that replace the store's; null if the store's are used.
  const Profile *User = nullptr;
  const TuningReport *Report = nullptr; ///< A report with times of variants; null if none is known.
  std::vector<std::string> Kernels;     ///< Names of kernels: mangled, as in a profile, or without
                                        ///< scope and arguments. Empty for all.
  std::string Arch;                     ///< As `sm_90`; empty for all.
  /// Largest block in threads, for kernels without a known launch; 0 if not given.
  unsigned MaxThreads = 0;
  bool Verify = true;
};

/// Finds the tuned kernels of the project's units and expresses each as \p Options ask. Writes only
/// temporary files. If \p T is null, nothing is verified, and \p WhyNoTools says why. Fails if the
/// store has no unit of the project, or if no unit has any of the named kernels.
llvm::Expected<ExportOutcome> exportDecisions(const ExportOptions &Options, UnitStore &Store,
                                              const Toolchain *T, llvm::StringRef WhyNoTools,
                                              CommandRunner &Runner, llvm::StringRef DevicesDir);

} // namespace carve
