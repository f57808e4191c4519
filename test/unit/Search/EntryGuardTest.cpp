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
  EXPECT_EQ(guardText({.Arguments = {{0, 4, 7}, {0, 4, 8, 12}}}),
            "parameter 0 = 7, parameter 0 + 12 = 8");
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
