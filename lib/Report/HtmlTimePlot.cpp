#include "Report/HtmlTimePlot.h"

#include "Report/HtmlText.h"
#include "Report/PlotScale.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace carve;

namespace {

// Pixels from the top. All panels share the horizontal axis.
constexpr double TimeTop = 28, TimeHeight = 264, TimeBottom = TimeTop + TimeHeight;
constexpr double RailTop = TimeBottom + 30, RailStep = 14, RailMost = 8 * RailStep;
constexpr double SpillHeight = 78, TitleHeight = 30;
/// If the ratios span more than this factor, the axis of time is logarithmic.
constexpr double LargestLinearTimes = 1.8;

/// A range of registers with the same number of resident blocks.
struct Step {
  double From = 0, To = 0, Occupancy = 0;
  unsigned Blocks = 0; ///< 0 if not known.
};

/// Returns the levels of \p K by rising registers. If the report has none, returns what the
/// occupancies of the variants tell.
std::vector<Step> stepsOf(const KernelReport &K, llvm::ArrayRef<ShownVariant> Variants) {
  std::vector<Step> Steps;
  std::vector<ConcurrencyLevel> Levels = K.Levels;
  llvm::sort(Levels, [](const auto &A, const auto &B) { return A.MaxRegs < B.MaxRegs; });
  // A level extends up to its last register count. The first level may consist of a single count,
  // so it starts one below.
  double From = K.LeastRegs ? K.LeastRegs - 1 : 0;
  for (const ConcurrencyLevel &L : Levels) {
    if (L.MaxRegs <= From)
      continue;
    Steps.push_back({From, double(L.MaxRegs), L.Occupancy, L.BlocksPerSm});
    From = L.MaxRegs;
  }
  if (!Steps.empty())
    return Steps;
  std::map<double, std::pair<double, double>, std::greater<>> Seen;
  for (const ShownVariant &V : Variants) {
    if (V.Occupancy <= 0)
      continue;
    auto [It, New] = Seen.try_emplace(V.Occupancy, V.Regs, V.Regs);
    It->second.first = std::min<double>(It->second.first, V.Regs);
    It->second.second = std::max<double>(It->second.second, V.Regs);
  }
  for (const auto &[Occupancy, Range] : Seen)
    Steps.push_back({Range.first - 0.5, Range.second + 0.5, Occupancy, 0});
  return Steps;
}

/// The plot while it is printed.
class TimePlot {
public:
  TimePlot(const KernelReport &K, llvm::ArrayRef<ShownVariant> Variants, SpillMeasure Measure,
           llvm::StringRef Id)
      : K(K), Measure(Measure), Id(Id), Steps(stepsOf(K, Variants)) {
    for (const ShownVariant &V : Variants)
      ByRegs.push_back(&V);
    llvm::stable_sort(ByRegs, [](auto *A, auto *B) { return A->Regs < B->Regs; });
    placeRegisters();
    placeTimes();
    placeRail();
    for (const ShownVariant *V : ByRegs)
      MostSpills = std::max(MostSpills, spillOf(*V, Measure));
    SpillTop = RailTop + RailHeight + TitleHeight;
    SpillBottom = SpillTop + (MostSpills > 0 ? SpillHeight : 0);
    Height = SpillBottom + 42;
  }

  std::string print();

private:
  using Marks = std::vector<const ShownVariant *>;

  void placeRegisters();
  void placeTimes();
  void placeRail();
  double x(double Regs) const {
    return 100 * std::clamp((Regs - FirstReg) / (LastReg - FirstReg), 0.0, 1.0);
  }
  double timeY(double Ratio) const { return TimeBottom - TimeHeight * Times.place(Ratio); }
  static double occupancyY(double Occupancy) { return TimeBottom - TimeHeight * Occupancy; }
  std::string description() const;

  void text(double X, double Y, llvm::StringRef Classes, llvm::StringRef Content, double Dx = 0);
  void line(llvm::StringRef Class, double X1, double Y1, double X2, double Y2);
  void printSteps();
  void printCriticalPoints();
  void printAxes();
  void printRegisterAxis();
  void printTimes();
  void printTimed(const ShownVariant &V, double Shift);
  void printNames();
  void printRail();
  void printSpills();
  void openMark(const ShownVariant &V, double Shift, bool Focusable);

