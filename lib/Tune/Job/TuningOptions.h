/// \file
/// What a tuning tries: by the kernel or by the file, which points, how much of the other knobs,
/// and which launches stay possible.
#pragma once

#include "Device/CriticalPoints.h"
#include "Search/KernelSearch.h"

#include <string>

namespace carve {

/// What takes variants of its own.
enum class TuningScope {
  Kernel, ///< Every kernel a setting of its own, written into its PTX.
  File,   ///< One cap for all kernels of a file, by `nvcc -maxrregcount`: the paper's method.
};

/// Which variants are tried.
enum class PointSet {
  Critical,   ///< What KernelSearch proposes, from the critical points of the traced shapes.
  EveryEight, ///< Every multiple of 8 of the region: what the critical points are judged against.
  All, ///< The same with every other knob that a module can hold: what a search is judged by.
};

/// The largest SearchLimits::Effort.
inline constexpr unsigned MaxEffort = 3;

/// The limits of a search with \p Effort: at most 12 variants of a kernel are timed, with the
/// largest effort twice as many.
SearchLimits searchLimits(unsigned Effort);

struct TuningOptions {
  TuningScope Scope = TuningScope::Kernel;
  LaunchDomain Domain = LaunchDomain::Preserve;
  PointSet Points = PointSet::Critical; ///< With any other everything is timed, and no search made.
  SearchLimits Search;                  ///< Of each kernel.
  double LeastShare = 0.01;             ///< Of GPU time, below which a kernel is left alone.
  std::string DevicesDir;
};

} // namespace carve
