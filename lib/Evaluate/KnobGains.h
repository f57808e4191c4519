/// \file
/// Evaluates the knobs by tunings that were made: finds how often each knob won, and what the
/// programs would gain without it. It reads the tunings' reports, so it needs neither compiler nor
/// GPU. KnobGainsReport.h prints the result.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// The report of one program's tuning.
struct TunedProgram {
  std::string Name; ///< Where the report comes from, for messages.
  TuningReport Report;
};

/// What one knob did in the tunings.
struct KnobGain {
  std::string Knob;    ///< Its name; where it has but one value, that of variants, such as `smem`.
  unsigned Timed = 0;  ///< Kernels of which a variant with this knob was timed.
  unsigned Alone = 0;  ///< Kernels whose winner sets this knob and no other.
  unsigned Beside = 0; ///< Kernels whose winner sets it and others.
  double Without = 1;  ///< Geometric mean of the programs' speedups without it.
};

/// What all knobs did in the tunings.
struct KnobGains {
  unsigned Programs = 0;
  unsigned Kernels = 0; ///< Kernels of which any variant was timed.
  unsigned Tuned = 0;   ///< Kernels that got another variant than nvcc's.
  double Speedup = 1;   ///< Geometric mean of the programs' speedups with all knobs.
  /// Knobs of which a variant was timed. Those come first without which most is lost.
  std::vector<KnobGain> Knobs;
};

/// Evaluates \p Programs. The speedup of a program is the GPU time before over that after, where
/// each winner takes the ratio of its confirmation. Without a knob, a winner that sets it gives way
/// to the fastest variant that does not: the one with the least screening ratio that has no fault.
/// Its ratio is the winner's, times how much slower it was in screening. The default stays if that
/// would not win either (SelectionLimits::WinningRatio), or if nothing else was timed. A search
/// without the knob would have timed other variants in its place, so this estimate is low.
///
/// Fails if a report has a variant whose name cannot be read. The message has the report and the
/// kernel.
llvm::Expected<KnobGains> evaluateKnobs(llvm::ArrayRef<TunedProgram> Programs);

} // namespace carve
