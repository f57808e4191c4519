#include "Report/HtmlPlanePlot.h"

#include "Report/HtmlText.h"
#include "Report/PlotScale.h"
#include "Search/Pareto.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace carve;

namespace {

constexpr double PlaneTop = 28, PlaneHeight = 264, PlaneBottom = PlaneTop + PlaneHeight;
/// An axis that spans more than this factor is logarithmic.
constexpr double LargestLinearMetrics = 10;

/// The plot while it is printed.
class PlanePlot {
public:
  PlanePlot(llvm::ArrayRef<ShownVariant> Variants, SpillMeasure Measure, llvm::StringRef Id)
      : Measure(Measure), Id(Id) {
    for (const ShownVariant &V : Variants)
      if (V.hasMetrics())
        Points.push_back(&V);
    for (const ShownVariant *P : Points) {
      BestX = std::max(BestX, P->Efficiency);
      BestY = std::max(BestY, P->Utilization);
    }
    // Timed variants are drawn above the others.
    llvm::stable_sort(Points, [](auto *A, auto *B) {
      return (A->Fate == VariantFate::Carved) > (B->Fate == VariantFate::Carved);
    });
    std::vector<std::vector<double>> Coordinates;
    for (const ShownVariant *P : Points)
      Coordinates.push_back({P->Efficiency, P->Utilization});
    for (size_t I : paretoFront(Coordinates, 0))
      Front.push_back(Points[I]);
    llvm::stable_sort(Front, [](auto *A, auto *B) { return A->Efficiency < B->Efficiency; });
    X = axis(&ShownVariant::Efficiency, BestX);
    Y = axis(&ShownVariant::Utilization, BestY);
  }

  std::string print();

private:
  PlotScale axis(double ShownVariant::*Which, double Best) const {
    double Least = 1;
    for (const ShownVariant *P : Points)
      Least = std::min(Least, P->*Which / Best);
    double Air = std::max(0.01, (1 - Least) * 0.06);
    if (Least * LargestLinearMetrics < 1)
      return PlotScale::logarithmic(Least / 1.15, 1.15, 6);
    return PlotScale::linear(Least - Air, 1 + Air, 5);
  }
  double x(const ShownVariant &V) const { return 100 * X.place(V.Efficiency / BestX); }
  double y(const ShownVariant &V) const {
    return PlaneBottom - PlaneHeight * Y.place(V.Utilization / BestY);
  }
  std::string description() const;
  void printAxes();
  void printFront();
  void printPoint(const ShownVariant &V);
  void printName(const ShownVariant &V);

