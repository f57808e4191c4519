/// \file
/// The variants of a kernel as marks of a picture and rows of a table: what both say of them.
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
  bool Chosen = false; ///< The kernel runs with it.
  std::string Why;     ///< It was rejected or carved away.
  RatioInterval Ratio; ///< Median 0: no time is known. Low and High 0: no interval is.
  unsigned Regs = 0, SpillBytes = 0;
  double Occupancy = 0, LocalBytes = 0;
  double Efficiency = 0, Utilization = 0;
  /// Knobs beside the cap, by which marks differ.
  bool FrontEnd = false, SmemSpilling = false, CachedInL2 = false, Level = false;

  bool hasTime() const { return Ratio.Median > 0; }
  bool hasMetrics() const { return Efficiency > 0 && Utilization > 0; }
};

/// The default first, then what was timed, the fastest first, then what was not. A variant that
/// runs at another register-usage level than it was timed at is Chosen as it was timed.
std::vector<ShownVariant> shownVariants(const KernelReport &K);

/// What is known of local memory in \p Variants: bytes that a thread moves, or else those of the
/// spill instructions that stand in the code. Nobody knows either with `--carve-scope=file`.
enum class SpillMeasure { LocalBytes, SpillBytes, Unknown };
SpillMeasure spillMeasure(llvm::ArrayRef<ShownVariant> Variants, llvm::StringRef Scope);
double spillOf(const ShownVariant &V, SpillMeasure Measure);

/// One sentence: name, time, registers, occupancy, spills, fate.
std::string describeVariant(const ShownVariant &V, SpillMeasure Measure);
/// `rejected: its output differs`, `chosen`; empty for what was timed and not chosen.
std::string fateText(const ShownVariant &V);
/// `0.932 [0.930, 0.941]`, or what there is of it.
std::string ratioText(const RatioInterval &R);

/// Classes of a mark, by fate and knobs.
std::string markClasses(const ShownVariant &V);
/// The shapes that printGlyph() refers to, once for a page.
std::string glyphDefinitions();
/// The mark itself at \p X percent and \p Y pixels.
std::string glyph(const ShownVariant &V, double X, double Y);
/// What the marks of \p Variants mean: the entries that occur.
std::string printLegend(llvm::ArrayRef<ShownVariant> Variants);

} // namespace carve
