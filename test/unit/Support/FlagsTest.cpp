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
    F.form("[options] WORD...", "tests");
    F.arguments("WORD...", Positional, "some words");
    F.behind("COMMAND...", Rest, "a command");
    F.flag("--verbose", Verbose, "print more");
    F.text("--name", "NAME", Name, "the name");
    F.list("--output", "FILE", Outputs, "a file").Variable = "TEST_OUTPUT";
    F.number("--runs", "N", Runs, 1, 100, "how many").Variable = "TEST_RUNS";
    F.seconds("--timeout", "SECONDS", Timeout, "how long");
    F.choice("--format", {"text", "json"}, Format, "how it is printed");
    F.value(
         "--start", "WHEN",
         [this](llvm::StringRef When) -> std::string {
           Start = When.str();
           return When == "never" ? "a time" : "";
         },
         "when")
        .IfAbsent = "now";
  }

  /// Returns the message of the error; empty for success.
  std::string parse(const Words &Args) {
    Positional.clear();
    Rest.clear();
    llvm::Error E = F.parse(Args);
    if (!E)
      return "";
    EXPECT_TRUE(E.isA<UsageError>());
    return llvm::toString(std::move(E));
  }

  Flags F{"carve test"};
  bool Verbose = false;
  std::string Name, Start;
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
  EXPECT_EQ(parse({"--nam=x"}), "carve test: unknown option '--nam'; carve test --help lists them");
  EXPECT_EQ(parse({"-v"}), "carve test: unknown option '-v'; carve test --help lists them");
  EXPECT_EQ(Runs, 7u);
  EXPECT_EQ(Timeout, 60);
}

TEST_F(FlagsTest, apply_option_returnsWhetherItIsKnown) {
  std::string Value = "x";
  EXPECT_TRUE(llvm::cantFail(F.apply("--name", &Value)));
  EXPECT_FALSE(llvm::cantFail(F.apply("--other", &Value)));
  EXPECT_EQ(Name, "x");
}

TEST_F(FlagsTest, optionalValue_absentOrRefused_isReplacedOrAnError) {
  EXPECT_EQ(parse({"--start"}), "");
  EXPECT_EQ(Start, "now");
  EXPECT_EQ(parse({"--start=then"}), "");
  EXPECT_EQ(Start, "then");
  EXPECT_EQ(parse({"--start=never"}), "carve test: --start is 'never', expected a time");
}

TEST_F(FlagsTest, variables_ofEnvironment_giveValuesUnlessAnOptionDoes) {
  auto Env = [](llvm::StringRef Variable) -> std::optional<std::string> {
    return Variable == "TEST_RUNS" ? std::optional<std::string>("9") : std::string();
  };
  ASSERT_FALSE(bool(F.parse({}, Env)));
  EXPECT_EQ(Runs, 9u);
  EXPECT_EQ(Outputs, Words{});
  ASSERT_FALSE(bool(F.parse({"--runs=5"}, Env)));
  EXPECT_EQ(Runs, 5u);
}

TEST_F(FlagsTest, given_variablesAndOptions_giveTheSameValuesAgain) {
  auto Env = [](llvm::StringRef Variable) -> std::optional<std::string> {
    return Variable == "TEST_RUNS" ? std::optional<std::string>("9") : std::nullopt;
  };
  EXPECT_EQ(
      F.given({"--name", "a b", "word", "--other=1", "--output=o", "--verbose", "--", "--runs=1"},
              Env),
      (Words{"--runs=9", "--name=a b", "--output=o", "--verbose"}));
  EXPECT_EQ(parse({"--runs=9", "--name=a b"}), "");
  EXPECT_EQ(Runs, 9u);
  EXPECT_EQ(Name, "a b");
}

TEST_F(FlagsTest, badVariable_parsed_errorNamesIt) {
  auto Env = [](llvm::StringRef) { return std::optional<std::string>("0"); };
  EXPECT_EQ(llvm::toString(F.parse({}, Env)),
            "carve test: TEST_RUNS is '0', expected a whole number from 1 to 100");
}

TEST(FlagsWithoutArguments, words_parsed_areRefusedAlsoAfterTheDashes) {
  for (const Words &Args : {Words{"x"}, Words{"--", "x"}})
    EXPECT_EQ(llvm::toString(Flags("carve test").parse(Args)),
              "carve test: unexpected 'x', expected only options");
}

TEST(FlagsWithArguments, wordsAfterTheDashes_withoutAnOwnPlace_areArguments) {
  Words Files;
  Flags F("carve test");
  F.arguments("FILE...", Files, "some files");
  ASSERT_FALSE(bool(F.parse({"a", "--", "-b", "--help"})));
  EXPECT_EQ(Files, (Words{"a", "-b", "--help"}));
}

TEST_F(FlagsTest, help_askedForBeforeTheDashes_isGivenAndNothingElseDone) {
  for (const Words &Args : {Words{"--help"}, Words{"--runs=0", "-h"}, Words{"--name", "--help"}}) {
    llvm::Error E = F.parse(Args);
    EXPECT_TRUE(E.isA<HelpAsked>());
    EXPECT_EQ(llvm::toString(std::move(E)), printHelp(F.help()));
  }
  EXPECT_EQ(llvm::toString(F.parse({"--help=words"})), printCompletion(F.help()));
  EXPECT_EQ(Name, "");
  EXPECT_EQ(parse({"--", "--help"}), "");
}

TEST_F(FlagsTest, helpOfOptions_holdsWhatTheyStartWith) {
  std::vector<std::string> Shown;
  for (const OptionText &O : F.help().Options)
    Shown.push_back(O.spelling() + " " + O.Default);
  EXPECT_EQ(Shown, (Words{"--verbose ", "--name=NAME ", "--output=FILE ", "--runs=N 7",
                          "--timeout=SECONDS 60", "--format=text|json text", "--start[=WHEN] "}));
}

TEST(FlagsOfTypes, choice_ofEnumeratorOrTruth_isStored) {
  enum class Pace { Slow, Fast };
  Pace Chosen = Pace::Slow;
  bool Json = true;
  unsigned Unknown = ~0u;
  Flags F("carve test");
  EXPECT_EQ(F.choice("--pace", {"slow", "fast"}, Chosen, "how fast").Default, "slow");
  EXPECT_EQ(F.choice("--format", {"text", "json"}, Json, "how it is printed").Default, "json");
  EXPECT_EQ(F.choice("--as", {"a", "b"}, Unknown, "which").Default, "");
  ASSERT_FALSE(bool(F.parse({"--pace=fast", "--format=text"})));
  EXPECT_EQ(Chosen, Pace::Fast);
  EXPECT_FALSE(Json);
  EXPECT_EQ(Unknown, ~0u);
}
