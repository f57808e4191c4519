#include "Tune/Selection/Statistics.h"

#include "gtest/gtest.h"

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
