/// \file
/// The launch shapes in which a kernel may be timed, and how the report speaks of them.
#pragma once

#include "Tune/InRun/TimedShapes.h"
#include "Tune/Job/TuningJob.h"

#include "llvm/ADT/ArrayRef.h"

#include <map>
#include <string>
#include <vector>

namespace carve {

/// The shapes in which a kernel may be timed. There may be thousands to choose them from, and a
/// kernel is asked about many times.
struct ShapeChoices {
  std::vector<TimedShape> Launched; ///< All.
  /// Those with most time. Only they are rotated: each has to be launched often itself.
  std::vector<TimedShape> OneByOne;
  std::vector<TimedShape> Segmented; ///< Those with segments; empty if no shape has some.
  std::map<size_t, std::vector<TimedShape>> Representatives; ///< By RepresentativeCounts.
  size_t TracedShapes; ///< How many shapes were launched, whose classes count as one.
  double TracedNs;     ///< GPU time of all launches, also of those whose shapes are not known.

  explicit ShapeChoices(const TracedKernel &Kernel);

  /// The share of the kernel's time in launches of the shapes \p Of, and of those they represent.
  double covered(llvm::ArrayRef<TimedShape> Of) const;
  /// A clause for the report if the shapes \p Of are too few to time the kernel by: how many there
  /// are, and their share of its time.
  std::string coverage(llvm::ArrayRef<TimedShape> Of) const;
  /// A clause for the report if shapes of \p Of are timed in place of others: how many there are,
  /// and the share of the kernel's time that is judged by them. Otherwise it is empty.
  std::string representatives(llvm::ArrayRef<TimedShape> Of) const;
};

/// Says how many classes of launches are timed, such as `; 2 classes by arguments`. Empty if no
/// shape is divided.
std::string classesText(llvm::ArrayRef<TimedShape> Of);

/// The time \p Ns as text, such as `4.0 us`.
std::string launchTimeText(double Ns);

} // namespace carve
