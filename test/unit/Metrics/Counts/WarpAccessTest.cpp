#include "Metrics/Counts/WarpAccess.h"

#include <gtest/gtest.h>

using namespace carve;

TEST(WarpAccess, movedBytes_byStride_areThoseOfTheSectors) {
  EXPECT_EQ(movedBytes(4, 4, 32), 4) << "coalesced";
  EXPECT_EQ(movedBytes(-16, 16, 32), 16);
  EXPECT_EQ(movedBytes(8, 4, 32), 8) << "every second word";
  EXPECT_EQ(movedBytes(32, 4, 32), 32) << "a sector each";
  EXPECT_EQ(movedBytes(4096, 4, 32), 32);
  EXPECT_EQ(movedBytes(0, 4, 32), 1) << "one sector for all";
  EXPECT_EQ(movedBytes(4, 4, 4), 8) << "four threads use half a sector";
  EXPECT_EQ(movedBytes(20, 16, 32), 20) << "crosses sectors";
}

TEST(WarpAccess, sharedRounds_byStride_countBankConflicts) {
  EXPECT_EQ(sharedRounds(4, 4), 1);
  EXPECT_EQ(sharedRounds(0, 4), 1) << "all threads get one word";
  EXPECT_EQ(sharedRounds(8, 4), 2);
  EXPECT_EQ(sharedRounds(128, 4), 32) << "a column of a tile of 32 words";
  EXPECT_EQ(sharedRounds(132, 4), 1) << "a column of a tile of 33 words";
  EXPECT_EQ(sharedRounds(8, 8), 2) << "256 bytes";
  EXPECT_EQ(sharedRounds(16, 16), 4);
  EXPECT_EQ(sharedRounds(32, 8), 8) << "each half of the warp has four conflicts";
  EXPECT_EQ(sharedRounds(1, 1), 1);
}
