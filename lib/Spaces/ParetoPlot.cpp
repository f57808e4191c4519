#include "Spaces/ParetoPlot.h"
#include "Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace carve;

namespace {

constexpr double Width = 680, Height = 440;
constexpr double Left = 70, Right = 660, Top = 56, Bottom = 360;

/// The colours have a contrast of at least 3:1 against their backgrounds. The shapes differ as
/// well, so that nothing depends on colour alone.
constexpr char Style[] = R"(<style>
.carve-plot text{font:13px system-ui,sans-serif;fill:#222}
.carve-plot .title{font-size:16px;font-weight:600}
.carve-plot .axis{stroke:#555;fill:none}
.carve-plot .grid{stroke:#ddd;fill:none}
.carve-plot .cut{fill:#767676}
.carve-plot .front{fill:#0a66c2}
.carve-plot .line{stroke:#0a66c2;fill:none;stroke-dasharray:4 3}
.carve-plot .best{fill:none;stroke:#c2410c;stroke-width:3}
.carve-plot .default{fill:none;stroke:#222;stroke-width:2}
@media (prefers-color-scheme:dark){
.carve-plot text{fill:#eee}
.carve-plot .axis{stroke:#aaa}
.carve-plot .grid{stroke:#444}
.carve-plot .cut{fill:#9a9a9a}
.carve-plot .front{fill:#6cb2ff}
.carve-plot .line{stroke:#6cb2ff}
.carve-plot .best{stroke:#ff9a5c}
.carve-plot .default{stroke:#eee}
}
</style>
)";

std::string number(double X) { return llvm::formatv("{0:F1}", X).str(); }

/// Maps values relative to the largest to a line from Low to 1.
class Axis {
public:
  explicit Axis(const std::vector<double> &Values) {
    for (double V : Values)
      Largest = std::max(Largest, V);
    if (Largest <= 0)
      Largest = 1;
    double Least = 1;
    for (double V : Values)
      if (V > 0)
        Least = std::min(Least, V / Largest);
    if (Least < 0.1)
      Low = std::pow(10, std::floor(std::log10(Least)));
  }

  /// Returns the position of \p Value on the axis, 0 to 1.
  double place(double Value) const {
    double Relative = std::clamp(Value / Largest, Low, 1.0);
    return Low > 0 ? 1 - std::log10(Relative) / std::log10(Low) : Relative;
  }

  std::vector<double> ticks() const {
    if (Low <= 0)
      return {0, 0.25, 0.5, 0.75, 1};
    std::vector<double> Ticks;
    const int Decades = int(std::round(-std::log10(Low)));
    const int Step = std::max(1, (Decades + 5) / 6);
    for (int Decade = 0; Decade <= Decades; Decade += Step)
      Ticks.push_back(std::pow(10, -Decade));
    return Ticks;
  }

  double largest() const { return Largest; }

private:
  double Largest = 0;
  double Low = 0; ///< If above 0, the axis is logarithmic.
};

/// Prints one picture.
class Plot {
public:
  Plot(llvm::ArrayRef<PlottedPoint> All, const PlotLabels &Labels) : Labels(Labels) {
    for (const PlottedPoint &P : All)
      if (std::isfinite(P.Efficiency) && std::isfinite(P.Utilization))
        Points.push_back(P);
    X = Axis(values(&PlottedPoint::Efficiency));
    Y = Axis(values(&PlottedPoint::Utilization));
  }

  std::string print() {
    OS << llvm::formatv(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" "
        "class=\"carve-plot\" role=\"img\" aria-labelledby=\"{2}-title {2}-desc\">\n",
        Width, Height, markupText(Labels.Id));
    OS << llvm::formatv("<title id=\"{0}-title\">{1}</title>\n<desc id=\"{0}-desc\">{2}</desc>\n",
                        markupText(Labels.Id), markupText(Labels.Title), markupText(description()));
    OS << Style;
    text(Left, 28, "title", "start", Labels.Title);
    printAxes();
    printFront();
    for (const PlottedPoint &P : Points)
      printPoint(P);
    printLegend();
    OS << "</svg>\n";
    return std::move(Text);
  }

private:
  std::vector<double> values(double PlottedPoint::*Which) const {
    std::vector<double> Values;
    for (const PlottedPoint &P : Points)
      Values.push_back(P.*Which);
    return Values;
  }

  double x(const PlottedPoint &P) const { return Left + (Right - Left) * X.place(P.Efficiency); }
  double y(const PlottedPoint &P) const { return Bottom - (Bottom - Top) * Y.place(P.Utilization); }

  std::string description() const {
    if (!Labels.Description.empty())
      return Labels.Description;
    std::string Said =
        llvm::formatv("{0} configurations by efficiency and utilization, {1} of them on the Pareto "
                      "front",
                      Points.size(), llvm::count_if(Points, [](auto &P) { return P.Front; }))
            .str();
    for (const PlottedPoint &P : Points)
      if (P.Best)
        Said += "; the fastest is " + P.Label + (P.Front ? ", on the front" : ", not on the front");
    return Said;
  }

  void text(double AtX, double AtY, llvm::StringRef Class, llvm::StringRef Anchor,
            llvm::StringRef Content) {
    OS << llvm::formatv("<text x=\"{0}\" y=\"{1}\" class=\"{2}\" text-anchor=\"{3}\">{4}</text>\n",
                        number(AtX), number(AtY), Class, Anchor, markupText(Content));
  }

  void line(llvm::StringRef Class, double X1, double Y1, double X2, double Y2) {
    OS << llvm::formatv("<path class=\"{0}\" d=\"M{1} {2}L{3} {4}\"/>\n", Class, number(X1),
                        number(Y1), number(X2), number(Y2));
  }

  void printAxes() {
    for (double Tick : X.ticks()) {
      double At = Left + (Right - Left) * X.place(Tick * X.largest());
      line("grid", At, Top, At, Bottom);
      text(At, Bottom + 18, "tick", "middle", llvm::formatv("{0}", llvm::format("%g", Tick)).str());
    }
    for (double Tick : Y.ticks()) {
      double At = Bottom - (Bottom - Top) * Y.place(Tick * Y.largest());
      line("grid", Left, At, Right, At);
      text(Left - 8, At + 4, "tick", "end", llvm::formatv("{0}", llvm::format("%g", Tick)).str());
    }
    line("axis", Left, Top, Left, Bottom);
    line("axis", Left, Bottom, Right, Bottom);
    text((Left + Right) / 2, Bottom + 40, "label", "middle", "efficiency, relative to the best");
    OS << llvm::formatv("<text transform=\"translate(20 {0}) rotate(-90)\" text-anchor=\"middle\">"
                        "utilization, relative to the best</text>\n",
                        number((Top + Bottom) / 2));
  }

  /// Draws the front from left to right, that is, by rising efficiency.
  void printFront() {
    std::vector<std::pair<double, double>> Places;
    for (const PlottedPoint &P : Points)
      if (P.Front)
        Places.push_back({x(P), y(P)});
    llvm::sort(Places);
    if (Places.size() < 2)
      return;
    OS << "<path class=\"line\" d=\"";
    for (size_t I = 0; I < Places.size(); ++I)
      OS << (I ? "L" : "M") << number(Places[I].first) << " " << number(Places[I].second);
    OS << "\"/>\n";
  }

  void printPoint(const PlottedPoint &P) {
    std::string Said = P.Label;
    if (P.Time)
      Said += llvm::formatv(", {0} s", llvm::format("%.4g", *P.Time)).str();
    OS << "<g><title>" << markupText(Said) << "</title>";
    OS << llvm::formatv("<circle class=\"{0}\" cx=\"{1}\" cy=\"{2}\" r=\"{3}\"/>",
                        P.Front ? "front" : "cut", number(x(P)), number(y(P)), P.Front ? 5 : 3);
    if (P.Default)
      OS << llvm::formatv(
          "<rect class=\"default\" x=\"{0}\" y=\"{1}\" width=\"16\" height=\"16\"/>",
          number(x(P) - 8), number(y(P) - 8));
    if (P.Best)
      OS << llvm::formatv("<circle class=\"best\" cx=\"{0}\" cy=\"{1}\" r=\"11\"/>", number(x(P)),
                          number(y(P)));
    OS << "</g>\n";
    if (P.Best) {
      bool AtRight = x(P) > (Left + Right) / 2;
      text(x(P) + (AtRight ? -16 : 16), y(P) + 4, "best-label", AtRight ? "end" : "start", P.Label);
    }
  }

  void printLegend() {
    double Y = Height - 14;
    auto Entry = [&](double At, llvm::StringRef Shape, llvm::StringRef Name) {
      OS << llvm::formatv("<g transform=\"translate({0} {1})\">{2}</g>\n", number(At),
                          number(Y - 4), Shape);
      text(At + 16, Y, "legend", "start", Name);
    };
    Entry(Left, "<circle class=\"front\" r=\"5\"/>", "Pareto front");
    Entry(Left + 130, "<circle class=\"cut\" r=\"3\"/>", "carved away");
    Entry(Left + 260, "<circle class=\"best\" r=\"9\"/>", "fastest");
    Entry(Left + 370, "<rect class=\"default\" x=\"-8\" y=\"-8\" width=\"16\" height=\"16\"/>",
          "default");
  }

  const PlotLabels &Labels;
  std::vector<PlottedPoint> Points;
  Axis X{{}}, Y{{}};
  std::string Text;
  llvm::raw_string_ostream OS{Text};
};

} // namespace

std::string carve::paretoPlotSvg(llvm::ArrayRef<PlottedPoint> Points, const PlotLabels &Labels) {
  return Plot(Points, Labels).print();
}
