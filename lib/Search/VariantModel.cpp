// A Gaussian process whose prior mean comes from registers and occupancy. The covariance of two
// variants is a sum of terms: one for their caps, which falls with their distance (exponentially,
// because times jump between caps), and for each other knob that is equal in both, one that holds
// at all caps and one that falls with the distance of the caps. Each observation is appended to the
// Cholesky factor. A batch is chosen by adding the predicted mean of each point that is already in
// it (kriging believer; Ginsbourger et al. 2010).
#include "Search/VariantModel.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

using namespace carve;

static double square(double X) { return X * X; }

FrontEndKind carve::frontEndKind(const VariantSetting &V) {
  if (!V.FrontEndCap)
    return FrontEndKind::AsCompiled;
  if (V.FrontEndCap == V.Cap)
    return FrontEndKind::AsCap;
  return *V.FrontEndCap == FreeFrontEndCap ? FrontEndKind::Free : FrontEndKind::Other;
}

/// Returns true if the loads of \p V carry a hint that they displace no other lines.
static bool hintsLoads(const VariantSetting &V) {
  return V.Loads == LoadCaching::EvictFirst || V.Loads == LoadCaching::NoAllocate;
}

/// Returns the logarithm of how much more work the code of \p Made does than that of \p Default, in
/// instructions or in bytes moved, whichever grew more. The result is limited to -0.5 to 1.5.
static double logMoreWork(const KernelCounts &Made, const KernelCounts &Default) {
  auto Bytes = [](const KernelCounts &C) { return C.globalBytes() + C.localBytes(); };
  auto LogRatio = [](double A, double B) { return A > 0 && B > 0 ? std::log(A / B) : 0; };
  double Work = LogRatio(Made.Instructions, Default.Instructions);
  return std::clamp(std::max(Work, LogRatio(Bytes(Made), Bytes(Default))), -0.5, 1.5);
}

ModelPoint VariantModel::point(const VariantSetting &V, const StaticMetrics *Made,
                               const StaticMetrics *Default) const {
  double DefaultRegs = std::max(1u, Space.DefaultRegs);
  double Regs = V.Cap ? std::max(1u, std::min(*V.Cap, Space.MaxRegs)) : DefaultRegs;
  ModelPoint P{V, std::log2(Regs), 0};
  double Halvings = std::log2(DefaultRegs / Regs);
  double BlockDoublings = Halvings;
  if (Made && Default && Made->BlocksPerSm && Default->BlocksPerSm)
    BlockDoublings = std::log2(double(Made->BlocksPerSm) / Default->BlocksPerSm);
  if (Made && Default && Made->Counts && Default->Counts)
    P.Prior += Scale.MoreWork * logMoreWork(*Made->Counts, *Default->Counts);
  else
    P.Prior += Scale.FewerRegs * std::max(0.0, Halvings);
  P.Prior -= Scale.MoreBlocks * BlockDoublings;
  if (V.Cap && !std::binary_search(Space.Caps.begin(), Space.Caps.end(), *V.Cap))
    P.Prior += Scale.OffPoint;
  if (hintsLoads(V))
    P.Prior += Scale.LoadHints.Loss;
  P.Prior += scaleOf(V.FrontEnd).Loss;
  if (V.OptimizationLevel)
    P.Prior += Scale.LessOptimized.Loss;
  if (V.KnownPtx)
    P.Prior += Scale.KnownPtx.Loss;
  if (V.Restrict)
    P.Prior += Scale.Restrict.Loss;
  return P;
}

/// Returns what is expected of \p Knob.
KnobScale VariantModel::scaleOf(FrontEndKnob Knob) const {
  switch (Knob) {
  case FrontEndKnob::None:
    return {};
  case FrontEndKnob::NewerLlvm:
  case FrontEndKnob::NewerLlvmRolled:
    return Scale.NewerLlvm;
  case FrontEndKnob::UnrollMore:
    return Scale.UnrollMore;
  case FrontEndKnob::UnrollByTwo:
    return Scale.UnrollByTwo;
  case FrontEndKnob::NoRematerialization:
    return Scale.NoRematerialization;
  case FrontEndKnob::KnownLaunch:
  case FrontEndKnob::KnownShapes:
    return Scale.KnownLaunch;
  }
  return {};
}

