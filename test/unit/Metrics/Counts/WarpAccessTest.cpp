#include "Metrics/Counts/WarpAccess.h"

#include <gtest/gtest.h>

using namespace carve;

TEST(WarpAccess, SectorsOfAWarp) {
  EXPECT_EQ(movedBytes(4, 4, 32), 4) << "coalesced";
  EXPECT_EQ(movedBytes(-16, 16, 32), 16);
  EXPECT_EQ(movedBytes(8, 4, 32), 8) << "every second word";
  EXPECT_EQ(movedBytes(32, 4, 32), 32) << "a sector each";
  EXPECT_EQ(movedBytes(4096, 4, 32), 32);
  EXPECT_EQ(movedBytes(0, 4, 32), 1) << "one sector for all";
  EXPECT_EQ(movedBytes(4, 4, 4), 8) << "four threads use half a sector";
  EXPECT_EQ(movedBytes(20, 16, 32), 20) << "crosses sectors";
}

TEST(WarpAccess, RoundsOfSharedMemory) {
  EXPECT_EQ(sharedRounds(4, 4), 1);
  EXPECT_EQ(sharedRounds(0, 4), 1) << "a word is given to all";
  EXPECT_EQ(sharedRounds(8, 4), 2);
  EXPECT_EQ(sharedRounds(128, 4), 32) << "a column of a tile of 32 words";
  EXPECT_EQ(sharedRounds(132, 4), 1) << "of 33";
  EXPECT_EQ(sharedRounds(8, 8), 2) << "256 bytes";
  EXPECT_EQ(sharedRounds(16, 16), 4);
  EXPECT_EQ(sharedRounds(32, 8), 8) << "halves of four words' distance twice";
  EXPECT_EQ(sharedRounds(1, 1), 1);
}
