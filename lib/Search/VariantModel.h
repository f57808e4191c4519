/// \file
/// What the times of some variants of a kernel say about those that are not timed: a Gaussian
/// process over the knobs. Its means and doubts tell KernelSearch what is worth timing next.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Search/KnobSpace.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace carve {

/// How far variants are thought to differ, as natural logarithms of time over the default's: 0.10
/// is a tenth. Orders of magnitude, to be right within a factor of 2; what is timed corrects them.
struct ModelScale {
  double Cap = 0.10;         ///< Between register caps that have nothing in common.
  double CapDistance = 0.5;  ///< Doublings of the cap over which times lose their likeness.
  double FrontEnd = 0.04;    ///< What a front-end flavour does at every cap, and again at one.
  double Level = 0.02;       ///< The same of a register-usage level,
  double Smem = 0.04;        ///< of spilling to shared memory,
  double Loads = 0.01;       ///< and of load caching.
  double Own = 0.01;         ///< Of every variant by itself: scheduling, noise.
  double FewerRegs = 0.06;   ///< Expected loss by halving the default's registers,
  double MoreBlocks = 0.03;  ///< and gain by doubling the blocks per SM.
  double OffPoint = 0.01;    ///< Expected loss of a cap that is no critical point.
  double UncappedLike = 0.8; ///< Likeness of no cap and the cap that changes nothing.
  double MoreWork = 0.5;     ///< Share of more instructions or bytes that shows in time.
};

/// Mean and standard deviation of a variant's logarithm of time over the default's.
struct Prediction {
  double Mean = 0, Deviation = 0;
};

/// A setting as the model sees it.
struct ModelPoint {
  VariantSetting Setting;
  double LogRegs = 0; ///< Base 2.
  double Prior = 0;   ///< Mean before anything is timed.
};

struct Measured {
  ModelPoint Point;
  double LogRatio = 0; ///< Natural logarithm of time over the default's.
};

class VariantModel {
public:
  explicit VariantModel(const KnobSpace &Space, const ModelScale &Scale = {})
      : Space(Space), Scale(Scale) {}

  /// Where \p V stands; \p Made and \p Default: the metrics of its code and the default's, null
  /// where it is not compiled.
  ModelPoint point(const VariantSetting &V, const StaticMetrics *Made,
                   const StaticMetrics *Default) const;
  /// Takes what was timed. Where times lie farther apart than the scale of caps has it, the scale
  /// grows to their root mean square about the prior (empirical Bayes).
  void learn(llvm::ArrayRef<Measured> New);
  /// Takes \p P as if it had come out as expected, for choosing what to time beside it.
  void believe(const ModelPoint &P);
  Prediction predict(const ModelPoint &P) const;
  /// By how much \p P is expected to fall below the smallest logarithm taken (expected
  /// improvement; Jones, Schonlau and Welch 1998).
  double expectedGain(const ModelPoint &P) const;

private:
  void append(const ModelPoint &P, double LogRatio);
  double likeness(const ModelPoint &A, const ModelPoint &B) const;
  std::vector<double> solveLower(std::vector<double> Right) const;

  KnobSpace Space;
  ModelScale Scale;
  double CapSpread = Scale.Cap;
  std::vector<Measured> Seen;
  std::vector<ModelPoint> Points;
  std::vector<std::vector<double>> Lower; ///< Cholesky factor of the points' covariances.
  std::vector<double> Whitened;           ///< Lower^-1 (observed - prior).
  double Best = 0;
};

/// Of a front-end cap only the kind matters to the likeness of variants.
enum class FrontEndKind { AsCompiled, AsCap, Free, Other };
FrontEndKind frontEndKind(const VariantSetting &V);

} // namespace carve
