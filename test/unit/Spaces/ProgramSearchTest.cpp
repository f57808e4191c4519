#include "Spaces/ProgramSearch.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

/// Returns a valid configuration that was measured at \p Ratio of the first one's cost.
SearchedConfiguration measured(const std::string &Value, double Ratio, bool Selected) {
  SearchedConfiguration C;
  C.Macros.Macros = {{"A", Value}};
  C.CompileS = 1;
  C.BuildS = 2;
  C.Times.Costs = {Ratio * 100};
  C.Times.Screened = {Ratio};
  C.Times.FirstWallS = 0.5;
  C.Verdict.By = Selected ? CarvedBy::Nothing : CarvedBy::Pareto;
  return C;
}

} // namespace

TEST(ProgramSearch, summary_isThePapersRow) {
  SearchRecord R;
  R.Configurations = {measured("1", 1, true), measured("2", 0.5, false), measured("3", 0.625, true),
                      measured("4", 2, false)};
  R.Configurations.emplace_back();
  R.Configurations.back().Invalid = "does not compile";
  R.Configurations.back().Verdict.By = CarvedBy::Invalid;
  std::optional<SearchSummary> S = summaryOf(R);
  ASSERT_TRUE(S);
  EXPECT_EQ(S->Valid, 4u);
  EXPECT_EQ(S->Selected, 2u);
  EXPECT_DOUBLE_EQ(S->SpaceReduction, 0.5);
  EXPECT_DOUBLE_EQ(S->AllRunS, 2);
  EXPECT_DOUBLE_EQ(S->SelectedRunS, 1);
  EXPECT_DOUBLE_EQ(S->AllEvaluationS, 10);
  // Two are built and run, and all four are compiled for their metrics.
  EXPECT_DOUBLE_EQ(S->SelectedEvaluationS, 9);
  EXPECT_DOUBLE_EQ(S->SelectedOverBest, 0.5 / 0.625);
  EXPECT_EQ(S->Best, 1u);
  EXPECT_EQ(S->BestSelected, 2u);
  // The performances are 1, 2, 1.6 and 0.5. The best of two is 2 in 3 of 6 draws, 1.6 in 2, and 1
  // in 1.
  EXPECT_NEAR(S->RandomOverBest, (3 * 2 + 2 * 1.6 + 1) / 6 / 2, 1e-12);
}

TEST(ProgramSearch, unmeasuredConfiguration_givesNoSummary) {
  SearchRecord R;
  R.Configurations = {measured("1", 1, true), measured("2", 0.5, false)};
  R.Configurations[1].Times = {};
  EXPECT_FALSE(summaryOf(R));
}

TEST(ProgramSearch, failingConfiguration_gainsNothing) {
  SearchRecord R;
  R.Configurations = {measured("1", 1, true), measured("2", 0.1, true)};
  R.Configurations[1].Times.Fault = "the output differs";
  std::optional<SearchSummary> S = summaryOf(R);
  ASSERT_TRUE(S);
  EXPECT_EQ(S->Best, 0u);
  EXPECT_DOUBLE_EQ(S->SelectedOverBest, 1);
}

TEST(ProgramSearch, confirmedRatios_precedeScreenedOnes) {
  ConfigurationTimes T;
  T.Screened = {0.4};
  EXPECT_DOUBLE_EQ(T.ratio(), 0.4);
  T.Confirmed = {0.6, 0.5, 0.7};
  EXPECT_DOUBLE_EQ(T.ratio(), 0.6);
}
