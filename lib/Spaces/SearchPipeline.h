/// \file
/// A search through the space of a program (`carve search`): enumerate, compile, carve by static
/// metrics, time what is left, build the winner by the user's own command, remember it.
#pragma once

#include "Nvcc/CommandLine.h"
#include "Nvcc/Toolchain.h"
#include "Spaces/ProgramLaunch.h"
#include "Spaces/ProgramTiming.h"
#include "Spaces/TripExpression.h"
#include "Store/UnitStore.h"
#include "Workload/TimedGpus.h"
#include "Workload/Workload.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace carve {

struct SearchRequest {
  std::vector<std::string> Command; ///< As typed, the compiler first.
  NvccEnvironment Nvcc;
  ProgramSpace Space;
  std::optional<MacroExpression> Where;
  LaunchExpressions Launch;
  std::vector<TripExpression> Trips; ///< Of loops whose trip count is not in the code.
  std::string KernelPattern;         ///< Kernels whose demangled name matches count; empty: all.
  std::string Arch;                  ///< `sm_90`; empty: the GPU's, else the command's last.
  SpaceCarving Carving;
  bool Exhaustive = false; ///< Time every valid configuration.
  unsigned Jobs = 0;       ///< Compiles at once; 0: as many as there are processors.
  /// Arguments of the program; `{}` among them stands for the program itself.
  std::vector<std::string> RunWords;
  WorkloadSpec Workload; ///< Without Argv.
  std::string Metric;    ///< Regular expression whose first group is the cost; empty: GPU time.
  bool LargerIsBetter = false;
  TimingLimits Limits;
  std::string SamplesPath; ///< Recorded times in the GPU's place; empty: run the programs.
  std::string RecordPath;  ///< Where to record times; empty: nowhere.
  std::string NoGpu;       ///< Why nothing can be run here; empty: it can.
  ProbeSetup Probe;
  GpuPlaces Gpus;
  std::string DevicesDir;
  std::string ToolsDir; ///< Where the compiler is sought when PATH has none of its name.
  /// Told what is done, and how much of it.
  std::function<void(llvm::StringRef What, unsigned Done, unsigned Of)> Progress =
      [](llvm::StringRef, unsigned, unsigned) {};
  TimedGpus::WaitingFunction Waiting = [](llvm::StringRef) {};
};

/// Searches. That nothing could be timed is in the record (NotTimed); then no output is made.
/// Fails where the request cannot be carried out: a command that is no compile, a space without a
/// configuration that compiles, a first configuration that fails, interrupted.
llvm::Expected<SearchRecord> searchSpace(const SearchRequest &Request, UnitStore &Store,
                                         const Toolchain &T, CommandRunner &Runner);

} // namespace carve
