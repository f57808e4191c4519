#include "Probe/Replay/ReplaySchedule.h"

#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <set>

using namespace carve::probe;
using Phase = ReplaySchedule::Phase;

static const carve::LeastRounds Fewest = carve::PlannedShape().leastRounds();

/// Runs rounds in which variant v takes TimesNs[v] until the phase ends. Returns their number.
static unsigned runPhase(ReplaySchedule &S, const std::map<size_t, double> &TimesNs,
                         double LeftNs = 1e12, double NoiseNs = 0.5) {
  Phase Begin = S.phase();
  unsigned Rounds = 0;
  while (S.phase() == Begin && Rounds < 100) {
    std::vector<ReplaySchedule::Times> Round;
    for (size_t V : S.order())
      Round.push_back({TimesNs.at(V) + NoiseNs * double((Rounds * 7 + V * 3) % 5), 0});
    S.finish(Round, 1000, LeftNs -= 1000);
    ++Rounds;
  }
  return Rounds;
}

TEST(ReplaySchedule, losers_leaveAndTheBestTwoAreConfirmed) {
  ReplaySchedule S({0, 1, 2, 3, 4, 5, 6}, 1);
  unsigned Screened =
      runPhase(S, {{0, 100}, {1, 100}, {2, 80}, {3, 150}, {4, 90}, {5, 130}, {6, 80.5}});
  EXPECT_EQ(S.phase(), Phase::Confirm);
  EXPECT_EQ(Screened, Fewest.Choosing) << "what is clear needs no more";
  std::vector<size_t> Active = S.active();
  EXPECT_EQ(std::set<size_t>(Active.begin(), Active.end()), (std::set<size_t>{0, 1, 2, 6}));
  EXPECT_FALSE(S.complete());
  EXPECT_EQ(runPhase(S, {{0, 100}, {1, 100}, {2, 80}, {6, 80.5}}),
            ReplaySchedule::MaxConfirmRounds);
  EXPECT_EQ(S.phase(), Phase::Done);
  EXPECT_TRUE(S.complete());
}

TEST(ReplaySchedule, timesOfZero_areValid) {
  ReplaySchedule S({0, 1, 2, 3}, 1);
  std::map<size_t, double> None = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
  runPhase(S, None, 1e12, 0);
  EXPECT_EQ(S.phase(), Phase::Confirm);
  runPhase(S, None, 1e12, 0);
  EXPECT_EQ(S.phase(), Phase::Done);
}

