/// \file
/// Finds out how the kernels of a configuration are launched, from the user's expressions over the
/// macros, from directives, and from a traced run. SearchCompile uses it for the metrics.
#pragma once

#include "Protocol/LaunchShape.h"
#include "Ptx/PtxModule.h"
#include "Spaces/MacroExpression.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// The user's expressions; each is empty if the user did not give it.
struct LaunchExpressions {
  std::vector<MacroExpression> Block, Grid; ///< Up to three extents each.
  std::vector<MacroExpression> DynamicSmem; ///< At most one: bytes.
  std::vector<MacroExpression> Launches;    ///< At most one: launches of the kernel in one run.
};

/// How an extent of a launch is known.
enum class LaunchSource {
  Unknown,
  Trace,         ///< From a run of another configuration.
  Configuration, ///< From an expression over the macros, or from a directive of the kernel.
};

/// A launch, as far as it is known.
struct ProgramLaunch {
  LaunchShape Shape;
  double Launches = 1; ///< Launches of the kernel in one run.
  LaunchSource Block = LaunchSource::Unknown, Grid = LaunchSource::Unknown;

  /// Returns the threads of all launches, or 1 if the grid is not known. In the latter case,
  /// efficiencies compare configurations as if all ran the same number of threads.
  double threads() const;
};

/// The launches of a traced run, by kernel: for each kernel the shape that took most of its time.
using TracedLaunches = std::map<std::string, ProgramLaunch>;

/// Returns the launch of \p Entry for \p Values. What the expressions do not say comes from the
/// block directives of the entry, then from \p Traced (its own launch, or that of the only kernel),
/// and else the block has 256 threads. Fails if an extent is not possible in CUDA, and names it.
llvm::Expected<ProgramLaunch> programLaunch(const LaunchExpressions &Said,
                                            llvm::ArrayRef<MacroValue> Values,
                                            const PtxEntry &Entry, const TracedLaunches &Traced);

} // namespace carve
