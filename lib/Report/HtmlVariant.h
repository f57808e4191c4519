/// \file
/// Describes the variants of a kernel for both the marks of the plots and the rows of the table.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace carve {

/// What became of a variant.
enum class VariantFate { Default, Timed, Rejected, NotTimed, Carved };

/// A variant, or the default, of one kernel.
struct ShownVariant {
  std::string Name;
  VariantFate Fate = VariantFate::Timed;
  bool Chosen = false; ///< True if the kernel runs with it.
  std::string Why;     ///< Why it was rejected or carved away.
  /// Median is 0 if the time is not known. Low and High are 0 if there is no interval.
  RatioInterval Ratio;
  unsigned Regs = 0, SpillBytes = 0;
  /// Occupancy is from 0 to 1. LocalBytes are what a thread loads and stores, with loops counted.
  double Occupancy = 0, LocalBytes = 0;
  double Efficiency = 0, Utilization = 0;
  /// The knobs besides the register cap. They determine the shape of the mark.
  bool FrontEnd = false, SmemSpilling = false, OtherCaching = false, Assembler = false;

  bool hasTime() const { return Ratio.Median > 0; }
  bool hasMetrics() const { return Efficiency > 0 && Utilization > 0; }
};

/// Returns the default first, then the timed variants with the fastest first, then the others.
std::vector<ShownVariant> shownVariants(const KernelReport &K);

/// What is known about local memory: the bytes that a thread moves, or only the bytes of the spill
/// instructions in the code. With `--carve-scope=file`, neither is known.
enum class SpillMeasure { LocalBytes, SpillBytes, Unknown };
/// Returns the measure that all of \p Variants have, for a report with scope \p Scope.
SpillMeasure spillMeasure(llvm::ArrayRef<ShownVariant> Variants, llvm::StringRef Scope);
/// Returns the bytes of \p V by \p Measure.
double spillOf(const ShownVariant &V, SpillMeasure Measure);

/// Returns one sentence with name, time, registers, occupancy, spills and fate.
std::string describeVariant(const ShownVariant &V, SpillMeasure Measure);
/// Returns `rejected: its output differs` or `chosen`, or an empty text for a variant that was
/// timed and not chosen.
std::string fateText(const ShownVariant &V);
/// Returns `0.932 [0.930, 0.941]`, without the interval if there is none.
std::string ratioText(const RatioInterval &R);

/// Returns the CSS classes of a mark, by fate and knobs.
std::string markClasses(const ShownVariant &V);
/// Returns the shapes to which glyph() refers. The page needs them once.
std::string glyphDefinitions();
/// Returns the mark itself at \p X percent and \p Y pixels.
std::string glyph(const ShownVariant &V, double X, double Y);
/// Returns a legend of the marks that occur in \p Variants.
std::string printLegend(llvm::ArrayRef<ShownVariant> Variants);

} // namespace carve
