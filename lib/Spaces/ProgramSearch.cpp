#include "Spaces/ProgramSearch.h"

#include "Evaluate/SweepEvaluation.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

double ConfigurationTimes::ratio() const {
  return ratioInterval(Confirmed.empty() ? Screened : Confirmed).Median;
}

std::optional<SearchSummary> carve::summaryOf(const SearchRecord &Record) {
  SearchSummary S;
  std::vector<double> Losses;
  double BestSelected = 0, Best = 0, CompileS = 0;
  for (size_t I = 0; I < Record.Configurations.size(); ++I) {
    const SearchedConfiguration &C = Record.Configurations[I];
    CompileS += C.CompileS;
    if (!C.valid())
      continue;
    if (!C.Times.measured())
      return std::nullopt;
    ++S.Valid;
    S.AllRunS += C.Times.FirstWallS;
    S.AllEvaluationS += C.Times.FirstWallS + C.BuildS;
    // A configuration that fails when it is run counts as drawn, with a performance of 0.
    double P = C.Times.Fault.empty() ? 1 / C.Times.ratio() : 0;
    Losses.push_back(-P);
    if (P > Best) {
      Best = P;
      S.Best = I;
    }
    if (!C.selected())
      continue;
    ++S.Selected;
    S.SelectedRunS += C.Times.FirstWallS;
    S.SelectedEvaluationS += C.Times.FirstWallS + C.BuildS;
    if (P > BestSelected) {
      BestSelected = P;
      S.BestSelected = I;
    }
  }
  if (S.Selected == 0 || Best == 0)
    return std::nullopt;
  S.SelectedEvaluationS += CompileS;
  S.SpaceReduction = 1 - double(S.Selected) / S.Valid;
  S.SelectedOverBest = BestSelected / Best;
  S.RandomOverBest = -expectedMinimum(std::move(Losses), S.Selected) / Best;
  return S;
}
