#include "Support/StayReason.h"

#include "gtest/gtest.h"

#include <set>

using namespace carve;

TEST(StayReason, knownReason_inARecord_comesBack) {
  std::set<std::string> Identifiers, Words;
  for (size_t I = 0; I <= size_t(KnownReason::SharedCallee); ++I) {
    StayReason R = KnownReason(I);
    EXPECT_FALSE(R.empty());
    EXPECT_EQ(R.text(), identifierOf(KnownReason(I)));
    EXPECT_TRUE(parseStayReason(R.text()) == R) << R.text();
    EXPECT_NE(R.words(), R.text());
    Identifiers.insert(R.text());
    Words.insert(R.words());
  }
  EXPECT_EQ(Identifiers.size(), size_t(KnownReason::SharedCallee) + 1);
  EXPECT_EQ(Words.size(), Identifiers.size());
  EXPECT_TRUE(parseStayReason("below-share") == KnownReason::BelowShare);
}

TEST(StayReason, sentence_inARecord_comesBack) {
  StayReason R = parseStayReason("no variant was faster");
  EXPECT_FALSE(R.empty());
  EXPECT_FALSE(R.Known);
  EXPECT_EQ(R.text(), "no variant was faster");
  EXPECT_EQ(R.words(), "no variant was faster");
  EXPECT_TRUE(R == StayReason("no variant was faster"));
  // The words of a known reason are a sentence like any other.
  EXPECT_FALSE(parseStayReason(StayReason(KnownReason::BelowShare).words()) ==
               KnownReason::BelowShare);
}

TEST(StayReason, noReason_isEmpty) {
  EXPECT_TRUE(StayReason().empty());
  EXPECT_TRUE(parseStayReason("").empty());
  EXPECT_TRUE(parseStayReason("") == StayReason());
  EXPECT_EQ(StayReason().text() + StayReason().words(), "");
}
