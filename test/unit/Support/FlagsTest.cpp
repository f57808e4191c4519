#include "Support/Flags.h"
#include "Support/Error.h"

#include "gtest/gtest.h"

using namespace carve;
using Words = std::vector<std::string>;

namespace {

/// A fixture with one option of every kind.
class FlagsTest : public testing::Test {
protected:
  FlagsTest() {
    F.flag("--verbose", Verbose);
    F.text("--name", Name);
    F.list("--output", Outputs);
    F.number("--runs", Runs, 1, 100);
    F.seconds("--timeout", Timeout);
    F.choice("--format", {"text", "json"}, Format);
  }

  /// Returns the message of the error; empty for success.
  std::string parse(const Words &Args) {
    Positional.clear();
    Rest.clear();
    llvm::Error E = F.parse(Args, Positional, Rest);
    if (!E)
      return "";
    EXPECT_TRUE(E.isA<UsageError>());
    return llvm::toString(std::move(E));
  }

  Flags F{"carve test"};
  bool Verbose = false;
  std::string Name;
  Words Outputs, Positional, Rest;
  unsigned Runs = 7, Format = 0;
  double Timeout = 60;
};

} // namespace

TEST_F(FlagsTest, value_afterEqualsSignOrAsNextWord_isRead) {
  EXPECT_EQ(parse({"--name=a=b", "--runs", "9", "--timeout=0.5", "--format", "json", "--verbose"}),
            "");
  EXPECT_EQ(Name, "a=b");
  EXPECT_EQ(Runs, 9u);
  EXPECT_EQ(Timeout, 0.5);
  EXPECT_EQ(Format, 1u);
  EXPECT_TRUE(Verbose);
}

TEST_F(FlagsTest, option_repeated_listGrowsAndOthersKeepTheLast) {
  EXPECT_EQ(parse({"--output=a", "--output", "b", "--name=x", "--name=y"}), "");
  EXPECT_EQ(Outputs, (Words{"a", "b"}));
  EXPECT_EQ(Name, "y");
}

TEST_F(FlagsTest, words_aroundTheDashes_areSeparated) {
  EXPECT_EQ(parse({"one", "-", "--verbose", "two", "--", "--name", "x", "--"}), "");
  EXPECT_EQ(Positional, (Words{"one", "-", "two"}));
  EXPECT_EQ(Rest, (Words{"--name", "x", "--"}));
  EXPECT_EQ(Name, "");
}

TEST_F(FlagsTest, badOption_parsed_errorNamesActualAndExpected) {
  EXPECT_EQ(parse({"--runs=0"}),
            "carve test: --runs is '0', expected a whole number from 1 to 100");
  for (const char *Bad : {"101", "-1", "1.5", "many", "", "99999999999"})
    EXPECT_EQ(parse({"--runs", Bad}), std::string("carve test: --runs is '") + Bad +
                                          "', expected a whole number from 1 to 100");
  for (const char *Bad : {"0", "-1", "nan", "inf", "soon", ""})
    EXPECT_EQ(parse({"--timeout", Bad}), std::string("carve test: --timeout is '") + Bad +
                                             "', expected a number of seconds above 0");
  EXPECT_EQ(parse({"--format=xml"}), "carve test: --format is 'xml', expected text or json");
  EXPECT_EQ(parse({"--name="}), "carve test: --name is '', expected a value");
  EXPECT_EQ(parse({"--output="}), "carve test: --output is '', expected a value");
  EXPECT_EQ(parse({"--name"}), "carve test: --name needs a value: --name=...");
  EXPECT_EQ(parse({"--verbose=1"}), "carve test: --verbose takes no value, not '1'");
  EXPECT_EQ(parse({"--nam=x"}), "carve test: unknown option '--nam'");
  EXPECT_EQ(parse({"-v"}), "carve test: unknown option '-v'");
  EXPECT_EQ(Runs, 7u);
  EXPECT_EQ(Timeout, 60);
}

TEST_F(FlagsTest, apply_option_returnsWhetherItIsKnown) {
  std::string Value = "x";
  EXPECT_TRUE(llvm::cantFail(F.apply("--name", &Value)));
  EXPECT_FALSE(llvm::cantFail(F.apply("--other", &Value)));
  EXPECT_EQ(Name, "x");
}
