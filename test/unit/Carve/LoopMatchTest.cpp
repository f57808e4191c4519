#include "Carve/LoopMatch.h"

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

/// The trips of \p Code's loops after matching.
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

TEST(LoopMatch, LoopsThatStay) {
  EXPECT_EQ(matched({loop(1, 9, 1, 100, Constant), loop(2, 9, 2, 7), loop(1, 9, 1, 5, Constant)},
                    {loop(1, 12, 1), loop(2, 14, 2), loop(1, 10, 1)}),
            (Trips{100, 7, 5}));
  std::vector<LoopCount> Code = {loop(1, 12, 1), loop(2, 14, 2)};
  matchLoops({loop(1, 9, 1, 100, Constant), loop(2, 9, 2, 7)}, Code);
  EXPECT_EQ(Code[0].Source, TripSource::Matched);
  EXPECT_EQ(Code[1].Source, TripSource::Assumed);
}

TEST(LoopMatch, UnrolledByPtxas) {
  EXPECT_EQ(matched({loop(1, 10, 2, 64, Constant)}, {loop(1, 50, 8)}), Trips{16});
  EXPECT_EQ(matched({loop(1, 26, 0, 64, Constant)}, {loop(1, 99, 0)}), Trips{16});
  EXPECT_EQ(matched({loop(1, 10, 0, 64, Constant)}, {loop(1, 22, 0)}), Trips{64})
      << "an instruction of PTX may become two";
}

TEST(LoopMatch, WhatUnrollingLeaves) {
  EXPECT_EQ(matched({loop(1, 26, 0, 66, Constant)}, {loop(1, 99, 0), loop(1, 27, 0)}),
            (Trips{16, 2}));
  EXPECT_EQ(matched({loop(1, 26, 0, 5), loop(1, 9, 0, 3)},
                    {loop(1, 99, 0), loop(1, 27, 0), loop(1, 9, 0)}),
            (Trips{1.25, 0, 3}));
}

TEST(LoopMatch, ThoseThatVanish) {
  EXPECT_EQ(matched({loop(1, 9, 1), loop(2, 9, 1, 4, Constant)}, {loop(1, 30, 1)}), Trips{16});
  EXPECT_EQ(matched({loop(1, 9, 1, 3), loop(1, 9, 1, 8, Constant), loop(1, 9, 1, 4, Constant)},
                    {loop(1, 9, 1), loop(1, 9, 1)}),
            (Trips{3, 8}));
}

TEST(LoopMatch, RestsThatVanish) {
  EXPECT_EQ(
      matched({loop(1, 30, 4, 4, TripSource::Unrolled), loop(1, 9, 1, 2, TripSource::Remainder)},
              {loop(1, 31, 4)}),
      Trips{4});
}

TEST(LoopMatch, OthersKeepWhatTheyHave) {
  EXPECT_EQ(matched({loop(1, 9, 1), loop(1, 9, 1)}, {loop(1, 9, 1)}), Trips{-1});
  EXPECT_EQ(matched({loop(1, 9, 1)}, {loop(1, 9, 1), loop(1, 9, 1)}), (Trips{-1, -1}));
  EXPECT_EQ(matched({}, {loop(1, 9, 1)}), Trips{-1});
  EXPECT_EQ(matched({loop(1, 9, 1)}, {}), Trips{});
}
