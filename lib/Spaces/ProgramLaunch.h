/// \file
/// How the kernels of a configuration are launched: what the user says of it as expressions over
/// the macros, and what directives or a traced run know.
#pragma once

#include "Protocol/LaunchShape.h"
#include "Ptx/PtxModule.h"
#include "Spaces/MacroExpression.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// Each empty where the user does not say it.
struct LaunchExpressions {
  std::vector<MacroExpression> Block, Grid; ///< Up to three extents.
  std::vector<MacroExpression> DynamicSmem; ///< One: bytes.
  std::vector<MacroExpression> Launches;    ///< One: launches of the kernel in a run.
};

/// Where an extent of a launch comes from.
enum class LaunchSource {
  Unknown,
  Trace,         ///< A run of another configuration.
  Configuration, ///< An expression over the macros, or a directive of the kernel.
};

/// A launch, as far as it is known.
struct ProgramLaunch {
  LaunchShape Shape;
  double Launches = 1;
  LaunchSource Block = LaunchSource::Unknown, Grid = LaunchSource::Unknown;

  /// Threads of all launches; 1 where the grid is not known, so that what is made of it compares
  /// configurations that run as many threads.
  double threads() const;
};

/// Launches of a traced run: of every kernel the shape that took most of its time.
using TracedLaunches = std::map<std::string, ProgramLaunch>;

/// The launch of \p Entry with the macros as \p Values say. What the expressions leave open comes
/// from the directives of its block, then from \p Traced (its own launch, or the only kernel's);
/// else a block of 256 threads. Fails where an extent is none that CUDA has, naming it.
llvm::Expected<ProgramLaunch> programLaunch(const LaunchExpressions &Said,
                                            llvm::ArrayRef<MacroValue> Values,
                                            const PtxEntry &Entry, const TracedLaunches &Traced);

} // namespace carve
