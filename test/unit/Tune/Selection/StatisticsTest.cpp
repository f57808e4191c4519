#include "Tune/Selection/Statistics.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace carve;

namespace {

/// Twice the number of sign patterns of \p Count values that have at most \p Trim values on one
/// side.
uint64_t outsidePatterns(uint64_t Count, uint64_t Trim) {
  uint64_t Term = 1, Sum = 1;
  for (uint64_t K = 1; K <= Trim; ++K) {
    Term = Term * (Count - K + 1) / K;
    Sum += Term;
  }
  return 2 * Sum;
}

} // namespace

TEST(Statistics, median_oddAndEvenCounts_isTheMiddle) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({5, 1, 3}), 3);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Statistics, orderStatisticTrim_fiveToTwentySevenValues_agreesWithExactBinomials) {
  for (uint64_t Count = 5; Count <= 27; ++Count) {
    uint64_t Patterns = uint64_t(1) << Count, Trim = orderStatisticTrim(Count, 0.95);
    // 95 %: at most one pattern of twenty may lie outside.
    EXPECT_TRUE(Trim == 0 || 20 * outsidePatterns(Count, Trim) <= Patterns) << Count;
    EXPECT_GT(20 * outsidePatterns(Count, Trim + 1), Patterns) << Count;
  }
}

TEST(Statistics, orderStatisticTrim_knownCounts_agreesWithTables) {
  EXPECT_EQ(orderStatisticTrim(5, 0.95), 0u);
  EXPECT_EQ(orderStatisticTrim(8, 0.95), 0u);
  EXPECT_EQ(orderStatisticTrim(9, 0.95), 1u);
  EXPECT_EQ(orderStatisticTrim(12, 0.95), 2u);
  EXPECT_EQ(orderStatisticTrim(15, 0.95), 3u);
  EXPECT_EQ(orderStatisticTrim(20, 0.95), 5u);
  EXPECT_EQ(orderStatisticTrim(27, 0.95), 7u);
}

TEST(Statistics, ratioInterval_nineValues_isSecondSmallestToSecondLargest) {
  RatioInterval R = ratioInterval({9, 1, 8, 2, 7, 3, 6, 4, 5});
  EXPECT_EQ(R.Median, 5);
  EXPECT_EQ(R.Low, 2);
  EXPECT_EQ(R.High, 8);
}

TEST(Statistics, ratioInterval_fewValues_isTheirRange) {
  RatioInterval R = ratioInterval({1.5, 0.5});
  EXPECT_EQ(R.Median, 1);
  EXPECT_EQ(R.Low, 0.5);
  EXPECT_EQ(R.High, 1.5);
}

TEST(Statistics, ratioInterval_moreConfidence_leavesOutFewerValues) {
  std::vector<double> Nine = {9, 1, 8, 2, 7, 3, 6, 4, 5};
  EXPECT_EQ(ratioInterval(Nine, 0.95).High, 8);
  EXPECT_EQ(ratioInterval(Nine, 0.98).High, 9);
  EXPECT_EQ(ratioInterval(Nine, 0.80).High, 7);
}

TEST(Statistics, leastCount_byConfidence_isWhatEnclosesTheMedian) {
  EXPECT_EQ(leastCount(0.90), 5u);
  EXPECT_EQ(leastCount(0.95), 6u);
  EXPECT_EQ(leastCount(0.975), 7u);
  EXPECT_EQ(leastCount(0.996), 9u);
}

TEST(Statistics, studentQuantile_agreesWithTables) {
  EXPECT_NEAR(studentQuantile(0.05, 1), 6.3138, 1e-3);
  EXPECT_NEAR(studentQuantile(0.0005, 2), 31.599, 1e-2);
  EXPECT_NEAR(studentQuantile(0.001, 5), 5.8934, 1e-3);
  EXPECT_NEAR(studentQuantile(0.001, 6), 5.2076, 1e-3);
  EXPECT_NEAR(studentQuantile(0.025, 10), 2.2281, 1e-3);
  EXPECT_NEAR(studentQuantile(0.001, 1000), 3.0984, 1e-3);
  EXPECT_NEAR(studentQuantile(0.5, 7), 0, 1e-6);
}

/// Critical values of Wilcoxon's signed-rank test: the largest sums of ranks that are significant.
TEST(Statistics, signedRankInterval_agreesWithTables) {
  // So many means of pairs are left out at each end. Powers of two make all means differ.
  auto Trimmed = [](size_t Count, double Level) {
    std::vector<double> Values, Means;
    for (size_t I = 0; I < Count; ++I)
      Values.push_back(std::exp2(double(I)));
    for (size_t I = 0; I < Count; ++I)
      for (size_t J = 0; J <= I; ++J)
        Means.push_back((Values[I] + Values[J]) / 2);
    std::sort(Means.begin(), Means.end());
    Interval R = signedRankInterval(Values, Level);
    size_t Trim = std::find(Means.begin(), Means.end(), R.Low) - Means.begin();
    EXPECT_EQ(R.High, Means[Means.size() - 1 - Trim]);
    return Trim;
  };
  EXPECT_EQ(Trimmed(9, 0.002), 0u);
  EXPECT_EQ(Trimmed(10, 0.025), 8u);
  EXPECT_EQ(Trimmed(10, 0.005), 3u);
  EXPECT_EQ(Trimmed(15, 0.025), 25u);
  EXPECT_EQ(Trimmed(20, 0.005), 37u);
  EXPECT_EQ(Trimmed(12, 0.0005), 1u);
}

TEST(Statistics, signedRankInterval_tooFewValues_isInfinite) {
  Interval R = signedRankInterval({1, 2, 3}, 0.01);
  EXPECT_EQ(R.Low, -HUGE_VAL);
  EXPECT_EQ(R.High, HUGE_VAL);
}
