#include "Probe/Replay/Verification.h"

#include <gtest/gtest.h>
#include <limits>

using namespace carve::probe;

TEST(OutputSpread, variant_mayDifferAsMuchAsTheDefaultItself) {
  OutputSpread S;
  S.Multiset = 5;
  S.widen({100, 1e-6, 1e-9, 6});
  S.widen({120, 5e-7, 2e-9, 7});
  EXPECT_FALSE(S.SameMultiset);
  EXPECT_TRUE(S.holds({256, 4e-6, 8e-9, 8}));
  EXPECT_FALSE(S.holds({257, 4e-6, 8e-9, 8}));
  EXPECT_FALSE(S.holds({256, 5e-6, 8e-9, 8}));
  EXPECT_FALSE(S.holds({256, 4e-6, 9e-9, 8}));
}

TEST(OutputSpread, permutedOutput_hasTheSameWords) {
  OutputSpread S;
  S.Multiset = 5;
  double Any = std::numeric_limits<double>::infinity();
  S.widen({100, Any, Any, 5});
  EXPECT_TRUE(S.SameMultiset);
  EXPECT_TRUE(S.holds({90, Any, 3, 5}));
  EXPECT_FALSE(S.holds({90, Any, 3, 6})) << "a word that the default never writes";
}

TEST(Cover, newSpans_areReportedAndAdded) {
  std::vector<Span> Spans = {{0, 100, 50}, {1, 0, 10}};
  EXPECT_TRUE(cover(Spans, {}));
  EXPECT_TRUE(cover(Spans, {{0, 110, 40}, {1, 0, 10}}));
  EXPECT_EQ(Spans.size(), 2u);
  EXPECT_FALSE(cover(Spans, {{0, 140, 20}}));
  ASSERT_EQ(Spans.size(), 2u);
  EXPECT_EQ(Spans[0].Offset, 100u);
  EXPECT_EQ(Spans[0].Bytes, 60u);
  EXPECT_FALSE(cover(Spans, {{2, 0, 4}}));
  EXPECT_EQ(Spans.size(), 3u);
  EXPECT_FALSE(cover(Spans, {{1, 5, 2}, {0, 99, 1}}));
  EXPECT_EQ(Spans[0].Offset, 99u);
  EXPECT_EQ(Spans[0].Bytes, 61u);
}

TEST(Cover, manySpans_areCoveredQuickly) {
  std::vector<Span> Spans, Same;
  for (size_t I = 0; I < 300'000; ++I)
    Spans.push_back({0, I * 2, 1});
  Same = Spans;
  EXPECT_TRUE(cover(Spans, Same)) << "squared, this would take minutes";
  EXPECT_FALSE(cover(Spans, {{0, 1, 1}}));
  EXPECT_EQ(Spans.size(), 299'999u);
}