  const KernelReport &K;
  SpillMeasure Measure;
  llvm::StringRef Id;
  std::vector<Step> Steps;
  Marks ByRegs;
  double FirstReg = 0, LastReg = 1;
  PlotScale Times;
  std::map<const ShownVariant *, double> Rail; ///< The rows of variants without a time.
  double RailHeight = 0, RailSpacing = RailStep;
  double MostSpills = 0;
  double SpillTop = 0, SpillBottom = 0, Height = 0;
  std::string Text;
  llvm::raw_string_ostream OS{Text};
};

void TimePlot::placeRegisters() {
  double Least = ByRegs.front()->Regs, Most = ByRegs.back()->Regs;
  if (K.LeastRegs)
    Least = std::min<double>(Least, K.LeastRegs);
  Most = std::max<double>(Most, K.MostRegs);
  double Margin = std::max(2.0, (Most - Least) * 0.04);
  FirstReg = std::max(0.0, Least - Margin);
  LastReg = Most + Margin;
}

void TimePlot::placeTimes() {
  double Least = 1, Most = 1;
  for (const ShownVariant *V : ByRegs) {
    if (!V->hasTime())
      continue;
    Least = std::min(Least, V->Ratio.Low > 0 ? V->Ratio.Low : V->Ratio.Median);
    Most = std::max({Most, V->Ratio.High, V->Ratio.Median});
  }
  // Leave a margin, so that no mark lies on the edge.
  if (Most > LargestLinearTimes * Least) {
    Times = PlotScale::logarithmic(Least / 1.12, Most * 1.08, 9);
    return;
  }
  double Air = std::max(0.004, (Most - Least) * 0.06);
  Times = PlotScale::linear(Least - 2 * Air, Most + Air, 7);
}

void TimePlot::placeRail() {
  std::map<unsigned, unsigned> Rows;
  unsigned Most = 0;
  for (const ShownVariant *V : ByRegs)
    if (!V->hasTime()) {
      Rail[V] = Rows[V->Regs]++;
      Most = std::max(Most, Rows[V->Regs]);
    }
  if (!Most)
    return;
  RailHeight = std::min(RailMost, Most * RailStep);
  RailSpacing = RailHeight / Most;
}

std::string TimePlot::description() const {
  size_t Timed = llvm::count_if(ByRegs, [](auto *V) { return V->hasTime(); }) - 1;
  std::string Said =
      llvm::formatv("{0} variants were timed and {1} carved away, from {2} to {3} "
                    "registers. ",
                    Timed, K.Carved.size(), ByRegs.front()->Regs, ByRegs.back()->Regs)
          .str();
  for (const ShownVariant *V : ByRegs)
    if (V->Chosen)
      Said += "The kernel runs with " + describeVariant(*V, Measure) + ". ";
  return Said + "Every mark is a row of the table below.";
}

void TimePlot::text(double X, double Y, llvm::StringRef Classes, llvm::StringRef Content,
                    double Dx) {
  OS << llvm::formatv("<text x=\"{0:F2}%\" y=\"{1:F1}\" dx=\"{2:F0}\" class=\"{3}\">{4}</text>\n",
                      X, Y, Dx, Classes, markupText(Content));
}

void TimePlot::line(llvm::StringRef Class, double X1, double Y1, double X2, double Y2) {
  OS << llvm::formatv("<line class=\"{0}\" x1=\"{1:F2}%\" y1=\"{2:F1}\" x2=\"{3:F2}%\" "
                      "y2=\"{4:F1}\"/>\n",
                      Class, X1, Y1, X2, Y2);
}

void TimePlot::printSteps() {
  for (const Step &S : Steps) {
    double Y = occupancyY(S.Occupancy), From = x(S.From), To = x(S.To);
    OS << llvm::formatv("<rect class=\"step\" x=\"{0:F2}%\" y=\"{1:F1}\" width=\"{2:F2}%\" "
                        "height=\"{3:F1}\"/>\n",
                        From, Y, To - From, TimeBottom - Y);
    line("step-edge", From, Y, To, Y);
    if (S.Blocks && To - From > 3)
      text(To, Y + 13, To - From > 9 ? "tick end" : "tick end minor",
           std::to_string(S.Blocks) + (To - From <= 16 ? ""
                                       : S.Blocks == 1 ? " block per SM"
                                                       : " blocks per SM"),
           -4);
  }
}

/// Marks the counts at which one more register costs a resident block.
void TimePlot::printCriticalPoints() {
  for (const Step &S : Steps) {
    if (!S.Blocks)
      continue;
    double X = x(S.To), Y = occupancyY(S.Occupancy);
    OS << llvm::formatv("<g class=\"mark point\" tabindex=\"-1\" role=\"img\"><title>critical "
                        "point: up to {0} registers {1} block{2} of an SM, occupancy {3}</title>",
                        unsigned(S.To), S.Blocks, S.Blocks == 1 ? "" : "s",
                        occupancyText(S.Occupancy));
    OS << llvm::formatv("<line class=\"drop\" x1=\"{0:F2}%\" y1=\"{1:F1}\" x2=\"{0:F2}%\" "
                        "y2=\"{2:F1}\"/><circle class=\"hit\" cx=\"{0:F2}%\" cy=\"{3:F1}\" "
                        "r=\"11\"/><use href=\"#m-point\" x=\"{0:F2}%\" y=\"{2:F1}\"/></g>\n",
                        X, Y, TimeBottom, TimeBottom - 4);
  }
}

void TimePlot::printAxes() {
  for (const PlotScale::Tick &T : Times.ticks()) {
    double Y = timeY(T.Value);
    line(std::abs(T.Value - 1) < 1e-9 ? "grid one" : "grid", 0, Y, 100, Y);
    text(0, Y + 4, "tick end", T.Label, -8);
  }
  text(0, 12, "panel",
       Times.isLogarithmic() ? "time / default\xE2\x80\x99s, log" : "time / default\xE2\x80\x99s",
       -44);
  if (Steps.empty())
    return;
  for (double Occupancy : {0.0, 0.25, 0.5, 0.75, 1.0})
    text(100, occupancyY(Occupancy) + 4, "tick start second", percentHtml(Occupancy), 8);
  text(100, 12, "panel end second", "occupancy", 48);
}

void TimePlot::printRegisterAxis() {
  double Span = LastReg - FirstReg, Every = 1;
  for (double Candidate : {2, 4, 8, 16, 32})
    if (Span / Every > 10)
      Every = Candidate;
  bool Minor = false;
  for (int R = int(std::ceil(FirstReg / Every) * Every); R <= LastReg;
       R += int(Every), Minor = !Minor) {
    line("notch", x(R), SpillBottom, x(R), SpillBottom + 5);
    text(x(R), SpillBottom + 18, Minor ? "tick middle minor" : "tick middle", std::to_string(R));
  }
  line("axis", 0, SpillBottom, 100, SpillBottom);
  text(50, SpillBottom + 36, "panel middle", "registers per thread");
}

void TimePlot::openMark(const ShownVariant &V, double Shift, bool Focusable) {
  OS << "<g class=\"mark " << markClasses(V) << "\"";
  if (Focusable)
    OS << " tabindex=\"" << (V.Chosen ? 0 : -1) << "\" role=\"img\"";
  if (Shift != 0)
    OS << llvm::formatv(" transform=\"translate({0:F1})\"", Shift);
  OS << "><title>" << markupText(describeVariant(V, Measure)) << "</title>";
}

void TimePlot::printTimed(const ShownVariant &V, double Shift) {
  double X = x(V.Regs), Y = timeY(V.Ratio.Median);
  openMark(V, Shift, true);
  OS << llvm::formatv("<circle class=\"hit\" cx=\"{0:F2}%\" cy=\"{1:F1}\" r=\"11\"/>", X, Y);
  if (V.Fate != VariantFate::Default && V.Ratio.High > 0) {
    double Low = timeY(V.Ratio.Low), High = timeY(V.Ratio.High);
    line("bar", X, High, X, Low);
    for (double End : {Low, High})
      OS << llvm::formatv("<svg class=\"cap-end\" x=\"{0:F2}%\" y=\"{1:F1}\"><path class=\"bar\" "
                          "d=\"M-3 0H3\"/></svg>",
                          X, End);
  }
  OS << glyph(V, X, Y) << "</g>\n";
}

/// Draws variants with the same register count beside each other.
void TimePlot::printTimes() {
  for (size_t I = 0; I < ByRegs.size();) {
    Marks Same;
    unsigned Regs = ByRegs[I]->Regs;
    for (; I < ByRegs.size() && ByRegs[I]->Regs == Regs; ++I)
      if (ByRegs[I]->hasTime())
        Same.push_back(ByRegs[I]);
    double Apart = Same.size() > 1 ? std::min(8.0, 26.0 / (Same.size() - 1)) : 0;
    for (size_t J = 0; J < Same.size(); ++J)
      printTimed(*Same[J], Apart * (J - (Same.size() - 1) / 2.0));
  }
}

/// Prints the names of the default and of the chosen variant, apart from each other.
void TimePlot::printNames() {
  bool Slower = llvm::any_of(ByRegs, [](auto *V) { return V->Chosen && V->Ratio.Median > 1; });
  for (const ShownVariant *V : ByRegs) {
    bool IsDefault = V->Fate == VariantFate::Default;
    if (!V->hasTime() || (!V->Chosen && !IsDefault))
      continue;
    bool AtRight = x(V->Regs) > 55;
    std::string Name = V->Name;
    if (!IsDefault)
      Name += " " + fixedText(V->Ratio.Median, 3);
    text(x(V->Regs), timeY(V->Ratio.Median) + (IsDefault != Slower ? -13 : 22),
         AtRight ? "name end" : "name start", Name, AtRight ? 6 : -6);
  }
}

void TimePlot::printRail() {
  if (Rail.empty())
    return;
  text(0, RailTop - 8, "panel", "not timed", -44);
  for (const ShownVariant *V : ByRegs) {
    auto Row = Rail.find(V);
    if (Row == Rail.end())
      continue;
    double Y = RailTop + RailSpacing * (Row->second + 0.5);
    openMark(*V, 0, true);
    OS << llvm::formatv("<circle class=\"hit\" cx=\"{0:F2}%\" cy=\"{1:F1}\" r=\"{2:F1}\"/>",
                        x(V->Regs), Y, std::min(11.0, RailSpacing / 2 + 2))
       << glyph(*V, x(V->Regs), Y) << "</g>\n";
  }
}

/// Draws the spills. The table has the same values, so these marks are hidden from screen readers.
void TimePlot::printSpills() {
  llvm::StringRef Title =
      Measure == SpillMeasure::LocalBytes   ? "local memory traffic, bytes a thread"
      : Measure == SpillMeasure::SpillBytes ? "spills, bytes of stores and loads in the code"
                                            : "spills: not known with --carve-scope=file";
  if (MostSpills <= 0) {
    text(0, SpillTop - 14, "panel", Measure == SpillMeasure::Unknown ? Title : "no variant spills",
         -44);
    return;
  }
  text(0, SpillTop - 14, "panel", Title, -44);
  PlotScale Scale = PlotScale::linear(0, MostSpills, 4);
  auto SpillY = [&](double Bytes) { return SpillBottom - SpillHeight * Scale.place(Bytes); };
  for (const PlotScale::Tick &T : Scale.ticks()) {
    line("grid", 0, SpillY(T.Value), 100, SpillY(T.Value));
    text(0, SpillY(T.Value) + 4, "tick end", T.Label, -8);
  }
  OS << "<g class=\"spills\" aria-hidden=\"true\">\n";
  std::map<unsigned, unsigned> Count, Placed;
  for (const ShownVariant *V : ByRegs)
    ++Count[V->Regs];
  for (const ShownVariant *V : ByRegs) {
    double Apart = std::min(5.0, 26.0 / Count[V->Regs]);
    double Shift = Apart * (Placed[V->Regs]++ - (Count[V->Regs] - 1) / 2.0);
    double X = x(V->Regs), Y = SpillY(spillOf(*V, Measure));
    openMark(*V, Shift, false);
    line("stem", X, SpillBottom, X, Y);
    OS << llvm::formatv("<circle class=\"tip\" cx=\"{0:F2}%\" cy=\"{1:F1}\" r=\"2.5\"/></g>\n", X,
                        Y);
  }
  OS << "</g>\n";
}

std::string TimePlot::print() {
  OS << llvm::formatv("<svg class=\"plot\" id=\"{0}\" height=\"{1:F0}\" role=\"group\" "
                      "aria-labelledby=\"{0}-t\" aria-describedby=\"{0}-d\">\n"
                      "<title id=\"{0}-t\">Time against registers</title>\n"
                      "<desc id=\"{0}-d\">{2}</desc>\n",
                      Id, Height, markupText(description()));
  printSteps();
  printAxes();
  line("axis", 0, TimeBottom, 100, TimeBottom);
  printCriticalPoints();
  printRail();
  printTimes();
  printNames();
  printSpills();
  printRegisterAxis();
  OS << "</svg>\n";
  return std::move(Text);
}

} // namespace

std::string carve::printTimePlot(const KernelReport &K, llvm::ArrayRef<ShownVariant> Variants,
                                 SpillMeasure Measure, llvm::StringRef Id) {
  return TimePlot(K, Variants, Measure, Id).print();
}
