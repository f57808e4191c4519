#include "Spaces/ProgramSpace.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

std::vector<std::string> namesOf(llvm::StringRef Text, llvm::StringRef Where = "") {
  ProgramSpace Space = llvm::cantFail(parseProgramSpace(Text));
  std::optional<MacroExpression> E;
  if (!Where.empty())
    E = llvm::cantFail(MacroExpression::parse(Where, "--where", Space.names()));
  std::vector<std::string> Names;
  for (const Configuration &C : llvm::cantFail(configurationsOf(Space, E ? &*E : nullptr)))
    Names.push_back(C.name());
  return Names;
}

std::string mistakeIn(llvm::StringRef Text) {
  auto Space = parseProgramSpace(Text);
  return Space ? "" : llvm::toString(Space.takeError());
}

} // namespace

TEST(ProgramSpace, lastMacro_variesFastest) {
  EXPECT_EQ(namesOf("A=8,16;B=x,y"),
            (std::vector<std::string>{"A=8,B=x", "A=8,B=y", "A=16,B=x", "A=16,B=y"}));
}

TEST(ProgramSpace, rangesBlanksAndFinalSemicolon_areRead) {
  EXPECT_EQ(namesOf(" A = 1..3 ; "), (std::vector<std::string>{"A=1", "A=2", "A=3"}));
  EXPECT_EQ(namesOf("A=-1..0,8"), (std::vector<std::string>{"A=-1", "A=0", "A=8"}));
}

TEST(ProgramSpace, where_leavesConfigurationsOut) {
  EXPECT_EQ(namesOf("TILE=8,16;UNROLL=8,16", "UNROLL<=TILE"),
            (std::vector<std::string>{"TILE=8,UNROLL=8", "TILE=16,UNROLL=8", "TILE=16,UNROLL=16"}));
}

TEST(ProgramSpace, defines_areWordsForTheCompiler) {
  Configuration C{{{"TILE", "8"}, {"TYPE", "float"}}};
  EXPECT_EQ(C.defines(), (std::vector<std::string>{"-DTILE=8", "-DTYPE=float"}));
}

TEST(ProgramSpace, mistake_isNamedWithItsPart) {
  EXPECT_EQ(mistakeIn(""), "--space names no macro, expected NAME=VALUE,VALUE;NAME=VALUE,...");
  EXPECT_EQ(mistakeIn("TILE"), "--space: 'TILE', expected NAME=VALUE,VALUE,...");
  EXPECT_EQ(mistakeIn("8TILE=1"), "--space: '8TILE=1', expected NAME=VALUE,VALUE,...");
  EXPECT_EQ(mistakeIn("TILE=8,,16"), "--space: TILE has an empty value, expected NAME=VALUE,VALUE");
  EXPECT_EQ(mistakeIn("TILE=8,8"), "--space: TILE has the value '8' twice");
  EXPECT_EQ(mistakeIn("TILE=1..3,2"), "--space: TILE has the value '2' twice");
  EXPECT_EQ(mistakeIn("A=1;A=2"), "--space: A occurs twice");
  EXPECT_EQ(mistakeIn("A=1..100001"),
            "--space: A has the range '1..100001', expected at most 100000 values");
  EXPECT_EQ(mistakeIn("A=9223372036854775807..9223372036854775807;B"),
            "--space: 'B', expected NAME=VALUE,VALUE,...");
  EXPECT_EQ(mistakeIn("A=8..1"), "--space: A has the range '8..1', expected whole numbers, the "
                                 "smaller first, as 1..8");
  EXPECT_EQ(mistakeIn("A=a..b"), "--space: A has the range 'a..b', expected whole numbers, the "
                                 "smaller first, as 1..8");
  EXPECT_EQ(mistakeIn("A=1..1000;B=1..1000"),
            "--space has 1000000 configurations, expected at most 100000");
  EXPECT_EQ(mistakeIn("A=1..50000;B=1..50000;C=1..50000;D=1..50000;E=1..50000"),
            "--space has far too many configurations, expected at most 100000");
}

TEST(ProgramSpace, failingExpression_namesTheConfiguration) {
  ProgramSpace Space = llvm::cantFail(parseProgramSpace("A=1,0"));
  auto Where = llvm::cantFail(MacroExpression::parse("4/A", "--where", Space.names()));
  EXPECT_EQ(llvm::toString(configurationsOf(Space, &Where).takeError()),
            "--where '4/A', column 2: division by 0, in A=0");
}
