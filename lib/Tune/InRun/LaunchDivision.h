/// \file
/// Divides the launches of one shape into classes where they take different times: by their
/// arguments, as a product with a matrix of 4096 columns and one of 14336 may have one grid, or by
/// their order, as an elimination has less to do from launch to launch. Each class is then a shape
/// of its own for everything in this room, and for the probe.
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
  /// The same for shapes that are divided by the order of their launches. Each of these classes has
  /// an element of Kernel.Typical: the launch of it that is replayed.
  std::vector<PlannedSegment> Segments;
};

/// Divides the launches of \p Kernel by their arguments. It depends on the trace alone, so it is
/// the same wherever it is asked for. In each shape:
/// - Launches whose mean times differ by less than 5 % are together, whatever their arguments are.
/// - A class has 10 % of the shape's time or more. There are at most three, those with most time.
/// - All other launches are one more class: those of arguments that only one launch of a process
///   had, such as the number of a time step, are among them.
/// A shape remains undivided if all these have the same mean time, within 5 %.
LaunchDivision divideLaunches(const TracedKernel &Kernel);

/// A shape whose launches take between these times on average may have segments. A shorter one is
/// rotated, and its times scatter by themselves; a longer one takes too long to be replayed so
/// often.
inline constexpr double LeastSegmentedNs = 30e3, MostSegmentedNs = 500e3;
/// The most shapes, classes and segments of a kernel with segments.
inline constexpr size_t MostWithSegments = 8;

/// The same, but shapes that have no classes by arguments are divided into the segments of the
/// trace, if they have some and one process launches them. No shape is if there would be more than
/// MostWithSegments. It is for replays alone, and for all that is compared between timing runs of
/// which some have replayed segments and others not.
LaunchDivision divideBySegments(const TracedKernel &Kernel);

} // namespace carve
