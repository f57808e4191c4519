// Shell completion offers what the help of the programs names.
#include "DriverTier.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Program.h"

using namespace carve;

namespace {

class CompletionTest : public DriverTierTest {
protected:
  void SetUp() override {
    llvm::ErrorOr<std::string> Found = llvm::sys::findProgramByName("bash");
    if (!Found)
      GTEST_SKIP() << "no bash";
    Bash = *Found;
  }

  /// Returns what bash offers for \p Words, of which the last is being typed.
  std::vector<std::string> complete(const std::string &Program,
                                    const std::vector<std::string> &Words) {
    std::string Script = "compopt() { :; }; source '" CARVE_COMPLETION "'\nCOMP_WORDS=(";
    for (const std::string &Word : Words)
      Script += "'" + Word + "' ";
    Script += ")\nCOMP_CWORD=" + std::to_string(Words.size() - 1) + "\n" +
              (Words.front() == "carve" ? "_carve" : "_carve_nvcc") + " '" + Program + "' '" +
              Words.back() + "'\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    Ended E = run({Bash, "-c", Script});
    EXPECT_EQ(E.Status, 0);
    EXPECT_EQ(E.Stderr, "");
    llvm::SmallVector<llvm::StringRef> Lines;
    llvm::StringRef(E.Stdout).split(Lines, '\n', -1, /*KeepEmpty=*/false);
    return std::vector<std::string>(Lines.begin(), Lines.end());
  }
  std::vector<std::string> carveWords(std::vector<std::string> Words) {
    Words.insert(Words.begin(), "carve");
    return complete(CARVE_TOOL, Words);
  }
  using Offered = std::vector<std::string>;

  std::string Bash;
};

TEST_F(CompletionTest, commands_areThoseOfTheHelp) {
  EXPECT_EQ(carveWords({"tu"}), Offered{"tune"});
  EXPECT_EQ(carveWords({"--v"}), Offered{"--version"});
  // Each command is offered, and the help has it.
  Ended E = carve({"--help"});
  std::vector<std::string> Offered = carveWords({""});
  EXPECT_GT(Offered.size(), 10u);
  for (const std::string &Word : Offered)
    EXPECT_TRUE(Word[0] == '-' || E.Stdout.find("\n  " + Word + " ") != std::string::npos) << Word;
}

TEST_F(CompletionTest, options_areThoseOfTheCommand) {
  EXPECT_EQ(carveWords({"tune", "--bud"}), Offered{"--budget="});
  EXPECT_EQ(carveWords({"tune", "--qu"}), Offered{"--quiet"});
  EXPECT_TRUE(carveWords({"diff", "--bud"}).empty());
}

TEST_F(CompletionTest, values_areThoseOfTheOption) {
  EXPECT_EQ(carveWords({"tune", "--mode", "=", "r"}), (Offered{"rotate", "replay"}));
  EXPECT_EQ(carveWords({"tune", "--format", "="}), (Offered{"text", "json"}));
  EXPECT_TRUE(carveWords({"tune", "--profile", "=", "x"}).empty()) << "bash itself completes files";
}

TEST_F(CompletionTest, wordsAfterTheDashes_areNotCompleted) {
  EXPECT_TRUE(carveWords({"tune", "--", "./app", "--bud"}).empty());
}

TEST_F(CompletionTest, firstArgument_ofFewPossible_isOneOfThem) {
  EXPECT_EQ(carveWords({"store", "p"}), (Offered{"prune", "publish"}));
  EXPECT_EQ(carveWords({"store", "--repair", "v"}), Offered{"verify"});
  EXPECT_TRUE(carveWords({"merge", "v"}).empty()) << "files are bash's own";
}

TEST_F(CompletionTest, options_ofOneLetterOrWithAFile_areOfferedAsTheyAreTyped) {
  EXPECT_EQ(carveWords({"capture", "-o"}), Offered{"-o"});
  EXPECT_TRUE(carveWords({"report", "--report", "=", ""}).empty()) << "files are bash's own";
}

TEST_F(CompletionTest, carveNvcc_ownOptions_areCompleted) {
  EXPECT_EQ(complete(CARVE_NVCC_TOOL, {"carve-nvcc", "--carve-sc"}), Offered{"--carve-scope="});
  EXPECT_EQ(complete(CARVE_NVCC_TOOL, {"carve-nvcc", "-O3", "--carve-scope", "=", "f"}),
            Offered{"file"});
}

} // namespace
