/// \file
/// `carve export` without its output: the decisions of a project as attributes in a patch or as
/// options for files, held against the tuned code by plain nvcc.
#pragma once

#include "Export/ExportRecord.h"
#include "Nvcc/Toolchain.h"
#include "Store/UnitStore.h"

namespace carve {

/// The command as the user gave it.
struct ExportOptions {
  ExportForm As = ExportForm::Patch;
  std::string Root;                     ///< Of the project, absolute: units with a source below it.
  const Profile *User = nullptr;        ///< In place of the store's decisions; null: these.
  const TuningReport *Report = nullptr; ///< With times of variants; null: none is known.
  std::vector<std::string> Kernels;     ///< Names, mangled, as in a profile or bare; empty: all.
  std::string Arch;                     ///< `sm_90`; empty: all.
  unsigned MaxThreads = 0;              ///< Of a block, where no launch is known; 0: none given.
  bool Verify = true;
};

/// Finds the tuned kernels of the project's units and says each as \p Options ask. Nothing but
/// temporary files is written. \p T null: nothing is verified, and \p WhyNoTools says why. Fails
/// where the store has no unit of the project, and where a kernel that was named is in none.
llvm::Expected<ExportOutcome> exportDecisions(const ExportOptions &Options, UnitStore &Store,
                                              const Toolchain *T, llvm::StringRef WhyNoTools,
                                              CommandRunner &Runner, llvm::StringRef DevicesDir);

} // namespace carve
