/// \file
/// Runs a search through the space of a program (`carve search`): lists the configurations,
/// compiles them, carves by static metrics, times what is left, builds the winner by the user's own
/// command, and keeps the results in the store.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Nvcc/Toolchain.h"
#include "Spaces/ProgramLaunch.h"
#include "Spaces/ProgramTiming.h"
#include "Spaces/TripExpression.h"
#include "Store/UnitStore.h"
#include "Support/ProgressDisplay.h"
#include "Workload/TimedGpus.h"
#include "Workload/Workload.h"

#include <optional>
#include <string>
#include <vector>

namespace carve {

/// What the user asked for.
struct SearchRequest {
  std::vector<std::string> Command; ///< As typed, beginning with the compiler.
  NvccEnvironment Nvcc;
  ProgramSpace Space;
  std::optional<MacroExpression> Where;
  LaunchExpressions Launch;
  std::vector<TripExpression> Trips; ///< Trip counts of loops that the code does not tell.
  std::string KernelPattern; ///< Only kernels whose demangled name matches count; empty for all.
  /// As `sm_90`. If empty, the GPU's, or, without a GPU, the last one of the command.
  std::string Arch;
  SpaceCarving Carving;
  bool Exhaustive = false; ///< Every valid configuration is timed.
  unsigned Jobs = 0;       ///< Compiles at once; 0 for as many as there are processors.
  /// Arguments of the program. If one of them is `{}`, it is replaced by the program, and the
  /// others are the words of a launcher.
  std::vector<std::string> RunWords;
  WorkloadSpec Workload; ///< Argv is not used.
  std::string Metric; ///< A regular expression whose first group is the cost; empty for GPU time.
  bool LargerIsBetter = false;
  TimingLimits Limits;
  std::string SamplesPath; ///< Recorded times that replace the GPU; empty to run the programs.
  std::string RecordPath;  ///< The file to which times are recorded; empty for none.
  std::string NoGpu;       ///< Why nothing can be run here; empty if it can.
  ProbeSetup Probe;
  GpuPlaces Gpus;
  std::string DevicesDir;
  /// The directory in which the compiler is looked for if PATH does not have it.
  std::string ToolsDir;
  ProgressDisplay *Progress = &silentProgress(); ///< Never null.
};

/// Runs the search. If nothing could be timed, the record says so (NotTimed), and no output is
/// made. Fails if the request cannot be carried out: if the command is not a compile, if no
/// configuration compiles, if the first configuration fails, or if the search is interrupted.
llvm::Expected<SearchRecord> searchSpace(const SearchRequest &Request, UnitStore &Store,
                                         const Toolchain &T, CommandRunner &Runner);

} // namespace carve