  SpillMeasure Measure;
  llvm::StringRef Id;
  std::vector<const ShownVariant *> Points, Front;
  double BestX = 0, BestY = 0;
  PlotScale X, Y;
  std::string Text;
  llvm::raw_string_ostream OS{Text};
};

std::string PlanePlot::description() const {
  auto Names = llvm::map_range(Front, [](auto *V) { return V->Name; });
  return llvm::formatv("{0} settings by their static metrics. On the Pareto front: {1}.",
                       Points.size(), llvm::join(Names, ", "))
      .str();
}

void PlanePlot::printAxes() {
  auto Line = [&](llvm::StringRef Class, double X1, double Y1, double X2, double Y2) {
    OS << llvm::formatv("<line class=\"{0}\" x1=\"{1:F2}%\" y1=\"{2:F1}\" x2=\"{3:F2}%\" "
                        "y2=\"{4:F1}\"/>\n",
                        Class, X1, Y1, X2, Y2);
  };
  auto Text = [&](double AtX, double AtY, llvm::StringRef Class, double Dx, llvm::StringRef Said) {
    OS << llvm::formatv("<text x=\"{0:F2}%\" y=\"{1:F1}\" dx=\"{2:F0}\" class=\"{3}\">{4}</text>\n",
                        AtX, AtY, Dx, Class, markupText(Said));
  };
  for (const PlotScale::Tick &T : Y.ticks()) {
    double At = PlaneBottom - PlaneHeight * Y.place(T.Value);
    Line("grid", 0, At, 100, At);
    Text(0, At + 4, "tick end", -8, T.Label);
  }
  bool Minor = false;
  for (const PlotScale::Tick &T : X.ticks()) {
    double At = 100 * X.place(T.Value);
    Line("grid", At, PlaneTop, At, PlaneBottom);
    Text(At, PlaneBottom + 18, Minor ? "tick middle minor" : "tick middle", 0, T.Label);
    Minor = !Minor;
  }
  Line("axis", 0, PlaneBottom, 100, PlaneBottom);
  Text(0, 12, "panel", -44, Y.isLogarithmic() ? "utilization / best, log" : "utilization / best");
  Text(50, PlaneBottom + 36, "panel middle", 0,
       X.isLogarithmic() ? "efficiency / best, log" : "efficiency / best");
}

void PlanePlot::printFront() {
  for (size_t I = 1; I < Front.size(); ++I)
    OS << llvm::formatv("<line class=\"front\" x1=\"{0:F2}%\" y1=\"{1:F1}\" x2=\"{2:F2}%\" "
                        "y2=\"{3:F1}\"/>\n",
                        x(*Front[I - 1]), y(*Front[I - 1]), x(*Front[I]), y(*Front[I]));
}

void PlanePlot::printPoint(const ShownVariant &V) {
  std::string Said = describeVariant(V, Measure) + "; efficiency " +
                     fixedText(V.Efficiency / BestX, 3) + " and utilization " +
                     fixedText(V.Utilization / BestY, 3) + " of the best";
  if (llvm::is_contained(Front, &V))
    Said += "; on the Pareto front";
  OS << "<g class=\"mark " << markClasses(V) << "\" role=\"img\" tabindex=\"" << (V.Chosen ? 0 : -1)
     << "\"><title>" << markupText(Said) << "</title>"
     << llvm::formatv("<circle class=\"hit\" cx=\"{0:F2}%\" cy=\"{1:F1}\" r=\"11\"/>", x(V), y(V))
     << glyph(V, x(V), y(V)) << "</g>\n";
}

void PlanePlot::printName(const ShownVariant &V) {
  if (!V.Chosen && V.Fate != VariantFate::Default)
    return;
  // Place the name away from the other name.
  bool Above = llvm::all_of(Points, [&](auto *Other) {
    bool Named = Other->Chosen || Other->Fate == VariantFate::Default;
    return !Named || Other == &V || y(*Other) >= y(V);
  });
  bool AtRight = x(V) > 55;
  OS << llvm::formatv("<text x=\"{0:F2}%\" y=\"{1:F1}\" dx=\"{2}\" class=\"name {3}\">{4}</text>\n",
                      x(V), y(V) + (Above ? -13 : 22), AtRight ? 6 : -6, AtRight ? "end" : "start",
                      markupText(V.Name));
}

std::string PlanePlot::print() {
  if (Points.size() < 2)
    return "";
  OS << llvm::formatv("<svg class=\"plot plane\" id=\"{0}\" height=\"{1:F0}\" role=\"group\" "
                      "aria-labelledby=\"{0}-t\" aria-describedby=\"{0}-d\">\n"
                      "<title id=\"{0}-t\">Efficiency against utilization</title>\n"
                      "<desc id=\"{0}-d\">{2}</desc>\n",
                      Id, PlaneBottom + 42, markupText(description()));
  printAxes();
  printFront();
  for (const ShownVariant *V : Points)
    printPoint(*V);
  for (const ShownVariant *V : Points)
    printName(*V);
  OS << "</svg>\n";
  return std::move(Text);
}

} // namespace

std::string carve::printPlanePlot(llvm::ArrayRef<ShownVariant> Variants, SpillMeasure Measure,
                                  llvm::StringRef Id) {
  return PlanePlot(Variants, Measure, Id).print();
}
