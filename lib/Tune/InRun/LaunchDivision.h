/// \file
/// Divides the launches of one shape into classes by their arguments, where these make them take
/// different times: a product with a matrix of 4096 columns and one of 14336 may have one grid.
/// Each class is then a shape of its own for everything in this room, and for the probe.
#pragma once

#include "Protocol/PlanRecords.h"
#include "Tune/Job/TuningJob.h"

#include <vector>

namespace carve {

/// The launches of a kernel, divided.
struct LaunchDivision {
  /// The kernel as it was traced, but with one element of Shapes for each class of a divided shape,
  /// in its place.
  TracedKernel Kernel;
  /// What leads to the classes: for each divided shape all of them.
  std::vector<PlannedClass> Classes;
};

/// Divides the launches of \p Kernel. It depends on the trace alone, so it is the same wherever it
/// is asked for. In each shape:
/// - Launches whose mean times differ by less than 5 % are together, whatever their arguments are.
/// - A class has 10 % of the shape's time or more. There are at most three, those with most time.
/// - All other launches are one more class: those of arguments that only one launch of a process
///   had, such as the number of a time step, are among them.
/// A shape remains undivided if all these have the same mean time, within 5 %.
LaunchDivision divideLaunches(const TracedKernel &Kernel);

} // namespace carve
