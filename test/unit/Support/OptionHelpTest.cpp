#include "Support/OptionHelp.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

OptionText option(const char *Name, const char *Value, const char *Help) {
  return {Name, Value, Help};
}

std::string choices(const char *Value) {
  return llvm::join(option("--x", Value, "").choices(), ",");
}

TEST(OptionHelp, spelling_ofEachKind_isWhatAUserTypes) {
  EXPECT_EQ(option("--quiet", "", "").spelling(), "--quiet");
  EXPECT_EQ(option("--mode", "a|b", "").spelling(), "--mode=a|b");
  EXPECT_EQ(option("-o", "FILE", "").spelling(), "-o FILE");
  EXPECT_EQ(option("", "FILE...", "").spelling(), "FILE...");
  OptionText Run = option("--run", "COMMAND", "");
  Run.IfAbsent = "auto";
  EXPECT_EQ(Run.spelling(), "--run[=COMMAND]");
}

TEST(OptionHelp, choices_ofAValue_areWordsOnlyIfNothingElseIsPossible) {
  EXPECT_EQ(choices("auto|every-8|0"), "auto,every-8,0");
  EXPECT_EQ(choices("FILE|latest"), "");
  EXPECT_EQ(choices("N"), "");
  EXPECT_EQ(choices("words"), "");
  EXPECT_EQ(choices(""), "");
}

TEST(OptionHelp, help_ofACommand_hasFormsArgumentsAndOptions) {
  CommandText Text{"carve test",
                   {{"[options] -- COMMAND...", "what it does"}, {"--list", "what else"}},
                   {option("", "COMMAND...", "the program")},
                   {option("--mode", "auto|fixed", "how"), option("-o", "FILE", "where")}};
  Text.Options[0].Default = "auto";
  Text.Options[0].Variable = "CARVE_MODE";
  Text.Options[1].Repeatable = true;
  EXPECT_EQ(Text.summary(), "what it does");
  EXPECT_EQ(printHelp(Text), "usage:\n"
                             "  carve test [options] -- COMMAND...\n"
                             "      what it does\n"
                             "  carve test --list\n"
                             "      what else\n"
                             "arguments:\n"
                             "  COMMAND...  the program\n"
                             "options:\n"
                             "  --mode=auto|fixed  how (default: auto; also: CARVE_MODE)\n"
                             "  -o FILE            where (repeatable)\n");
}

TEST(OptionHelp, longOptionsAndTexts_printed_keepToTheColumns) {
  std::string Word(40, 'w');
  std::string Text =
      printOptions({option("--a", "", "short"), option("--launch-domain", "preserve|traced",
                                                       (Word + " " + Word + " " + Word).c_str())});
  EXPECT_EQ(Text, "  --a  short\n"
                  "  --launch-domain=preserve|traced\n"
                  "       " +
                      Word + " " + Word + "\n       " + Word + "\n");
  // A default stays with its name.
  const std::string Wide(80, 'w');
  OptionText Long = option("--a", "", Wide.c_str());
  Long.Default = "none";
  EXPECT_EQ(printOptions({Long}), "  --a  " + Wide + "\n       (default: none)\n");
}

TEST(OptionHelp, completion_ofACommand_hasALineForEachOption) {
  CommandText Text{"carve test",
                   {},
                   {option("", "stats|clear", "what to do")},
                   {option("--mode", "auto|fixed", "how"), option("--profile", "FILE", "which"),
                    option("--quiet", "", "say less"), option("-o", "FILE", "where")}};
  EXPECT_EQ(printCompletion(Text), "--mode= auto fixed\n"
                                   "--profile=\n"
                                   "--quiet\n"
                                   "-o\n"
                                   "= stats clear\n");
}

} // namespace