double VariantModel::likeness(const ModelPoint &A, const ModelPoint &B) const {
  const VariantSetting &X = A.Setting, &Y = B.Setting;
  double Caps = std::exp(-std::abs(A.LogRegs - B.LogRegs) / Scale.CapDistance);
  if (X.Cap.has_value() != Y.Cap.has_value())
    Caps *= Scale.UncappedLike;
  double Sum = square(CapSpread) * Caps;
  auto AddKnob = [&](bool Same, double Scale) {
    if (Same)
      Sum += square(Scale) * (1 + Caps);
  };
  AddKnob(frontEndKind(X) == frontEndKind(Y), Scale.FrontEnd);
  AddKnob(X.RegisterUsageLevel == Y.RegisterUsageLevel, Scale.Level);
  AddKnob(X.OptimizationLevel && Y.OptimizationLevel, Scale.LessOptimized.Spread);
  AddKnob(X.SmemSpilling == Y.SmemSpilling, Scale.Smem);
  AddKnob(X.Loads == Y.Loads, Scale.Loads);
  AddKnob(X.KnownPtx && Y.KnownPtx, Scale.KnownPtx.Spread);
  AddKnob(X.Restrict && Y.Restrict, Scale.Restrict.Spread);
  // Both hints keep loads from displacing other lines, so one resembles the other.
  AddKnob(hintsLoads(X) && hintsLoads(Y), Scale.LoadHints.Spread);
  AddKnob(X.FrontEnd == Y.FrontEnd, scaleOf(X.FrontEnd).Spread);
  AddKnob(usesNewerLlvm(X.FrontEnd) && usesNewerLlvm(Y.FrontEnd), Scale.NewerLlvm.Spread);
  if (X == Y)
    Sum += square(Scale.Own);
  return Sum;
}

std::vector<double> VariantModel::solveLower(std::vector<double> Right) const {
  for (size_t I = 0; I < Right.size(); ++I) {
    double Sum = std::inner_product(Right.begin(), Right.begin() + I, Lower[I].begin(), 0.0);
    Right[I] = (Right[I] - Sum) / Lower[I][I];
  }
  return Right;
}

void VariantModel::learn(llvm::ArrayRef<Measured> New) {
  Seen.insert(Seen.end(), New.begin(), New.end());
  double Sum = 0;
  size_t Capped = 0;
  for (const Measured &M : Seen) {
    if (!M.Point.Setting.Cap)
      continue;
    Sum += square(M.LogRatio - M.Point.Prior);
    ++Capped;
  }
  CapSpread = std::max(Scale.Cap, Capped ? std::sqrt(Sum / double(Capped)) : 0);
  Points.clear();
  Lower.clear();
  Whitened.clear();
  for (const Measured &M : Seen)
    append(M.Point, M.LogRatio);
}

void VariantModel::believe(const ModelPoint &P) { append(P, predict(P).Mean); }

void VariantModel::append(const ModelPoint &P, double LogRatio) {
  std::vector<double> Row;
  for (const ModelPoint &Other : Points)
    Row.push_back(likeness(P, Other));
  Row = solveLower(std::move(Row));
  double Known = std::inner_product(Row.begin(), Row.end(), Row.begin(), 0.0);
  double Mean = std::inner_product(Row.begin(), Row.end(), Whitened.begin(), P.Prior);
  // If a point is observed twice, its conditional variance is only rounding error.
  constexpr double Least = 1e-12;
  double Diagonal = std::sqrt(std::max(likeness(P, P) - Known, Least));
  Best = Points.empty() ? LogRatio : std::min(Best, LogRatio);
  Row.push_back(Diagonal);
  Lower.push_back(std::move(Row));
  Whitened.push_back((LogRatio - Mean) / Diagonal);
  Points.push_back(P);
}

Prediction VariantModel::predict(const ModelPoint &P) const {
  std::vector<double> Row;
  for (const ModelPoint &Other : Points)
    Row.push_back(likeness(P, Other));
  Row = solveLower(std::move(Row));
  double Mean = std::inner_product(Row.begin(), Row.end(), Whitened.begin(), P.Prior);
  double Known = std::inner_product(Row.begin(), Row.end(), Row.begin(), 0.0);
  return {Mean, std::sqrt(std::max(likeness(P, P) - Known, 0.0))};
}

double VariantModel::expectedGain(const ModelPoint &P) const {
  auto [Mean, Deviation] = predict(P);
  if (Deviation < 1e-9)
    return std::max(0.0, Best - Mean);
  double Z = (Best - Mean) / Deviation;
  double Below = 0.5 * std::erfc(-Z / std::numbers::sqrt2);
  double Density = std::exp(-Z * Z / 2) / std::sqrt(2 * std::numbers::pi);
  return Deviation * (Z * Below + Density);
}
