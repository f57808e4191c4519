#include "Search/EntryGuard.h"

#include "gtest/gtest.h"

using namespace carve;

TEST(EntryGuard, mostThreads_isTheSmallestBound) {
  EXPECT_EQ(EntryGuard().mostThreads(), 1024u);
  EXPECT_EQ((EntryGuard{.MaxThreads = 256}).mostThreads(), 256u);
  EXPECT_EQ((EntryGuard{.Block = {{16, 8, 2}}}).mostThreads(), 256u);
  EXPECT_EQ((EntryGuard{.MaxThreads = 100, .Block = {{16, 8, 2}}}).mostThreads(), 100u);
  EXPECT_EQ((EntryGuard{.Grid = {{1, 2, 3}}}).mostThreads(), 1024u);
  // No such block can be launched, and the product is larger than 32 bits.
  EXPECT_EQ((EntryGuard{.Block = {{65536, 65536, 1}}}).mostThreads(), 1024u);
}

TEST(EntryGuard, text_namesWhatIsSet) {
  EXPECT_EQ(guardText({}), "always");
  EXPECT_EQ(guardText({.MaxThreads = 256}), "threads <= 256");
  EXPECT_EQ(guardText({.MaxThreads = 256, .Block = {{16, 16, 1}}, .Grid = {{1, 2, 3}}}),
            "threads <= 256, block 16x16x1, grid 1x2x3");
  EXPECT_EQ(guardText({.Arguments = {{0, 4, 7}, {0, 4, 8, 12}, {0, 1, 3, 16}, {1, 8, 9}}}),
            "parameter 0 = 7, bytes 12 to 15 of parameter 0 = 8, byte 16 of parameter 0 = 3, "
            "parameter 1 = 9 (8 bytes)");
  EXPECT_EQ(guardText({.Arguments = {{0, 1, 0}, {1, 2, 5}}}),
            "lowest byte of parameter 0 = 0, lowest 2 bytes of parameter 1 = 5");
  EXPECT_EQ(guardText({.Arguments = {{4, 4, 7}}, .Apart = {{0, 0}, {3, 8}}}),
            "parameter 4 = 7, parameters 0 3+8 point to separate allocations");
  EXPECT_EQ(guardText({.Apart = {{1, 0}}}), "parameter 1 points to an allocation");
}

TEST(EntryGuard, dimensions_areReadBackAndNothingElseIs) {
  const std::array<unsigned, 3> Largest = {2147483647, 65535, 1};
  EXPECT_EQ(parseDimensions(dimensionsText(Largest)), Largest);
  for (const char *Bad : {"", "1", "1x1", "1x1x1x1", "0x1x1", "1x1x0", "01x1x1", "1X1X1", " 1x1x1",
                          "-1x1x1", "1x1x4294967296", "1x1x1 "})
    EXPECT_EQ(parseDimensions(Bad), std::nullopt) << Bad;
}

TEST(EntryGuard, names_areThoseOfTheKernelAndDiffer) {
  EXPECT_EQ(furtherEntryName("_Z1kPf", 0), "_Z1kPf__carve_e1");
  EXPECT_EQ(furtherEntryName("_Z1kPf", 2), "_Z1kPf__carve_e3");
}

TEST(EntryGuard, holdText_isRoundedAwayFromNothingAndAll) {
  EXPECT_EQ(holdText({50, 50, 1}), "held at 50 of 50 launches, 100 % of its GPU time");
  EXPECT_EQ(holdText({50, 49, 0.99999}), "held at 49 of 50 launches, 99.9 % of its GPU time");
  EXPECT_EQ(holdText({50, 1, 0.00001}), "held at 1 of 50 launches, 0.1 % of its GPU time");
  EXPECT_EQ(holdText({50, 0, 0}), "held at 0 of 50 launches, 0 % of its GPU time");
  EXPECT_EQ(holdText({50, 20, 0.255, true}),
            "held at no more than 20 of 50 launches, 25.5 % of its GPU time");
}

TEST(EntryGuard, guardThatHoldsForLessThanHalf_isWarnedOf) {
  const GuardHold Tuned = {50, 40, 0.8};
  EXPECT_EQ(holdWarning("block 16x16x1", Tuned, {50, 40, 0.4}), "") << "half is not less than half";
  EXPECT_EQ(holdWarning("block 16x16x1", Tuned, {50, 40, 0.39}),
            "the further entry for launches with block 16x16x1 was tuned for 80 % of the kernel's "
            "GPU time and has 39 % now: the other launches take nvcc's code; tune again");
  EXPECT_NE(holdWarning("block 16x16x1", Tuned, {50, 40, 0.39, true}).find("at most 39 %"),
            std::string::npos);
  EXPECT_EQ(holdWarning("block 16x16x1", std::nullopt, {50, 0, 0}), "") << "a pin was not tuned";
  EXPECT_EQ(holdWarning("block 16x16x1", Tuned, {0, 0, 0}), "") << "it was not launched";
}
