#include "Spaces/SearchReport.h"

#include "Spaces/ParetoPlot.h"
#include "Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace carve;

namespace {

using Places = std::vector<size_t>;

/// Returns a number with its noun, such as `1 configuration` or `2 configurations`.
std::string counted(size_t Number, llvm::StringRef What) {
  return (llvm::Twine(Number) + " " + What + (Number == 1 ? "" : "s")).str();
}

void printHead(llvm::raw_ostream &OS, const SearchRecord &R) {
  OS << "space " << R.Space << (R.Where.empty() ? "" : " where " + R.Where) << "\n";
  OS << "metrics for " << R.Arch << ", nvcc " << R.NvccVersion
     << (R.Device.empty() ? "" : ", times on " + R.Device) << "\n\n";
}

/// Prints one line for each way of being carved, and the most frequent reasons of the invalid
/// configurations.
void printCarved(llvm::raw_ostream &OS, const SearchRecord &R) {
  constexpr struct {
    CarvedBy By;
    llvm::StringLiteral Text;
  } Ways[] = {{CarvedBy::Invalid, "invalid"},
              {CarvedBy::Threshold, "below a threshold"},
              {CarvedBy::Cluster, "in a cluster with another"},
              {CarvedBy::Pareto, "no better than another in both metrics"},
              {CarvedBy::Budget, "beyond the number to be timed"}};
  constexpr size_t MostReasons = 3;
  for (const auto &[By, Text] : Ways) {
    size_t Number = 0;
    std::map<std::string, size_t> Reasons;
    for (const SearchedConfiguration &C : R.Configurations)
      if (C.Verdict.By == By) {
        ++Number;
        ++Reasons[C.Verdict.Reason];
      }
    if (Number == 0)
      continue;
    OS << llvm::formatv("  {0,6} {1}\n", Number, Text);
    // In the other groups each configuration has a reason of its own.
    if (By != CarvedBy::Invalid)
      continue;
    std::vector<std::pair<size_t, std::string>> Ranked;
    for (const auto &[Reason, Count] : Reasons)
      Ranked.push_back({Count, Reason});
    llvm::sort(Ranked, [](const auto &A, const auto &B) { return A.first > B.first; });
    for (size_t I = 0; I < std::min(MostReasons, Ranked.size()); ++I)
      OS << llvm::formatv("         {0} times: {1}\n", Ranked[I].first, Ranked[I].second);
  }
}

void printCounts(llvm::raw_ostream &OS, const SearchRecord &R) {
  size_t Valid = llvm::count_if(R.Configurations, [](const auto &C) { return C.valid(); });
  size_t Selected = llvm::count_if(R.Configurations, [](const auto &C) { return C.selected(); });
  OS << llvm::formatv("  {0,6} enumerated", R.Configurations.size());
  if (R.Combinations != R.Configurations.size())
    OS << " of " << counted(R.Combinations, "combination");
  OS << llvm::formatv("\n  {0,6} valid\n", Valid);
  printCarved(OS, R);
  OS << llvm::formatv("  {0,6} selected\n", Selected);
}

/// Returns the places that the table shows, the fastest first: the selected configurations and, of
/// an exhaustive search, some of the best others. Without times the order is by efficiency.
Places tablePlaces(const SearchRecord &R) {
  constexpr size_t MostOthers = 5;
  auto Rank = [&](size_t I) {
    const SearchedConfiguration &C = R.Configurations[I];
    bool Known = C.Times.measured() && C.Times.Fault.empty();
    return std::tuple(!Known, Known ? C.Times.ratio() : 0, -C.Efficiency);
  };
  Places All, Shown;
  for (size_t I = 0; I < R.Configurations.size(); ++I)
    if (R.Configurations[I].valid())
      All.push_back(I);
  llvm::stable_sort(All, [&](size_t A, size_t B) { return Rank(A) < Rank(B); });
  size_t Others = 0;
  for (size_t I : All)
    if (R.Configurations[I].selected() || I == R.Reference ||
        (R.Configurations[I].Times.measured() && Others++ < MostOthers))
      Shown.push_back(I);
  return Shown;
}

std::string timeColumns(const SearchRecord &R, const SearchedConfiguration &C) {
  if (!C.Times.measured())
    return "";
  if (!C.Times.Fault.empty())
    return "  " + C.Times.Fault;
  double Cost = ratioInterval(C.Times.Costs).Median;
  std::string Text = R.Metric == "GPU time" ? llvm::formatv("{0,12:f3}", Cost / 1e6).str()
                                            : llvm::formatv("{0,12:g}", Cost).str();
  return Text + llvm::formatv("  {0,7:f3}", C.Times.ratio()).str();
}

void printTable(llvm::raw_ostream &OS, const SearchRecord &R) {
  Places Shown = tablePlaces(R);
  size_t Width = 13;
  for (size_t I : Shown)
    Width = std::max(Width, R.Configurations[I].Macros.name().size());
  bool Timed = R.NotTimed.empty();
  OS << "\n  " << llvm::left_justify("configuration", Width)
     << "  regs  spill   smem  blocks/SM  efficiency  utilization"
     << (Timed ? (R.Metric == "GPU time" ? "  GPU time, ms" : "          cost") : "")
     << (Timed ? "    ratio" : "") << "\n";
  for (size_t I : Shown) {
    const SearchedConfiguration &C = R.Configurations[I];
    unsigned Regs = 0, Spill = 0, Smem = 0, Blocks = C.Kernels.empty() ? 0 : UINT_MAX;
    for (const SearchedKernel &K : C.Kernels) {
      Regs = std::max(Regs, K.Metrics.RegsPerThread);
      Spill = std::max(Spill, K.Metrics.SpillBytes);
      Smem = std::max(Smem, K.Metrics.StaticSmemBytes + K.Launch.Shape.DynamicSmemBytes);
      Blocks = std::min(Blocks, K.Metrics.BlocksPerSm);
    }
    OS << (I == R.Winner  ? "* "
           : C.selected() ? "  "
                          : "- ")
       << llvm::left_justify(C.Macros.name(), Width)
       << llvm::format("  %4u  %5u  %5u  %9u  %10.2e  %11.1f", Regs, Spill, Smem, Blocks,
                       C.Efficiency, C.Utilization)
       << (Timed ? "  " + timeColumns(R, C) : "") << (I == R.Reference ? "  first" : "") << "\n";
  }
}

void printWinner(llvm::raw_ostream &OS, const SearchRecord &R) {
  OS << "\n";
  if (!R.Winner)
    return;
  std::string Name = R.Configurations[*R.Winner].Macros.name();
  if (R.Winner == R.Reference)
    OS << "no configuration is measurably faster than the first, " << Name << "\n";
  else
    OS << llvm::formatv("winner: {0}, {1:f3} of the first one's cost ({2:f3} to {3:f3})\n", Name,
                        R.WinnerRatio.Median, R.WinnerRatio.Low, R.WinnerRatio.High);
  OS << R.Output << (R.OutputKept ? " is already built with it\n" : " is built with it\n");
  if (R.Compiled == 0 && R.Timed == 0 && R.Runs == 0)
    OS << "nothing was compiled or timed: all of it is remembered from an earlier search\n";
  else
    OS << llvm::formatv("{0} compiled in {1:f1} s, built in {2:f1} s, {3} timed in {4} runs and "
                        "{5:f1} s\n",
                        R.Compiled, R.CompileS, R.BuildS, R.Timed, R.Runs, R.TimeS);
}

/// Prints this space's rows of Ryoo et al.'s Tables 4 and 5.
void printSummary(llvm::raw_ostream &OS, const SearchRecord &R) {
  std::optional<SearchSummary> S = summaryOf(R);
  if (!R.Exhaustive || !S)
    return;
  auto Reduction = [](double Of, double All) {
    return All > 0 ? percentText(1 - Of / All, 1) : "-";
  };
  OS << "\nwhat carving saves\n"
     << "  configurations  selected  space reduction  running all, s  the selected, s  reduction  "
        "best selected / best\n"
     << llvm::format("  %14zu  %8zu  %15s  %14.1f  %15.1f  %9s  %19s\n", S->Valid, S->Selected,
                     percentText(S->SpaceReduction, 1).c_str(), S->AllRunS, S->SelectedRunS,
                     Reduction(S->SelectedRunS, S->AllRunS).c_str(),
                     percentText(S->SelectedOverBest, 1).c_str())
     << llvm::formatv("  with building, and all compiled for their metrics: {0:f1} s and {1:f1} s, "
                      "reduction {2}\n",
                      S->AllEvaluationS, S->SelectedEvaluationS,
                      Reduction(S->SelectedEvaluationS, S->AllEvaluationS))
     << llvm::formatv("  as many drawn at random: the best of {0} is expected at {1} of the best\n",
                      S->Selected, percentText(S->RandomOverBest, 1))
     << "  best: " << R.Configurations[S->Best].Macros.name()
     << "; best selected: " << R.Configurations[S->BestSelected].Macros.name() << "\n";
}

} // namespace

