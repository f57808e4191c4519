#include "Spaces/MacroExpression.h"

#include "gtest/gtest.h"

using namespace carve;

namespace {

const std::vector<std::string> Macros = {"TILE", "UNROLL", "TYPE"};
const std::vector<MacroValue> Values = {{"TILE", "16"}, {"UNROLL", "4"}, {"TYPE", "float"}};

/// Returns the value, or the message of the failure.
std::string valueOf(llvm::StringRef Text) {
  auto E = MacroExpression::parse(Text, "--where", Macros);
  if (!E)
    return llvm::toString(E.takeError());
  llvm::Expected<int64_t> Value = E->evaluate(Values);
  return Value ? std::to_string(*Value) : llvm::toString(Value.takeError());
}

} // namespace

TEST(MacroExpression, operators_haveTheOrderOfC) {
  EXPECT_EQ(valueOf("1+2*3"), "7");
  EXPECT_EQ(valueOf("(1+2)*3"), "9");
  EXPECT_EQ(valueOf("10-4-3"), "3");
  EXPECT_EQ(valueOf("100/10/5"), "2");
  EXPECT_EQ(valueOf("17%5*2"), "4");
  EXPECT_EQ(valueOf("1 < 2 == 1"), "1");
  EXPECT_EQ(valueOf("1 == 0 || 1 && 0"), "0");
  EXPECT_EQ(valueOf("1 || 0 && 0"), "1");
  EXPECT_EQ(valueOf("-2*-3"), "6");
  EXPECT_EQ(valueOf("!0+!5"), "1");
  EXPECT_EQ(valueOf("!!7"), "1");
}

TEST(MacroExpression, comparisonsAndMacros_areEvaluated) {
  EXPECT_EQ(valueOf("TILE*TILE<=256&&UNROLL<TILE"), "1");
  EXPECT_EQ(valueOf("TILE % UNROLL != 0"), "0");
  EXPECT_EQ(valueOf("TILE >= 17 || UNROLL > 3"), "1");
  EXPECT_EQ(valueOf("4096/TILE"), "256");
}

TEST(MacroExpression, leftSideThatDecides_skipsTheRightSide) {
  EXPECT_EQ(valueOf("UNROLL == 4 || 1/0"), "1");
  EXPECT_EQ(valueOf("UNROLL != 4 && 1/0"), "0");
  EXPECT_EQ(valueOf("UNROLL == 4 && 1/0"),
            "--where 'UNROLL == 4 && 1/0', column 17: division by 0");
}

TEST(MacroExpression, mistake_isNamedWithItsColumn) {
  EXPECT_EQ(valueOf(""), "--where '', column 1: found the end, expected a number, a macro, '-', "
                         "'!' or '('");
  EXPECT_EQ(valueOf("TILE <= "), "--where 'TILE <= ', column 9: found the end, expected a number, "
                                 "a macro, '-', '!' or '('");
  EXPECT_EQ(valueOf("TILE & 1"),
            "--where 'TILE & 1', column 6: found '&', expected an operator or the end");
  EXPECT_EQ(valueOf("TILE = 1"),
            "--where 'TILE = 1', column 6: found '=', expected an operator or the end");
  EXPECT_EQ(valueOf("(TILE"), "--where '(TILE', column 6: found the end, expected an operator or "
                              "')'");
  EXPECT_EQ(valueOf("1 + WIDTH"), "--where '1 + WIDTH', column 5: found 'WIDTH', expected one of "
                                  "the space's macros, TILE, UNROLL, TYPE");
  EXPECT_EQ(valueOf("0x10"),
            "--where '0x10', column 1: found '0x10', expected a decimal number of at most 63 bits");
  EXPECT_EQ(valueOf("2 * TYPE"),
            "--where '2 * TYPE', column 5: TYPE is 'float', expected a whole number");
}

TEST(MacroExpression, resultBeyond64Bits_fails) {
  EXPECT_EQ(valueOf("9223372036854775807"), "9223372036854775807");
  EXPECT_NE(valueOf("9223372036854775807+1").find("column 20: the result does not fit"),
            std::string::npos);
  EXPECT_NE(valueOf("9223372036854775807*2").find("does not fit"), std::string::npos);
  EXPECT_NE(valueOf("(-9223372036854775807-1)/-1").find("does not fit"), std::string::npos);
  EXPECT_NE(valueOf(std::string(1000, '(')).find("nested deeper than 200"), std::string::npos);
}

TEST(MacroExpression, expressionList_hasAtMostThreeExtents) {
  auto List = llvm::cantFail(parseExpressionList("TILE,TILE/2", "--block", Macros, 3));
  ASSERT_EQ(List.size(), 2u);
  EXPECT_EQ(llvm::cantFail(List[1].evaluate(Values)), 8);
  EXPECT_EQ(llvm::toString(parseExpressionList("1,2", "--launches", Macros, 1).takeError()),
            "--launches '1,2' has 2 values, expected at most 1");
}
