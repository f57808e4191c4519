/// \file
/// Predicts the times of a kernel's variants that were not timed from those that were, by a
/// Gaussian process over the knobs. KernelSearch uses the predicted means and their uncertainty to
/// choose what to time next.
#pragma once

#include "Metrics/Counts/Metrics.h"
#include "Search/KnobSpace.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace carve {

/// What is expected of one value of a knob, before anything is timed, in the natural logarithm of
/// time.
struct KnobScale {
  double Loss = 0;   ///< The mean; a gain is negative.
  double Spread = 0; ///< How much kernels differ in it, once at all caps and once at one cap.
};

/// How far variants are expected to differ in the natural logarithm of their time over the
/// default's: 0.10 is about a tenth. The values are orders of magnitude and need to be right only
/// within a factor of 2, because measured times correct them.
struct ModelScale {
  double Cap = 0.10;         ///< Between register caps that are far apart.
  double CapDistance = 0.5;  ///< Doublings of the cap over which the correlation falls to 1/e.
  double FrontEnd = 0.04;    ///< Of a front-end cap, once at all caps and once at one cap.
  double Level = 0.02;       ///< Of a register-usage level, likewise.
  double Smem = 0.04;        ///< Of spilling to shared memory, likewise.
  double Loads = 0.01;       ///< Of load caching, likewise.
  double Own = 0.01;         ///< Of each variant alone, from scheduling and noise.
  double FewerRegs = 0.06;   ///< Expected loss if the registers are half the default's.
  double MoreBlocks = 0.03;  ///< Expected gain if twice as many blocks fit on an SM.
  double OffPoint = 0.01;    ///< Expected loss of a cap that is not a critical point.
  double UncappedLike = 0.8; ///< Correlation of no cap with a cap that changes nothing.
  double MoreWork = 0.5;     ///< How much of an increase in instructions or bytes shows in time.
  // What loses on average gains much in some kernels, and is tried for these.
  KnobScale LoadHints = {0.008, 0.025};  ///< Loads that evict first or allocate no line.
  KnobScale NewerLlvm = {-0.012, 0.012}; ///< Once for both knobs, and once for each.
  KnobScale UnrollMore = {-0.013, 0.015};
  KnobScale UnrollByTwo = {0.024, 0.035};
  KnobScale NoRematerialization = {-0.013, 0.015};
  KnobScale LessOptimized = {0.008, 0.03}; ///< Optimization level 1 of ptxas.
  /// In a study of 16 programs most kernels gained little by it, and some half of their time.
  KnobScale KnownLaunch = {-0.03, 0.1};
  /// In the same study, constants in the PTX gained 0.7 % on average, and 7 % at most.
  KnobScale KnownPtx = {-0.005, 0.025};
  /// Of 116 programs 13 gained by restrict pointers, three of them 6 % or more.
  KnobScale Restrict = {-0.005, 0.04};
};

/// The predicted mean and standard deviation of the natural logarithm of a variant's time over the
/// default's.
struct Prediction {
  double Mean = 0, Deviation = 0;
};

/// A setting with what the model computes from it.
struct ModelPoint {
  VariantSetting Setting;
  double LogRegs = 0; ///< Logarithm to base 2 of the register cap, or of the default's registers.
  double Prior = 0;   ///< The mean before anything is timed.
};

/// A variant that was timed.
struct Measured {
  ModelPoint Point;
  double LogRatio = 0; ///< Natural logarithm of time over the default's.
};

/// A Gaussian process over the settings of one kernel. See VariantModel.cpp for mean and
/// covariance.
class VariantModel {
public:
  explicit VariantModel(const KnobSpace &Space, const ModelScale &Scale = {})
      : Space(Space), Scale(Scale) {}

  /// Returns the point of \p V in the model. \p Made and \p Default are the metrics of its code and
  /// of the default's code; they are null as long as that code is not compiled.
  ModelPoint point(const VariantSetting &V, const StaticMetrics *Made,
                   const StaticMetrics *Default) const;
  /// Adds the times \p New. If the times differ by more than the scale of caps says, that scale
  /// grows to their root mean square around the prior mean (empirical Bayes).
  void learn(llvm::ArrayRef<Measured> New);
  /// Adds \p P as if its time had been the predicted one, so that the rest of a batch is chosen
  /// with \p P in it.
  void believe(const ModelPoint &P);
  /// Returns how many points were added.
  size_t points() const { return Points.size(); }
  /// Returns the prediction for \p P from all points that were added.
  Prediction predict(const ModelPoint &P) const;
  /// Returns by how much \p P is expected to fall below the smallest logarithm added so far
  /// (expected improvement; Jones, Schonlau and Welch 1998).
  double expectedGain(const ModelPoint &P) const;

private:
  void append(const ModelPoint &P, double LogRatio);
  KnobScale scaleOf(FrontEndKnob Knob) const;
  double likeness(const ModelPoint &A, const ModelPoint &B) const;
  std::vector<double> solveLower(std::vector<double> Right) const;

  KnobSpace Space;
  ModelScale Scale;
  double CapSpread = Scale.Cap;
  std::vector<Measured> Seen;
  std::vector<ModelPoint> Points;
  std::vector<std::vector<double>> Lower; ///< Cholesky factor of the points' covariance matrix.
  std::vector<double> Whitened;           ///< Lower^-1 (observed - prior mean).
  double Best = 0;                        ///< The smallest logarithm of Points.
};

/// The kinds of front-end caps. The covariance of two variants depends on the kind of their
/// front-end caps, not on the number.
enum class FrontEndKind { AsCompiled, AsCap, Free, Other };
/// Returns the kind of \p V's front-end cap: not set, equal to the register cap, FreeFrontEndCap,
/// or another number.
FrontEndKind frontEndKind(const VariantSetting &V);

} // namespace carve
