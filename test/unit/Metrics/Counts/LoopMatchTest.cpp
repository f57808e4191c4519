#include "Metrics/Counts/LoopMatch.h"

#include <gtest/gtest.h>

using namespace carve;

static LoopCount loop(unsigned Depth, unsigned Own, unsigned Memory, double Trips = 16,
                      TripSource Source = TripSource::Assumed) {
  LoopCount L;
  L.Depth = Depth;
  L.OwnInstructions = Own;
  L.OwnMemory = Memory;
  L.Trips = Trips;
  L.Source = Source;
  return L;
}

/// Returns the trips of \p Code's loops after matching.
static std::vector<double> matched(const std::vector<LoopCount> &Ptx, std::vector<LoopCount> Code) {
  for (LoopCount &L : Code)
    L.Trips = -1;
  matchLoops(Ptx, Code);
  std::vector<double> Trips;
  for (const LoopCount &L : Code)
    Trips.push_back(L.Trips);
  return Trips;
}

using Trips = std::vector<double>;
constexpr TripSource Constant = TripSource::Constant;

TEST(LoopMatch, unchangedLoops_haveTheTripsOfThePtx) {
  EXPECT_EQ(matched({loop(1, 9, 1, 100, Constant), loop(2, 9, 2, 7), loop(1, 9, 1, 5, Constant)},
                    {loop(1, 12, 1), loop(2, 14, 2), loop(1, 10, 1)}),
            (Trips{100, 7, 5}));
  std::vector<LoopCount> Code = {loop(1, 12, 1), loop(2, 14, 2)};
  matchLoops({loop(1, 9, 1, 100, Constant), loop(2, 9, 2, 7)}, Code);
  EXPECT_EQ(Code[0].Source, TripSource::Matched);
  EXPECT_EQ(Code[1].Source, TripSource::Assumed);
}

TEST(LoopMatch, loopUnrolledByPtxas_dividesTheTrips) {
  EXPECT_EQ(matched({loop(1, 10, 2, 64, Constant)}, {loop(1, 50, 8)}), Trips{16});
  EXPECT_EQ(matched({loop(1, 26, 0, 64, Constant)}, {loop(1, 99, 0)}), Trips{16});
  EXPECT_EQ(matched({loop(1, 10, 0, 64, Constant)}, {loop(1, 22, 0)}), Trips{64})
      << "an instruction of PTX may become two";
}

TEST(LoopMatch, unrolledLoop_withRest_sharesTheTrips) {
  EXPECT_EQ(matched({loop(1, 26, 0, 66, Constant)}, {loop(1, 99, 0), loop(1, 27, 0)}),
            (Trips{16, 2}));
  EXPECT_EQ(matched({loop(1, 26, 0, 5), loop(1, 9, 0, 3)},
                    {loop(1, 99, 0), loop(1, 27, 0), loop(1, 9, 0)}),
            (Trips{1.25, 0, 3}));
}

TEST(LoopMatch, unrolling_isSeenByTheAccesses) {
  // The copies of the body share their address computation and their branch.
  EXPECT_EQ(
      matched({loop(1, 15, 5, 16383, TripSource::Annotated)}, {loop(1, 46, 20), loop(1, 19, 5)}),
      (Trips{4095, 3}));
  // There are too few trips for the unrolled loop.
  EXPECT_EQ(matched({loop(1, 15, 5, 3, TripSource::Annotated)}, {loop(1, 46, 20), loop(1, 19, 5)}),
            (Trips{0, 3}));
  // The loop for the rest does two trips at a time, too.
  EXPECT_EQ(matched({loop(1, 10, 1, 70, TripSource::Annotated)}, {loop(1, 40, 8), loop(1, 19, 2)}),
            (Trips{8, 3}));
}

TEST(LoopMatch, runs_areThoseOfThePtx) {
  std::vector<LoopCount> Ptx = {loop(1, 15, 5, 100, TripSource::Annotated), loop(1, 9, 1, 8)};
  Ptx[0].PerRun = 50;
  std::vector<LoopCount> Code = {loop(1, 46, 20), loop(1, 19, 5), loop(1, 9, 1)};
  matchLoops(Ptx, Code);
  EXPECT_EQ(Code[0].PerRun, 12.5) << "25 trips for every second run";
  EXPECT_EQ(Code[1].PerRun, 0);
  EXPECT_EQ(Code[2].PerRun, std::nullopt);
}

TEST(LoopMatch, runs_ofAnInlinedCallee_areUnknown) {
  std::vector<LoopCount> Ptx = {loop(1, 9, 1, 8)}, Code = {loop(1, 9, 1)};
  Ptx[0].PerRun = 8;
  Ptx[0].OfEntry = false;
  matchLoops(Ptx, Code);
  EXPECT_EQ(Code[0].Trips, 8);
  EXPECT_EQ(Code[0].PerRun, std::nullopt);
}

TEST(LoopMatch, atomicOperation_thatBecomesALoop_runsOnce) {
  LoopCount Retry = loop(1, 7, 2), Large = loop(1, 30, 2);
  Retry.Swaps = Large.Swaps = true;
  EXPECT_EQ(matched({loop(1, 9, 1, 100)}, {loop(1, 10, 1), Retry, Retry}), (Trips{100, 1, 1}));
  EXPECT_EQ(matched({loop(1, 9, 1, 100)}, {loop(1, 10, 1), Large}), (Trips{-1, -1}));
  EXPECT_EQ(matched({loop(1, 9, 1, 100), Retry}, {loop(1, 10, 1), Retry}), (Trips{100, 16}))
      << "the PTX has this loop, too";
}

TEST(LoopMatch, loopOfFewTrips_vanishes) {
  EXPECT_EQ(matched({loop(1, 9, 1), loop(2, 9, 1, 4, Constant)}, {loop(1, 30, 1)}), Trips{16});
  EXPECT_EQ(matched({loop(1, 9, 1, 3), loop(1, 9, 1, 8, Constant), loop(1, 9, 1, 4, Constant)},
                    {loop(1, 9, 1), loop(1, 9, 1)}),
            (Trips{3, 8}));
}

TEST(LoopMatch, loopForTheRest_vanishes) {
  EXPECT_EQ(
      matched({loop(1, 30, 4, 4, TripSource::Unrolled), loop(1, 9, 1, 2, TripSource::Remainder)},
              {loop(1, 31, 4)}),
      Trips{4});
}

TEST(LoopMatch, smallestLoop_vanishes) {
  EXPECT_EQ(matched({loop(1, 9, 1, 3), loop(2, 9, 1, 4), loop(1, 5, 1, 5), loop(1, 3, 1, 6)},
                    {loop(1, 9, 1), loop(2, 9, 1), loop(1, 6, 1)}),
            (Trips{3, 4, 5}));
}

TEST(LoopMatch, loopsThatDoNotMatch_keepTheirTrips) {
  EXPECT_EQ(matched({loop(1, 9, 1), loop(2, 9, 1), loop(1, 9, 1), loop(2, 9, 1)},
                    {loop(1, 9, 1), loop(2, 9, 1)}),
            (Trips{-1, -1}))
      << "one of two nests";
  EXPECT_EQ(matched({loop(1, 9, 1)}, {loop(1, 9, 1), loop(1, 9, 1)}), (Trips{-1, -1}));
  EXPECT_EQ(matched({}, {loop(1, 9, 1)}), Trips{-1});
  EXPECT_EQ(matched({loop(1, 9, 1)}, {}), Trips{});
}
