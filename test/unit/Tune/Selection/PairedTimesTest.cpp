#include "Tune/Selection/PairedTimes.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace carve;

namespace {

constexpr WinningBounds Bounds;

/// \p Pairs pairs in which the tuned version takes \p Ratio of the default's time. Every second run
/// of both is slower by \p Scatter. One earlier run of the default is known.
PairedTimes pairs(unsigned Pairs, double Ratio, double Scatter = 0) {
  PairedTimes Times;
  Times.Earlier = {100};
  for (unsigned Pair = 0; Pair < Pairs; ++Pair) {
    Times.Default.push_back(100 * (1 + Scatter * (Pair % 2)));
    Times.Tuned.push_back(100 * Ratio * (1 + Scatter * ((Pair + 1) % 2)));
  }
  return Times;
}

PairedVerdict judge(const PairedTimes &Times, double Level = 0.001) {
  return judgePairs(Times, Level, Bounds, 27);
}

} // namespace

TEST(PairedTimes, looks_levelsTogether_areBelowOnePercent) {
  double Sum = HurriedLook.Level;
  unsigned Before = HurriedLook.Pairs;
  for (const ConfirmationLook &Look : ConfirmationLooks) {
    EXPECT_GT(Look.Pairs, Before);
    // Ranks need 2^-n.
    EXPECT_TRUE(Look.Pairs < RankedPairs || std::ldexp(1.0, -int(Look.Pairs)) <= Look.Level);
    Before = Look.Pairs;
    Sum += Look.Level;
  }
  EXPECT_LE(Sum, 0.0095 + 1e-12);
}

TEST(PairedTimes, interval_ofFewPairs_isThatOfStudent) {
  PairedTimes Times = pairs(3, 0.9, 0.001);
  Times.Earlier = {100, 100.2};
  // Deviations from the mean of the logarithms: (0, 1, 0, 0, 2) of the default and (1, 0, 1) of the
  // tuned version, in 0.1 %.
  double Squares = 3.2e-6 + 2e-6 / 3 + UsualScatter * UsualScatter;
  double Error = std::sqrt(2.0 / 3 * Squares / 7);
  RatioInterval R = pairedInterval(Times, 0.001);
  EXPECT_NEAR(R.Median, 0.9 * 1.001, 1e-9);
  EXPECT_NEAR(std::log(R.High / R.Low) / 2, 4.7853 * Error, 1e-5); // t of 7 degrees of freedom.
  EXPECT_NEAR(std::sqrt(R.High * R.Low), 0.9 * (1 + 0.001 / 3), 1e-6);
}

TEST(PairedTimes, interval_ofPairsThatShareTheDefault_countsItOnce) {
  PairedTimes Times = pairs(2, 0.9, 0.001);
  Times.Default[1] = Times.Default[0];
  Times.Sharing = 1;
  // Deviations from the mean of the logarithms: none of the default and (1, 0) of the tuned
  // version, in 0.1 %.
  double Squares = 0.5e-6 + UsualScatter * UsualScatter;
  double Error = std::sqrt((1.0 / 2 + 1) * Squares / 3);
  RatioInterval R = pairedInterval(Times, HurriedLook.Level);
  EXPECT_NEAR(std::log(R.High / R.Low) / 2, 8.0526 * Error, 1e-4); // t of 3 degrees of freedom.
  EXPECT_LT(1 - R.High / R.Median, GainForFewestRuns);
  EXPECT_LT(R.Median / R.Low - 1, GainForFewestRuns);
}

TEST(PairedTimes, interval_ofOnePairWithAnEarlierDefault_countsTheTunedRunOnce) {
  PairedTimes Times = pairs(1, 0.9);
  Times.Earlier = {100.2};
  Times = Times.withEarlierDefaults();
  EXPECT_EQ(Times.count(), 2u);
  EXPECT_TRUE(Times.Earlier.empty());
  // Deviations from the mean of the logarithms: (0, 2) of the default, in 0.1 %.
  double Squares = 2e-6 + ScatterOfMost * ScatterOfMost;
  double Error = std::sqrt((1 + 1.0 / 2) * Squares / 2);
  RatioInterval R = pairedInterval(Times, LoneLook.Level);
  EXPECT_NEAR(std::log(R.High / R.Low) / 2, 12.852 * Error, 1e-3); // t of 2 degrees of freedom.
}

TEST(PairedTimes, interval_ofPairsThatDisagree_isWiderThanRunsTell) {
  // Both versions scatter by little, but in opposite directions.
  PairedTimes Apart = pairs(4, 0.9, 0.02), Together = pairs(4, 0.9, 0.02);
  std::swap(Together.Tuned[0], Together.Tuned[1]);
  std::swap(Together.Tuned[2], Together.Tuned[3]);
  auto Width = [](const PairedTimes &Times) {
    RatioInterval R = pairedInterval(Times, 0.01);
    return R.High - R.Low;
  };
  EXPECT_GT(Width(Apart), 1.2 * Width(Together));
}

