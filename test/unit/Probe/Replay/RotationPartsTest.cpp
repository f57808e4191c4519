#include "Probe/Replay/RotationParts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

using namespace carve::probe;

static bool isAll(const LaunchPart &Part) { return Part.Begin == 0 && Part.End == 1; }

TEST(RotationParts, enoughLaunches_eachKernelHasAPartOfItsOwn) {
  // With 12 variants, twelve cycles take 300 launches: 0.3, 0.1 and 0.2 of those that there are.
  std::vector<LaunchPart> Parts = rotationParts({{1000, 12}, {3000, 12}, {1500, 12}});
  ASSERT_EQ(Parts.size(), 3u);
  EXPECT_EQ(Parts[1].Begin, 0);
  EXPECT_EQ(Parts[1].End, Parts[2].Begin);
  EXPECT_EQ(Parts[2].End, Parts[0].Begin);
  EXPECT_EQ(Parts[0].End, 1);
  // The 0.4 that are left are divided equally.
  EXPECT_NEAR(Parts[1].End - Parts[1].Begin, 0.1 + 0.4 / 3, 1e-9);
  EXPECT_NEAR(Parts[2].End - Parts[2].Begin, 0.2 + 0.4 / 3, 1e-9);
  EXPECT_NEAR(Parts[0].End - Parts[0].Begin, 0.3 + 0.4 / 3, 1e-9);
}

TEST(RotationParts, kernelsWithTooFewLaunches_areRotatedAllTheTime) {
  std::vector<LaunchPart> Parts = rotationParts({{400, 12}, {1000, 12}, {700, 12}, {0, 12}});
  EXPECT_TRUE(isAll(Parts[0]));
  EXPECT_TRUE(isAll(Parts[3]));
  EXPECT_EQ(Parts[1].Begin, 0);
  EXPECT_EQ(Parts[1].End, Parts[2].Begin);
  EXPECT_GE(Parts[1].left(0, 1000), 300u);
  EXPECT_GE(Parts[2].left(0, 700), 300u);
}

TEST(RotationParts, oneKernel_isRotatedAllTheTime) {
  EXPECT_TRUE(isAll(rotationParts({{100'000, 12}})[0]));
  EXPECT_TRUE(isAll(rotationParts({{100'000, 12}, {20, 12}})[0]));
  EXPECT_TRUE(rotationParts({}).empty());
}

TEST(RotationParts, part_isInEachQuarterOfTheLaunches) {
  LaunchPart Part{0.25, 0.5};
  std::string In;
  for (uint64_t Index = 0; Index < 48; ++Index)
    In += Part.holds(Index, 32) ? 'x' : '.';
  EXPECT_EQ(In, "..xx......xx......xx......xx......xx......xx....") << "there may be more launches";
  for (uint64_t Index : {0, 3, 8, 30, 32, 40})
    EXPECT_EQ(Part.left(Index, 32),
              std::count(In.begin() + Index, In.begin() + std::max<size_t>(Index, 32), 'x'))
        << Index;
  EXPECT_EQ(Part.left(0, 0), 0u);
  EXPECT_EQ(LaunchPart().left(0, 7), 7u);
  EXPECT_EQ(LaunchPart().left(3, 7), 4u);
  for (uint64_t Index = 0; Index < 9; ++Index)
    EXPECT_TRUE(LaunchPart().holds(Index, 7));
}
