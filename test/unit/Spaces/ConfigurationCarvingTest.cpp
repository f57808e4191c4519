#include "Spaces/ConfigurationCarving.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

/// Returns the verdict of each in one word.
std::vector<std::string> verdicts(llvm::ArrayRef<ConfigurationCost> Costs,
                                  const SpaceCarving &Limits) {
  std::vector<std::string> Names;
  for (const CarvingVerdict &V : carveConfigurations(Costs, Limits))
    Names.push_back(nameOf(V.By));
  return Names;
}

using Words = std::vector<std::string>;

} // namespace

TEST(ConfigurationCarving, invalidConfigurations_haveReasonsAndCarveNothing) {
  // The invalid configuration would dominate all others.
  std::vector<ConfigurationCost> Costs = {{"a", "does not compile", 9, 9}, {"b", "", 1, 1}};
  auto Verdicts = carveConfigurations(Costs, {});
  EXPECT_EQ(Verdicts[0].By, CarvedBy::Invalid);
  EXPECT_EQ(Verdicts[0].Reason, "does not compile");
  EXPECT_EQ(Verdicts[1].By, CarvedBy::Nothing);
  EXPECT_TRUE(Verdicts[1].Front);
}

TEST(ConfigurationCarving, dominatedPoint_namesWhatItYieldsTo) {
  std::vector<ConfigurationCost> Costs = {
      {"fast", "", 10, 2}, {"busy", "", 2, 10}, {"middle", "", 6, 6}, {"beaten", "", 5, 5}};
  SpaceCarving Limits;
  Limits.Margin = 0.05;
  auto Verdicts = carveConfigurations(Costs, Limits);
  EXPECT_EQ(verdicts(Costs, Limits), (Words{"selected", "selected", "selected", "pareto"}));
  EXPECT_NE(Verdicts[3].Reason.find("where middle has"), std::string::npos) << Verdicts[3].Reason;
  EXPECT_FALSE(Verdicts[3].Front);
}

TEST(ConfigurationCarving, pointsWithinMargin_areKept) {
  std::vector<ConfigurationCost> Costs = {{"best", "", 100, 100}, {"near", "", 97, 97}};
  SpaceCarving Limits;
  Limits.Margin = 0.05;
  EXPECT_EQ(verdicts(Costs, Limits), (Words{"selected", "selected"}));
  EXPECT_FALSE(carveConfigurations(Costs, Limits)[1].Front);
  Limits.Margin = 0.01;
  EXPECT_EQ(verdicts(Costs, Limits), (Words{"selected", "pareto"}));
}

TEST(ConfigurationCarving, thresholds_areSharesOfTheBest) {
  // Neither point is dominated.
  std::vector<ConfigurationCost> Costs = {{"efficient", "", 100, 1}, {"busy", "", 9, 1000}};
  SpaceCarving Limits;
  Limits.LeastEfficiency = 0.1;
  Limits.LeastUtilization = 0;
  EXPECT_EQ(verdicts(Costs, Limits), (Words{"selected", "threshold"}));
  Limits.LeastEfficiency = 0.05;
  EXPECT_EQ(verdicts(Costs, Limits), (Words{"selected", "selected"}));
  Limits.LeastUtilization = 0.01;
  EXPECT_EQ(verdicts(Costs, Limits), (Words{"threshold", "selected"}));
}

TEST(ConfigurationCarving, cluster_keepsItsFirst) {
  std::vector<ConfigurationCost> Costs = {{"a", "", 5, 5}, {"b", "", 5.001, 5}, {"c", "", 6, 4}};
  auto Verdicts = carveConfigurations(Costs, {});
  EXPECT_EQ(verdicts(Costs, {}), (Words{"selected", "cluster", "selected"}));
  EXPECT_EQ(Verdicts[1].Reason, "the same metrics as a");
  SpaceCarving NoClusters;
  NoClusters.ClusterWidth = -1;
  EXPECT_EQ(verdicts(Costs, NoClusters), (Words{"selected", "selected", "selected"}));
}

TEST(ConfigurationCarving, budget_keepsTheFrontSpread) {
  // The points are a front from (1, 64) to (64, 1), and a point within the margin of its middle.
  std::vector<ConfigurationCost> Costs;
  for (double E = 1; E <= 64; E *= 2)
    Costs.push_back({"e" + std::to_string(int(E)), "", E, 64 / E});
  Costs.push_back({"near", "", 7.9, 7.9});
  SpaceCarving Limits;
  Limits.LeastEfficiency = Limits.LeastUtilization = 0;
  Limits.MaxSelected = 3;
  std::vector<CarvingVerdict> Verdicts = carveConfigurations(Costs, Limits);
  EXPECT_EQ(llvm::count_if(Verdicts, [](const auto &V) { return V.By == CarvedBy::Nothing; }), 3);
  EXPECT_EQ(Verdicts.front().By, CarvedBy::Nothing);
  EXPECT_EQ(Verdicts[6].By, CarvedBy::Nothing);
  EXPECT_EQ(Verdicts.back().By, CarvedBy::Budget);
  EXPECT_EQ(Verdicts.back().Reason, "beyond the 3 that are timed");
}

TEST(ConfigurationCarving, configurationWithoutMetrics_isNeverCut) {
  std::vector<ConfigurationCost> Costs = {{"unknown", "", 0, 0, false}, {"a", "", 5, 5}};
  EXPECT_EQ(verdicts(Costs, {}), (Words{"selected", "selected"}));
}

TEST(ConfigurationCarving, moreEffort_widensTheSelection) {
  EXPECT_LT(carvingOfEffort(0).MaxSelected, carvingOfEffort(1).MaxSelected);
  EXPECT_LT(carvingOfEffort(1).Margin, carvingOfEffort(2).Margin);
  EXPECT_LT(carvingOfEffort(2).MaxSelected, carvingOfEffort(3).MaxSelected);
}
