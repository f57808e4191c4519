#include "Search/Pareto.h"

#include <gtest/gtest.h>

using namespace carve;

using Points = std::vector<std::vector<double>>;

TEST(Pareto, undominatedPoints_stay) {
  Points P{{1, 4}, {2, 3}, {1, 3}, {4, 1}, {3, 0.5}};
  std::vector<ParetoCut> Cuts;
  EXPECT_EQ(paretoFront(P, 0, &Cuts), (std::vector<size_t>{0, 1, 3}));
  ASSERT_EQ(Cuts.size(), 2u);
  EXPECT_EQ(Cuts[0].Point, 2u);
  EXPECT_EQ(Cuts[0].By, 0u);
  EXPECT_EQ(Cuts[1].Point, 4u);
  EXPECT_EQ(Cuts[1].By, 3u);
}

TEST(Pareto, pointsWithinMargin_stay) {
  Points P{{100, 100}, {96, 100}, {94, 100}};
  EXPECT_EQ(paretoFront(P, 0.05, nullptr), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(paretoFront(P, 0.01, nullptr), (std::vector<size_t>{0}));
}

TEST(Pareto, marginOfNegativePoint_isOfItsAbsoluteValue) {
  Points P{{-100}, {-104}, {-120}};
  EXPECT_EQ(paretoFront(P, 0.05, nullptr), (std::vector<size_t>{0, 1}));
}

TEST(Pareto, equalPoints_allStay) {
  Points P{{1, 2}, {1, 2}};
  EXPECT_EQ(paretoFront(P, 0, nullptr).size(), 2u);
}

TEST(Pareto, cuttingPoint_isOnTheFront) {
  // Each point is beaten by every later one.
  Points P{{1, 1}, {2, 2}, {3, 3}, {4, 4}};
  std::vector<ParetoCut> Cuts;
  EXPECT_EQ(paretoFront(P, 0, &Cuts), (std::vector<size_t>{3}));
  for (const ParetoCut &C : Cuts)
    EXPECT_EQ(C.By, 3u) << C.Point;
  EXPECT_EQ(Cuts.size(), 3u);
}

TEST(Pareto, noPoints_haveNoFront) { EXPECT_TRUE(paretoFront({}, 0.1, nullptr).empty()); }