std::string carve::printSearchText(const SearchRecord &R) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printHead(OS, R);
  printCounts(OS, R);
  printTable(OS, R);
  printWinner(OS, R);
  printSummary(OS, R);
  for (const std::string &Note : R.Notes)
    OS << "note: " << Note << "\n";
  return Text;
}

std::string carve::printSearchPlot(const SearchRecord &R) {
  std::vector<PlottedPoint> Points;
  std::optional<size_t> Best;
  double Least = 0;
  for (size_t I = 0; I < R.Configurations.size(); ++I) {
    const SearchedConfiguration &C = R.Configurations[I];
    if (!C.valid() || !C.Counted)
      continue;
    PlottedPoint P;
    P.Efficiency = C.Efficiency;
    P.Utilization = C.Utilization;
    P.Label = C.Macros.name();
    P.Front = C.Verdict.Front;
    P.Default = R.Reference == I;
    if (C.Times.measured() && C.Times.Fault.empty()) {
      if (R.Metric == "GPU time")
        P.Time = ratioInterval(C.Times.Costs).Median / 1e9;
      if (!Best || C.Times.ratio() < Least) {
        Best = Points.size();
        Least = C.Times.ratio();
      }
    }
    Points.push_back(std::move(P));
  }
  if (Best)
    Points[*Best].Best = true;
  PlotLabels Labels;
  Labels.Title = R.Command;
  return paretoPlotSvg(Points, Labels);
}
