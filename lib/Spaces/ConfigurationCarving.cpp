#include "Spaces/ConfigurationCarving.h"

#include "Search/Pareto.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace carve;

namespace {

using Costs = llvm::ArrayRef<ConfigurationCost>;
using Verdicts = std::vector<CarvingVerdict>;

/// Margin and number of timed configurations by effort.
constexpr struct {
  double Margin;
  unsigned MaxSelected;
} Efforts[] = {{0, 8}, {0.15, 16}, {0.4, 24}, {0.6, 48}};

/// Returns the places of configurations that have metrics and are not carved yet.
std::vector<size_t> kept(Costs All, const Verdicts &V) {
  std::vector<size_t> Places;
  for (size_t I = 0; I < V.size(); ++I)
    if (V[I].By == CarvedBy::Nothing && All[I].Known)
      Places.push_back(I);
  return Places;
}

std::vector<std::vector<double>> pointsOf(Costs All, llvm::ArrayRef<size_t> Places) {
  std::vector<std::vector<double>> Points;
  for (size_t I : Places)
    Points.push_back({All[I].Efficiency, All[I].Utilization});
  return Points;
}

/// Cuts configurations below a share of the best efficiency or utilization.
void carveBelowThresholds(Costs All, const SpaceCarving &Limits, Verdicts &V) {
  double BestEfficiency = 0, BestUtilization = 0;
  for (size_t I : kept(All, V)) {
    BestEfficiency = std::max(BestEfficiency, All[I].Efficiency);
    BestUtilization = std::max(BestUtilization, All[I].Utilization);
  }
  auto Below = [&](size_t I, const char *What, double Value, double Best, double Least) {
    // With "at least", a share of 1 keeps the best itself.
    if (Value >= Best * Least)
      return;
    V[I].By = CarvedBy::Threshold;
    V[I].Reason =
        llvm::formatv("{0} {1:e2} is below {2:P1} of the best, {3:e2}", What, Value, Least, Best);
  };
  for (size_t I : kept(All, V)) {
    Below(I, "efficiency", All[I].Efficiency, BestEfficiency, Limits.LeastEfficiency);
    if (V[I].By == CarvedBy::Nothing)
      Below(I, "utilization", All[I].Utilization, BestUtilization, Limits.LeastUtilization);
  }
}

/// Returns true if \p A and \p B differ by at most the share \p Width.
bool near(double A, double B, double Width) {
  return std::abs(A - B) <= Width * std::max(std::abs(A), std::abs(B));
}

/// Cuts all but the first configuration of each cluster.
void carveClusters(Costs All, double Width, Verdicts &V) {
  std::vector<size_t> Representatives;
  for (size_t I : kept(All, V)) {
    auto Same = llvm::find_if(Representatives, [&](size_t R) {
      return near(All[I].Efficiency, All[R].Efficiency, Width) &&
             near(All[I].Utilization, All[R].Utilization, Width);
    });
    if (Same == Representatives.end()) {
      Representatives.push_back(I);
      continue;
    }
    V[I].By = CarvedBy::Cluster;
    V[I].Reason = "the same metrics as " + All[*Same].Name;
  }
}

/// Marks the Pareto front, and cuts what it beats by more than \p Margin.
void carvePareto(Costs All, double Margin, Verdicts &V) {
  std::vector<size_t> Places = kept(All, V);
  std::vector<std::vector<double>> Points = pointsOf(All, Places);
  for (size_t F : paretoFront(Points, 0))
    V[Places[F]].Front = true;
  std::vector<ParetoCut> Cuts;
  paretoFront(Points, Margin, &Cuts);
  for (const ParetoCut &Cut : Cuts) {
    const ConfigurationCost &Point = All[Places[Cut.Point]], &By = All[Places[Cut.By]];
    CarvingVerdict &Verdict = V[Places[Cut.Point]];
    Verdict.By = CarvedBy::Pareto;
    Verdict.Reason =
        llvm::formatv("efficiency {0:e2} and utilization {1:f1}, where {2} has {3:e2} "
                      "and {4:f1}",
                      Point.Efficiency, Point.Utilization, By.Name, By.Efficiency, By.Utilization);
  }
}

/// Returns the distance of two configurations in the plane of the metrics' logarithms.
double distance(const ConfigurationCost &A, const ConfigurationCost &B) {
  const double Least = std::numeric_limits<double>::min();
  auto Along = [Least](double X, double Y) {
    return std::log(std::max(X, Least)) - std::log(std::max(Y, Least));
  };
  return std::hypot(Along(A.Efficiency, B.Efficiency), Along(A.Utilization, B.Utilization));
}

/// Keeps \p Most configurations. Those of the front come first, beginning with the largest product
/// of both metrics. Each next one is the farthest from all that were taken before it.
void carveBeyondBudget(Costs All, unsigned Most, Verdicts &V) {
  std::vector<size_t> Left = kept(All, V), Taken;
  if (Most == 0 || Left.size() <= Most)
    return;
  auto Rank = [&](size_t I) {
    double Apart = All[I].Efficiency * All[I].Utilization;
    if (!Taken.empty())
      Apart = distance(All[I], All[Taken.front()]);
    for (size_t T : Taken)
      Apart = std::min(Apart, distance(All[I], All[T]));
    return std::pair(V[I].Front, Apart);
  };
  while (Taken.size() < Most) {
    auto Next = std::max_element(Left.begin(), Left.end(),
                                 [&](size_t A, size_t B) { return Rank(A) < Rank(B); });
    Taken.push_back(*Next);
    Left.erase(Next);
  }
  for (size_t I : Left) {
    V[I].By = CarvedBy::Budget;
    V[I].Reason = llvm::formatv("beyond the {0} that are timed", Most);
  }
}

} // namespace

SpaceCarving carve::carvingOfEffort(unsigned Effort) {
  SpaceCarving Limits;
  const auto &Chosen = Efforts[std::min<size_t>(Effort, std::size(Efforts) - 1)];
  Limits.Margin = Chosen.Margin;
  Limits.MaxSelected = Chosen.MaxSelected;
  return Limits;
}

const char *carve::nameOf(CarvedBy By) {
  constexpr const char *Names[] = {"selected", "invalid", "threshold",
                                   "cluster",  "pareto",  "budget"};
  return Names[size_t(By)];
}

std::vector<CarvingVerdict> carve::carveConfigurations(llvm::ArrayRef<ConfigurationCost> All,
                                                       const SpaceCarving &Limits) {
  Verdicts V(All.size());
  for (size_t I = 0; I < All.size(); ++I)
    if (!All[I].Invalid.empty())
      V[I] = {CarvedBy::Invalid, All[I].Invalid};
  carveBelowThresholds(All, Limits, V);
  if (Limits.ClusterWidth >= 0)
    carveClusters(All, Limits.ClusterWidth, V);
  carvePareto(All, Limits.Margin, V);
  carveBeyondBudget(All, Limits.MaxSelected, V);
  return V;
}
