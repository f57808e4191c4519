#include "Report/PlotScale.h"

#include "gtest/gtest.h"

using namespace carve;

static std::string labels(const PlotScale &S) {
  std::string Text;
  for (const PlotScale::Tick &T : S.ticks())
    Text += (Text.empty() ? "" : " ") + T.Label;
  return Text;
}

TEST(PlotScale, linearTicks_areRoundAndWithin) {
  PlotScale S = PlotScale::linear(0.52, 1.04, 6);
  EXPECT_FALSE(S.isLogarithmic());
  EXPECT_EQ(labels(S), "0.6 0.7 0.8 0.9 1");
  EXPECT_EQ(S.place(0.52), 0);
  EXPECT_DOUBLE_EQ(S.place(0.78), 0.5);
  EXPECT_EQ(S.place(7), 1);
  EXPECT_EQ(labels(PlotScale::linear(0, 6272, 4)), "0 2000 4000 6000");
  EXPECT_EQ(labels(PlotScale::linear(-0.1, 0.1, 2)), "-0.1 0 0.1");
}

TEST(PlotScale, logarithmicScale_placesFactors) {
  PlotScale S = PlotScale::logarithmic(0.5, 8, 6);
  EXPECT_TRUE(S.isLogarithmic());
  EXPECT_DOUBLE_EQ(S.place(2), 0.5);
  EXPECT_EQ(labels(S), "0.5 1 2 5");
  EXPECT_EQ(labels(PlotScale::logarithmic(0.01, 1, 3)), "0.01 0.1 1");
  EXPECT_LE(PlotScale::logarithmic(1e-12, 1, 5).ticks().size(), 5u);
}

/// A single value has an axis, too.
TEST(PlotScale, noSpan_isNoDivisionByZero) {
  for (double Value : {0.0, 1.0, 40.0}) {
    EXPECT_EQ(PlotScale::linear(Value, Value, 5).place(Value), 0) << Value;
    EXPECT_FALSE(PlotScale::linear(Value, Value, 5).ticks().empty()) << Value;
  }
  EXPECT_EQ(PlotScale::logarithmic(2, 2, 5).place(2), 0);
}