TEST(PairedTimes, interval_ofNinePairs_isTheirRange) {
  PairedTimes Times;
  for (int I = 0; I < 9; ++I) {
    Times.Default.push_back(100);
    Times.Tuned.push_back(90 + I);
  }
  RatioInterval R = pairedInterval(Times, 0.002);
  EXPECT_NEAR(R.Low, 0.90, 1e-9);
  EXPECT_NEAR(R.High, 0.98, 1e-9);
  // With too few pairs for the level, it is not taken from ranks.
  RatioInterval T = pairedInterval(Times, 0.001);
  EXPECT_NEAR(T.High, 0.9735, 0.001) << "Student's t";
}

TEST(PairedTimes, verdict_clearGain_winsAfterThreePairs) {
  EXPECT_EQ(judge(pairs(3, 0.9, 0.002)), PairedVerdict::Wins);
  EXPECT_EQ(judge(pairs(3, 0.98)), PairedVerdict::Wins);
  EXPECT_EQ(judge(pairs(3, 0.99)), PairedVerdict::Wins);
  EXPECT_EQ(judge(pairs(3, 0.994)), PairedVerdict::Open) << "three pairs may agree by chance";
}

TEST(PairedTimes, verdict_earlierRunFarOff_isOpen) {
  PairedTimes Times = pairs(3, 0.97);
  EXPECT_EQ(judge(Times), PairedVerdict::Wins);
  Times.Earlier = {97}; // The default has been as fast as the variant before.
  EXPECT_EQ(judge(Times), PairedVerdict::Open);
}

TEST(PairedTimes, verdict_threeRunsOfTheDefault_isOpen) {
  PairedTimes Times = pairs(3, 0.5);
  EXPECT_EQ(judge(Times), PairedVerdict::Wins);
  Times.Earlier.clear();
  EXPECT_EQ(judge(Times), PairedVerdict::Open);
  Times = pairs(4, 0.5);
  Times.Earlier.clear();
  EXPECT_EQ(judge(Times, 0.0003), PairedVerdict::Wins);
}

TEST(PairedTimes, verdict_gainBetweenHalfAndOnePercent_winsIfCertain) {
  EXPECT_EQ(judge(pairs(9, 0.993, 0.001), 0.002), PairedVerdict::Wins);
  EXPECT_EQ(judge(pairs(10, 0.993, 0.006), 0.002), PairedVerdict::Open);
  EXPECT_EQ(judge(pairs(9, 0.9965, 0.0001), 0.002), PairedVerdict::Loses);
}

TEST(PairedTimes, verdict_noGain_losesAfterThreePairs) {
  EXPECT_EQ(judge(pairs(3, 1.0, 0.001)), PairedVerdict::Loses);
  EXPECT_EQ(judge(pairs(4, 1.0, 0.08)), PairedVerdict::Open) << "the scatter may hide a gain";
}

TEST(PairedTimes, verdict_tooFewPairsAllowed_losesEarly) {
  PairedTimes Times = pairs(6, 0.985, 0.02);
  EXPECT_EQ(judgePairs(Times, 0.0003, Bounds, 27), PairedVerdict::Open);
  EXPECT_EQ(judgePairs(Times, 0.0003, Bounds, 6), PairedVerdict::Loses);
}

TEST(PairedTimes, supports_measuredNearerToThePrediction_isTrue) {
  EXPECT_TRUE(supports(pairs(4, 0.97, 0.002), 0.96));
  EXPECT_FALSE(supports(pairs(4, 0.985, 0.002), 0.96));
  EXPECT_FALSE(supports(pairs(4, 0.97, 0.05), 0.96)) << "it may be scatter";
  EXPECT_FALSE(supports(pairs(4, 0.97, 0.002), 1.0)) << "nothing was predicted";
}

TEST(PairedTimes, unpairedInterval_oneSlowRunOfTheDefault_movesTheLowerEnd) {
  PairedTimes Times = pairs(2, 0.9);
  Times.Default[0] *= 1.25;
  RatioInterval R = unpairedInterval(Times);
  EXPECT_NEAR(R.Median, 0.9, 1e-3);
  EXPECT_NEAR(R.High, 0.9, 1e-3);
  EXPECT_NEAR(R.Low, 0.9 / 1.25, 1e-3);
}

TEST(PairedTimes, areApart_slowestOverFastest_isNearerToThePrediction) {
  PairedTimes Times = pairs(2, 0.9);
  EXPECT_TRUE(areApart(Times, 0.9));
  EXPECT_FALSE(areApart(Times, 0.7)) << "twice as much was predicted";
  EXPECT_FALSE(areApart(pairs(2, 0.99), 0.99)) << "the clock may have changed by so much";
  Times.Tuned[1] *= 1.06;
  EXPECT_FALSE(areApart(Times, 0.9));
  Times = pairs(2, 0.9);
  Times.Earlier.clear();
  EXPECT_FALSE(areApart(Times, 0.9)) << "the default has run twice";
  Times = pairs(2, 0.9);
  Times.Sharing = 1;
  EXPECT_FALSE(areApart(Times, 0.9)) << "both pairs have the same run of the default";
  EXPECT_FALSE(areApart(pairs(1, 0.9).withEarlierDefaults(), 0.9)) << "a single tuned run";
}

TEST(PairedTimes, interval_ofOnePair_isItsRatio) {
  RatioInterval R = pairedInterval(pairs(1, 0.9), 0.001);
  EXPECT_EQ(R.Low, R.Median);
  EXPECT_EQ(R.High, R.Median);
}
