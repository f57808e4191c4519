/// \file
/// Chooses the launch shapes in which a kernel is timed: those with most of its time one by one, or
/// representatives if the kernel is launched with more grids than can be timed. The classes of a
/// shape (LaunchDivision) are shapes of their own here. ModeChoice takes
/// one of both, ProbePlan names the shapes to the probe, and InRunTuning has the times of a
/// representative count for its whole group. share/doc/timing.md explains the rules.
#pragma once

#include "Protocol/TraceRecords.h"
#include "Tune/Job/TuningJob.h"
#include "Workload/InRunRecord.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace carve {

/// A launch shape that is timed, for itself or as the representative of a group of shapes.
struct TimedShape {
  LaunchShape Shape;
  uint64_t Launches = 0;  ///< Its own launches in the traced run, over all processes.
  unsigned Processes = 1; ///< Processes that launched it.
  double MeanNs = 0;      ///< Mean GPU time of one of its own launches.
  /// The other shapes of its group. They differ from it in the grid or the class only and are not
  /// timed: its ratios count for them, too. Empty if it is timed for itself.
  std::vector<LaunchShape> StandsFor = {};
  double StandsForNs = 0; ///< GPU time of all launches of these other shapes, in ns.
  /// The launches that are replayed, if these are not the first and the middle one.
  std::optional<TypicalLaunches> Typical = {};

  /// Whether it is a segment of the launches of its shape. Classes by arguments have no launch of
  /// their own that is replayed.
  bool isSegment() const { return Shape.Class > 0 && Typical; }
  bool isRepresentative() const { return !StandsFor.empty(); }
  /// Mean GPU time of the launches that are replayed, in ns.
  double replayedNs() const { return Typical ? double(Typical->MeanNs) : MeanNs; }
  /// GPU time of all its own launches, in ns.
  double totalNs() const { return double(Launches) * MeanNs; }
  /// GPU time of all launches for which its times count, in ns.
  double groupNs() const { return totalNs() + StandsForNs; }
};

/// The most shapes of a kernel that are timed.
inline constexpr size_t MostTimedShapes = 8;
/// How many representatives there may be: fewer if there is little time for replays.
inline constexpr size_t RepresentativeCounts[] = {MostTimedShapes, 4, 2};

/// Whether some of \p Shapes are segments.
inline bool areSegmented(llvm::ArrayRef<TimedShape> Shapes) {
  return llvm::any_of(Shapes, [](const TimedShape &S) { return S.isSegment(); });
}

/// GPU time of all launches of \p Kernel in the trace, in ns.
double tracedNs(const TracedKernel &Kernel);
/// The sum of TimedShape::groupNs().
double groupNs(llvm::ArrayRef<TimedShape> Shapes);

/// The shapes of \p Kernel, by falling time, each for itself, and undivided. Launches whose shapes
/// the probe could not tell apart (grid 0,0,0) belong to no shape.
std::vector<TimedShape> launchedShapes(const TracedKernel &Kernel);
/// The same, but divided.
std::vector<TimedShape> dividedShapes(const TracedKernel &Kernel);

/// Those of dividedShapes() that make up 95 % of the kernel's time, but at most MostTimedShapes.
std::vector<TimedShape> timedShapes(const TracedKernel &Kernel);

/// The same of shapes that are divided into segments, too (divideBySegments()). Empty if none is.
std::vector<TimedShape> segmentedShapes(const TracedKernel &Kernel);

/// timedShapes() if they make up 95 % of the kernel's time or are all that there are. Otherwise \p
/// Most shapes or fewer, by falling time of their groups, chosen in this way:
/// - Shapes that differ in their grids only are a class. The heaviest classes share the shapes,
///   each by its time, until they have 95 % of the kernel's time or each of \p Most has one.
/// - In a class, a shape that has by itself the time of one group or more is timed for itself.
/// - The others are sorted by the time of one launch and divided into groups of about equal total
///   time. The shape in which half of its group's time is reached represents the group.
std::vector<TimedShape> representativeShapes(const TracedKernel &Kernel, size_t Most);

/// The launch shapes of which \p Record has times of \p Kernel.
std::set<LaunchShape> shapesWithTimes(const InRunRecord &Record, llvm::StringRef Kernel);

/// The choice of shapes that the times in \p Record belong to: of timedShapes(), segmentedShapes()
/// and all representativeShapes() that with the largest part of its shapes timed. It is for
/// recorded runs, whose tuning may have had another time for replays than this one. Empty if \p
/// Record has no time of \p Kernel.
std::vector<TimedShape> shapesTimedIn(const InRunRecord &Record, const TracedKernel &Kernel);

} // namespace carve