TEST(ReplaySchedule, allVariantsLose_onlyTheReferencesAreHeldOut) {
  ReplaySchedule S({0, 1, 2, 3}, 1);
  EXPECT_EQ(runPhase(S, {{0, 100}, {1, 100}, {2, 120}, {3, 110}}), 3u);
  EXPECT_EQ(S.active(), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(runPhase(S, {{0, 100}, {1, 100}}), Fewest.HeldOut);
  EXPECT_EQ(S.phase(), Phase::Done);
  EXPECT_TRUE(S.complete()) << "that the default stays is decided";
}

TEST(ReplaySchedule, undecidedHeldOutRounds_goOn) {
  ReplaySchedule S({0, 1, 2}, 1);
  std::map<size_t, double> Close = {{0, 100}, {1, 100}, {2, 96}};
  runPhase(S, Close);
  ASSERT_EQ(S.phase(), Phase::Confirm);
  EXPECT_EQ(runPhase(S, Close, 1e12, 2), ReplaySchedule::MaxUndecidedRounds);
  EXPECT_TRUE(S.complete());
}

TEST(ReplaySchedule, controlFarFromTheDefault_heldOutRoundsGoOn) {
  for (double Control : {100.5, 102.0}) {
    ReplaySchedule S({0, 1, 2}, 1);
    std::map<size_t, double> Ns = {{0, 100}, {1, Control}, {2, 80}};
    runPhase(S, Ns, 1e12, 0.1);
    ASSERT_EQ(S.phase(), Phase::Confirm);
    EXPECT_EQ(runPhase(S, Ns, 1e12, 0.1), Control < 101 ? ReplaySchedule::MaxConfirmRounds
                                                        : ReplaySchedule::MaxUndecidedRounds);
  }
}

TEST(ReplaySchedule, closeVariants_areScreenedLonger) {
  ReplaySchedule S({0, 1, 2, 3, 4, 5}, 1);
  std::map<size_t, double> Alike = {{0, 100}, {1, 100}, {2, 98}, {3, 98}, {4, 98}, {5, 98}};
  EXPECT_GT(runPhase(S, Alike, 1e12, 1), Fewest.Choosing);
  EXPECT_EQ(S.phase(), Phase::Confirm);
  EXPECT_EQ(S.active().size(), 4u);
}

TEST(ReplaySchedule, screening_leavesTimeForTheHeldOutRounds) {
  ReplaySchedule S({0, 1, 2, 3, 4, 5}, 1);
  std::map<size_t, double> Alike = {{0, 100}, {1, 100}, {2, 98}, {3, 98}, {4, 98}, {5, 98}};
  EXPECT_EQ(runPhase(S, Alike, 11'500, 1), 3u);
  ASSERT_EQ(S.phase(), Phase::Confirm);
  unsigned Confirmed = runPhase(S, Alike, 9'000, 1);
  EXPECT_GE(Confirmed, Fewest.HeldOut);
  EXPECT_LT(Confirmed, ReplaySchedule::MaxConfirmRounds);
  EXPECT_TRUE(S.complete());
}

TEST(ReplaySchedule, leastRuns_decideIfFewAreWithinReach) {
  for (size_t Variants : {3, 4, 14, 40, 200}) {
    std::vector<size_t> All(Variants);
    std::iota(All.begin(), All.end(), 0);
    std::map<size_t, double> Ns;
    for (size_t V : All)
      Ns[V] = V < 2 ? 100 : 80 + double(V);
    size_t Runs = 0, Least = carve::PlannedShape().leastRuns(Variants);
    ReplaySchedule S(All, 1);
    while (S.phase() != Phase::Done) {
      std::vector<size_t> Order = S.order();
      std::vector<ReplaySchedule::Times> Times;
      for (size_t V : Order)
        Times.push_back({Ns[V], 0});
      Runs += Order.size();
      // Each run takes as long as any other, and there is time for the least number.
      S.finish(Times, double(Order.size()), Runs < Least ? double(Least - Runs) : 0);
    }
    EXPECT_TRUE(S.complete()) << Variants;
  }
}

/// Where the times of a hundred variants are alike, none is out of reach after one round. The best
/// of them go on, and the time that was planned for fewer is enough.
TEST(ReplaySchedule, allAreWithinReach_asManyGoOnAsThereIsTimeFor) {
  std::vector<size_t> All(100);
  std::iota(All.begin(), All.end(), 0);
  std::map<size_t, double> Ns;
  for (size_t V : All)
    Ns[V] = V < 2 ? 100 : 95 + 0.05 * double(V);
  for (double More : {0.0, 40.0}) {
    ReplaySchedule S(All, 1);
    double Left = double(carve::PlannedShape().leastRuns(All.size())) + More;
    std::vector<size_t> Sizes;
    while (S.phase() != Phase::Done) {
      std::vector<size_t> Order = S.order();
      std::vector<ReplaySchedule::Times> Times;
      for (size_t V : Order)
        Times.push_back({Ns[V], 0});
      Left -= double(Order.size());
      Sizes.push_back(Order.size());
      EXPECT_GE(Left, 0) << "in round " << Sizes.size();
      S.finish(Times, double(Order.size()), Left, /*OverdraftNs=*/1e6);
    }
    EXPECT_TRUE(S.complete());
    ASSERT_GE(Sizes.size(), Fewest.Choosing + Fewest.HeldOut);
    // Of 68 runs, 26 are the third round's, which is cut to 24 variants in any case.
    EXPECT_EQ(Sizes[1], More > 0 ? 42 : Fewest.WithinReach);
    EXPECT_TRUE(std::count(S.active().begin(), S.active().end(), 2)) << "the best has stayed";
  }
}

TEST(ReplaySchedule, noTime_decidesNothing) {
  ReplaySchedule Screening({0, 1, 2, 3}, 1);
  runPhase(Screening, {{0, 100}, {1, 100}, {2, 50}, {3, 60}}, 2'000);
  EXPECT_EQ(Screening.phase(), Phase::Done);
  EXPECT_FALSE(Screening.complete());
  ReplaySchedule Confirming({0, 1, 2, 3}, 1);
  runPhase(Confirming, {{0, 100}, {1, 100}, {2, 50}, {3, 60}}, 1e9);
  runPhase(Confirming, {{0, 100}, {1, 100}, {2, 50}, {3, 60}}, 3'000);
  EXPECT_EQ(Confirming.phase(), Phase::Done);
  EXPECT_FALSE(Confirming.complete());
}

TEST(ReplaySchedule, measuredVariant_isInEveryRound) {
  ReplaySchedule S({0, 1, 2, 3}, 1, {2, 3});
  std::map<size_t, double> Times = {{0, 100}, {1, 100}, {2, 300}, {3, 20}};
  EXPECT_EQ(runPhase(S, Times), Fewest.Choosing);
  EXPECT_EQ(S.active().size(), 4u);
  EXPECT_EQ(runPhase(S, Times), ReplaySchedule::MaxConfirmRounds);
  EXPECT_EQ(S.active().size(), 4u);
  EXPECT_TRUE(S.complete());
}

TEST(ReplaySchedule, measuredVariant_doesNotCompete) {
  ReplaySchedule S({0, 1, 2, 3, 4, 5, 6}, 1, {6});
  runPhase(S, {{0, 100}, {1, 100}, {2, 80}, {3, 80.5}, {4, 150}, {5, 150}, {6, 10}});
  ASSERT_EQ(S.phase(), Phase::Confirm);
  std::vector<size_t> Active = S.active();
  EXPECT_EQ(std::set<size_t>(Active.begin(), Active.end()), (std::set<size_t>{0, 1, 2, 3, 6}));
}

TEST(ReplaySchedule, referencesAlone_needNoRounds) {
  EXPECT_EQ(ReplaySchedule({0, 1}, 1).phase(), Phase::Done);
}

TEST(ReplaySchedule, rounds_haveOrdersOfTheirOwn) {
  ReplaySchedule S({0, 1, 2, 3, 4, 5}, 1);
  std::set<std::vector<size_t>> Orders;
  for (int I = 0; I < 10; ++I)
    Orders.insert(S.order());
  EXPECT_GT(Orders.size(), 5u);
}

TEST(ReplaySchedule, hundredsOfVariants_takeLittleMoreThanOneRoundOfAll) {
  std::vector<size_t> All;
  std::map<size_t, double> Times;
  for (size_t V = 0; V < 302; ++V) {
    All.push_back(V);
    Times[V] = V < 2 ? 100 : 80 + 0.2 * double(V);
  }
  ReplaySchedule S(All, 1);
  std::vector<size_t> Sizes;
  while (S.phase() == Phase::Screen) {
    std::vector<ReplaySchedule::Times> Round;
    Sizes.push_back(0);
    for (size_t V : S.order()) {
      Round.push_back({Times[V], 0});
      ++Sizes.back();
    }
    S.finish(Round, 1, 1e12);
  }
  ASSERT_GE(Sizes.size(), 3u);
  EXPECT_EQ(Sizes[0], 302u);
  EXPECT_LT(Sizes[1], 50u) << "what is a tenth slower than the best has left";
  EXPECT_LE(Sizes[2], 26u);
  EXPECT_TRUE(std::count(S.active().begin(), S.active().end(), 2)) << "the best has stayed";
}

/// The run that compares a variant's output is the only round that chooses.
TEST(ReplaySchedule, longLaunches_takeTheFewestRounds) {
  carve::PlannedShape Long = carve::PlannedShape::ofMean(200e6);
  ReplaySchedule S({0, 1, 2, 3, 4}, 1, {}, Long.leastRounds());
  std::map<size_t, double> Ns = {{0, 100}, {1, 100}, {2, 101}, {3, 80}, {4, 90}};
  EXPECT_EQ(runPhase(S, Ns, 15'000), 1u);
  EXPECT_EQ(S.active(), (std::vector<size_t>{0, 1, 3}));
  EXPECT_EQ(runPhase(S, Ns, 3'000), 3u);
  EXPECT_TRUE(S.complete());
  EXPECT_EQ(Long.leastRuns(5), 3u * 3u);
}

TEST(ReplaySchedule, comparisonsOfLaunchesWithoutWarmTimes_areTheFirstRound) {
  for (double Ns : {1e6, 2e6, 7e6, 30e6}) {
    carve::PlannedShape Shape = carve::PlannedShape::ofMean(Ns);
    carve::LeastRounds Least = Shape.leastRounds();
    size_t Each = Shape.leastRuns(101) - Shape.leastRuns(100);
    EXPECT_EQ(Each, Shape.isChosenByComparisons() ? 0u : 1u) << Ns;
    EXPECT_EQ(Shape.isChosenByComparisons(), !Shape.hasWarmTimes()) << Ns;
    EXPECT_EQ(Shape.leastRuns(100), 100 * Each + (Least.Choosing - 1) * Least.WithinReach +
                                        Least.HeldOut * (2 + Least.Finalists))
        << Ns;
  }
}

TEST(ReplaySchedule, overdraft_isUsedForTheFewestRoundsOnly) {
  ReplaySchedule S({0, 1, 2, 3}, 1);
  std::map<size_t, double> Ns = {{0, 100}, {1, 100}, {2, 50}, {3, 60}};
  unsigned Rounds = 0;
  for (double Left = 2'000; S.phase() != Phase::Done; ++Rounds) {
    std::vector<ReplaySchedule::Times> Round;
    for (size_t V : S.order())
      Round.push_back({Ns.at(V), 0});
    S.finish(Round, 1000, Left -= 1000, 20'000);
  }
  EXPECT_EQ(Rounds, Fewest.Choosing + Fewest.HeldOut);
  EXPECT_TRUE(S.complete());
}
