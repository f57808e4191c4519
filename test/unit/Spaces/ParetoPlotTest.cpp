#include "Spaces/ParetoPlot.h"

#include "llvm/ADT/StringRef.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace carve;

namespace {

PlottedPoint point(double Efficiency, double Utilization, std::string Label, bool Front = false) {
  PlottedPoint P;
  P.Efficiency = Efficiency;
  P.Utilization = Utilization;
  P.Label = std::move(Label);
  P.Front = Front;
  return P;
}

std::string plot(std::vector<PlottedPoint> Points) {
  return paretoPlotSvg(Points, {"Matrix multiplication", "", "mm"});
}

bool has(const std::string &Text, llvm::StringRef Part) {
  return llvm::StringRef(Text).contains(Part);
}

} // namespace

TEST(ParetoPlot, plot_hasTitleAndDescription) {
  PlottedPoint Best = point(1, 4, "TILE=16", true);
  Best.Best = true;
  std::string Svg = plot({Best, point(0.5, 2, "TILE=8"), point(2, 1, "TILE=32", true)});
  EXPECT_TRUE(has(Svg, "role=\"img\" aria-labelledby=\"mm-title mm-desc\""));
  EXPECT_TRUE(has(Svg, "<title id=\"mm-title\">Matrix multiplication</title>"));
  EXPECT_TRUE(has(Svg, "<desc id=\"mm-desc\">3 configurations by efficiency and utilization, 2 of "
                       "them on the Pareto front; the fastest is TILE=16, on the front</desc>"));
  EXPECT_TRUE(has(Svg, "prefers-color-scheme:dark"));
}

TEST(ParetoPlot, points_areRelativeToTheBest) {
  std::string Svg = plot({point(2e-9, 400, "a", true), point(1e-9, 100, "b")});
  EXPECT_TRUE(has(Svg, "<title>a</title><circle class=\"front\" cx=\"660.0\" cy=\"56.0\""));
  EXPECT_TRUE(has(Svg, "<title>b</title><circle class=\"cut\" cx=\"365.0\" cy=\"284.0\""));
}

TEST(ParetoPlot, wideAxis_isLogarithmic) {
  // The point is 1/10 of two decades from the right; on a linear axis it would be at the left edge.
  std::string Svg = plot({point(1, 1, "a"), point(0.1, 1, "b"), point(0.01, 1, "c")});
  EXPECT_TRUE(has(Svg, "<title>b</title><circle class=\"cut\" cx=\"365.0\""));
  EXPECT_TRUE(has(Svg, "<title>c</title><circle class=\"cut\" cx=\"70.0\""));
}

TEST(ParetoPlot, bestDefaultAndTimes_areMarked) {
  PlottedPoint Best = point(1, 1, "fast", true), Default = point(0.9, 0.8, "plain");
  Best.Best = Default.Default = true;
  Best.Time = 0.0125;
  std::string Svg = plot({Best, Default});
  EXPECT_TRUE(has(Svg, "<title>fast, 0.0125 s</title>"));
  EXPECT_TRUE(has(Svg, "<circle class=\"best\" cx=\"660.0\""));
  EXPECT_TRUE(has(Svg, "<rect class=\"default\" x=\"593.0\""));
  EXPECT_TRUE(has(Svg, "class=\"best-label\" text-anchor=\"end\">fast</text>"));
}

TEST(ParetoPlot, front_isOneLineFromLeftToRight) {
  std::string Svg =
      plot({point(1, 0.5, "r", true), point(0.5, 1, "l", true), point(0.2, 0.2, "x")});
  EXPECT_TRUE(has(Svg, "<path class=\"line\" d=\"M365.0 56.0L660.0 208.0\"/>"));
}

TEST(ParetoPlot, labels_areEscapedAndNonFinitePointsLeftOut) {
  std::string Svg = plot({point(1, 1, "A<B & \"C\""), point(NAN, 1, "nan"),
                          point(1, INFINITY, "inf"), point(0, 0, "zero")});
  EXPECT_TRUE(has(Svg, "A&lt;B &amp; &quot;C&quot;"));
  EXPECT_FALSE(has(Svg, "<title>nan"));
  EXPECT_FALSE(has(Svg, "<title>inf"));
  EXPECT_TRUE(has(Svg, "<title>zero</title><circle class=\"cut\" cx=\"70.0\" cy=\"360.0\""));
  EXPECT_TRUE(has(plot({}), "0 configurations"));
}
