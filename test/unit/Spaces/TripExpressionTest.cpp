#include "Spaces/TripExpression.h"

#include "gtest/gtest.h"

using namespace carve;

static TripCounts counted(std::initializer_list<const char *> Texts) {
  std::vector<TripExpression> Said;
  for (const char *Text : Texts)
    Said.push_back(llvm::cantFail(parseTripExpression(Text, {std::string("TILE")})));
  return llvm::cantFail(tripCountsOf(Said, {MacroValue{"TILE", "16"}}));
}

TEST(TripExpression, trips_areForAllByNumberOrByLine) {
  EXPECT_EQ(counted({}).Assumed, 16);
  TripCounts T = counted({"2048/TILE", "2=TILE", "L42=TILE*2"});
  EXPECT_EQ(T.Assumed, 128);
  EXPECT_EQ(T.ByNumber, (std::map<unsigned, double>{{2, 16}}));
  EXPECT_EQ(T.ByLine, (std::map<unsigned, double>{{42, 32}}));
  EXPECT_EQ(counted({"1 + (TILE == 16)"}).Assumed, 2);
}

TEST(TripExpression, mistake_isNamed) {
  auto Mistake = [](const char *Text) {
    auto T = parseTripExpression(Text, {std::string("TILE")});
    return T ? llvm::toString(tripCountsOf(*T, {MacroValue{"TILE", "16"}}).takeError())
             : llvm::toString(T.takeError());
  };
  EXPECT_EQ(Mistake("0=4"), "--trips '0=4', expected loops and lines to be numbered from 1");
  EXPECT_EQ(Mistake("L7=TILE-16"), "--trips 'L7=TILE-16' is 0, expected a number above 0");
  EXPECT_EQ(Mistake("1=WIDE"), "--trips 'WIDE', column 1: found 'WIDE', expected one of the "
                               "space's macros, TILE");
}
