#include "Tune/InRun/InRunRounds.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

using namespace carve;

/// The time of variant \p V in round \p R, with cold and warm weighted as in the program (\p Warm),
/// or the cold time alone.
static double mixedNs(const InRunShape &S, const InRunRound &R, size_t V, bool Warm) {
  if (!Warm)
    return R.ColdNs[V];
  return (1 - S.WarmWeight) * R.ColdNs[V] + S.WarmWeight * R.WarmNs[V];
}

std::vector<double> InRunShape::ratios(size_t Variant, bool HeldOut) const {
  std::vector<double> Ratios;
  for (const InRunRound &R : Rounds) {
    if (R.HeldOut != HeldOut || R.ColdNs[0] <= 0 || R.ColdNs[Variant] <= 0)
      continue;
    bool Warm = R.WarmNs[0] > 0 && R.WarmNs[Variant] > 0;
    Ratios.push_back(mixedNs(*this, R, Variant, Warm) / mixedNs(*this, R, 0, Warm));
  }
  return Ratios;
}

std::vector<double> InRunShape::allRatios(size_t Variant) const {
  std::vector<double> All = ratios(Variant, false), More = ratios(Variant, true);
  All.insert(All.end(), More.begin(), More.end());
  return All;
}

size_t InRunShape::rounds(bool HeldOut) const {
  return std::count_if(Rounds.begin(), Rounds.end(), [&](const InRunRound &R) {
    return R.HeldOut == HeldOut && R.ColdNs[0] > 0;
  });
}

namespace {

/// Puts samples into rounds. The reader of the records has numbered the rounds across processes.
class RoundTable {
public:
  RoundTable(const InRunSubject &Subject, InRunShape &Shape) : Subject(Subject), Shape(Shape) {}

  void add(uint64_t Launch, bool HeldOut, unsigned Round, const std::string &Name, double Cold,
           double Warm) {
    size_t Variant = Subject.numberOf(Name), Variants = Subject.Variants.size();
    if (Variant == Variants)
      return;
    auto [It, New] = Places.try_emplace({HeldOut, Launch, Round}, Shape.Rounds.size());
    if (New)
      Shape.Rounds.push_back(
          {HeldOut, std::vector<double>(Variants, 0), std::vector<double>(Variants, 0)});
    InRunRound &R = Shape.Rounds[It->second];
    R.ColdNs[Variant] = Cold;
    R.WarmNs[Variant] = Warm;
  }

private:
  const InRunSubject &Subject;
  InRunShape &Shape;
  std::map<std::tuple<bool, uint64_t, unsigned>, size_t> Places;
};

} // namespace

/// Of every eight cycles, three choose and five are held out. These are the least numbers that each
/// part needs.
static bool isHeldOut(unsigned Cycle) { return Cycle % 8 % 3 != 0; }

/// Takes the control copy's time for the default's where that is more than a tenth longer. Both run
/// the same code on the same inputs, and what disturbs a run makes it longer; but all variants of
/// the round would seem faster by that, and most are in few rounds. If more than half of the
/// rounds are so, it is no disturbance, and the control's distance shows it.
static void replaceDisturbed(InRunShape &Shape, std::vector<double> InRunRound::*Ns) {
  constexpr double MostLonger = 1.1;
  auto IsLonger = [&](const InRunRound &R) {
    const std::vector<double> &Its = R.*Ns;
    return Its[ControlPlace] > 0 && Its[DefaultPlace] > MostLonger * Its[ControlPlace];
  };
  if (2 * size_t(llvm::count_if(Shape.Rounds, IsLonger)) > Shape.Rounds.size())
    return;
  for (InRunRound &R : Shape.Rounds)
    if (IsLonger(R))
      (R.*Ns)[DefaultPlace] = (R.*Ns)[ControlPlace];
}

/// Sets the default's medians, and the weight with which their mean becomes \p TracedNs.
static void weighWarmth(InRunShape &Shape, double TracedNs) {
  std::vector<double> Cold, Warm;
  for (const InRunRound &R : Shape.Rounds) {
    if (R.ColdNs[0] > 0)
      Cold.push_back(R.ColdNs[0]);
    if (R.WarmNs[0] > 0)
      Warm.push_back(R.WarmNs[0]);
  }
  if (!Cold.empty())
    Shape.ColdNs = median(Cold);
  if (Warm.empty())
    return;
  Shape.WarmNs = median(Warm);
  // A kernel may be slower from a cache that others have left full of what they wrote. Where the
  // two are alike, noise must not make it so.
  constexpr double LeastSlower = 0.01;
  double Span = Shape.ColdNs - Shape.WarmNs;
  if (Span > 0 || -Span >= LeastSlower * Shape.ColdNs)
    Shape.WarmWeight = std::clamp((Shape.ColdNs - TracedNs) / Span, 0.0, 1.0);
}

std::vector<InRunShape> carve::inRunShapes(const InRunSubject &Subject, const InRunRecord &Record) {
  std::vector<InRunShape> Shapes(Subject.Shapes.size());
  for (size_t I = 0; I < Shapes.size(); ++I) {
    const InRunSubject::TracedShape &Traced = Subject.Shapes[I];
    InRunShape &Shape = Shapes[I];
    Shapes[Traced.Representative.value_or(I)].WeightNs += Traced.TotalNs;
    if (Traced.Representative)
      continue;
    RoundTable Table(Subject, Shape);
    for (const TimedSample &T : Record.Timed)
      if (T.Place.Kernel == Subject.Kernel && T.Place.Shape == Traced.Shape)
        Table.add(T.Place.Launch, T.Confirming, T.Round, T.Variant, T.ColdNs, T.WarmNs);
    if (!Shape.Rounds.empty()) {
      Shape.Timing = InRunTiming::Replay;
      replaceDisturbed(Shape, &InRunRound::ColdNs);
      replaceDisturbed(Shape, &InRunRound::WarmNs);
      weighWarmth(Shape, Traced.replayedNs());
      continue;
    }
    for (const RotatedSample &R : Record.Rotated)
      if (R.Kernel == Subject.Kernel && R.Shape == Traced.Shape)
        Table.add(0, isHeldOut(R.Cycle), R.Cycle, R.Variant, R.Ns, 0);
    if (!Shape.Rounds.empty())
      Shape.Timing = InRunTiming::Rotate;
  }
  return Shapes;
}

bool carve::runSameCode(const InRunSubject &Subject, size_t Variant, size_t ShapeA, size_t ShapeB) {
  if (!Subject.Partial.count(Variant) || ShapeA == ShapeB)
    return true;
  auto Its = Subject.ShapesOfCodes.find(Variant);
  return Its != Subject.ShapesOfCodes.end() &&
         llvm::any_of(Its->second, [&](const std::set<size_t> &Shapes) {
           return Shapes.count(ShapeA) && Shapes.count(ShapeB);
         });
}

double carve::weightNs(const InRunSubject &Subject, size_t Shape, size_t Variant) {
  double Ns = 0;
  for (size_t I = 0; I < Subject.Shapes.size(); ++I)
    if (Subject.Shapes[I].Representative.value_or(I) == Shape &&
        runSameCode(Subject, Variant, I, Shape))
      Ns += Subject.Shapes[I].TotalNs;
  return Ns;
}
