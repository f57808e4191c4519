// The man pages and the manual name the options that the tools take, all of them and no others.
#include "DriverTier.h"
#include "unit/Report/Golden.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>

using namespace carve;

namespace {

using Names = std::set<std::string>;

/// The word that \p Word, `--mode= auto fixed`, begins with, without `=`.
std::string nameIn(llvm::StringRef Word) {
  return Word.take_until([](char C) { return C == '=' || C == ' '; }).str();
}

Names namesIn(const Names &Words) {
  Names Found;
  for (const std::string &Word : Words)
    Found.insert(nameIn(Word));
  return Found;
}

/// The options that a line of a man page names, each as `--help=words` prints it. After `Fl` come a
/// name, then others after `,` or `|`; a value follows after `Ns = Ns`, `Cm` before words that it
/// can be, `Ar` before anything.
void addOptions(llvm::StringRef Line, Names &To) {
  llvm::SmallVector<llvm::StringRef> Words;
  Line.split(Words, ' ', -1, /*KeepEmpty=*/false);
  auto At = [&](size_t I) { return I < Words.size() ? Words[I] : llvm::StringRef(); };
  bool Flags = false;
  for (size_t I = 0; I < Words.size(); ++I) {
    bool Another = Flags && (At(I) == "," || At(I) == "|") && At(I + 1).starts_with("-");
    Flags = Another || At(I).trim('.') == "Fl";
    if (!Flags || At(I + 1) == "-")
      continue;
    std::string Option = ("-" + At(++I)).str();
    bool HasValue = At(I + 1) == "Ns" || At(I + 1) == "Ar";
    if (HasValue && llvm::StringRef(Option).starts_with("--"))
      Option += "=";
    size_t Value = I + 1;
    while (HasValue && Value < Words.size() && At(Value) != "Cm" && At(Value) != "Ar")
      ++Value;
    if (HasValue && At(Value) == "Cm")
      for (++Value; Value < Words.size(); Value += 2) {
        Option += " " + At(Value).str();
        if (At(Value + 1) != "|")
          break;
      }
    To.insert(Option);
  }
}

class OptionDocumentsTest : public DriverTierTest {
protected:
  static std::string document(const char *Name) {
    llvm::Expected<std::string> Text = readFile(std::string(CARVE_SOURCE_DIR "/share/") + Name);
    if (Text)
      return *Text;
    ADD_FAILURE() << llvm::toString(Text.takeError());
    return "";
  }

  /// The lines of what a tool prints for completion; what its first argument can be is left out.
  static Names wordsIn(const Ended &E) {
    EXPECT_EQ(E.Status, 0);
    EXPECT_EQ(E.Stderr, "");
    Names Found;
    for (llvm::StringRef Line : llvm::split(E.Stdout, '\n'))
      if (!Line.empty() && !Line.starts_with("= "))
        Found.insert(Line.str());
    return Found;
  }

  Names commands() {
    Names Found;
    for (const std::string &Word : wordsIn(carve({"--help=words"})))
      if (Word[0] != '-')
        Found.insert(Word);
    return Found;
  }

  /// The options in the synopsis of a man page, by command; those of no command by "".
  static std::map<std::string, Names> synopsis(const std::string &Page) {
    std::map<std::string, Names> Found;
    size_t Begin = Page.find(".Sh SYNOPSIS"), End = Page.find(".Sh DESCRIPTION");
    std::string Command;
    for (llvm::StringRef Line : llvm::split(llvm::StringRef(Page).slice(Begin, End), '\n')) {
      if (Line == ".Nm")
        Command = "";
      if (Command.empty() && Line.consume_front(".Cm "))
        Found[Command = Line.str()];
      else
        addOptions(Line, Found[Command]);
    }
    return Found;
  }

  /// The names that lists of options of a man page describe, by the title of the section.
  static std::map<std::string, Names> described(const std::string &Page) {
    std::map<std::string, Names> Found;
    std::string Section;
    for (llvm::StringRef Line : llvm::split(Page, '\n'))
      if (Line.consume_front(".Ss ") || Line.consume_front(".Sh "))
        Section = Line.str();
      else if (Line.starts_with(".It Fl ")) {
        Names Options;
        addOptions(Line, Options);
        Found[Section].merge(namesIn(Options));
      }
    return Found;
  }

  /// The first cells of the table in the section of the manual, and the last ones.
  static std::vector<std::pair<std::string, std::string>> manualTable(const char *Heading) {
    std::string Manual = document("doc/manual.md");
    size_t Begin = Manual.find(std::string("\n## ") + Heading + "\n");
    EXPECT_NE(Begin, std::string::npos) << Heading;
    std::vector<std::pair<std::string, std::string>> Rows;
    for (llvm::StringRef Line :
         llvm::split(llvm::StringRef(Manual).slice(Begin, Manual.find("\n## ", Begin + 1)), '\n'))
      if (Line.consume_front("| `")) {
        Line.consume_back("|");
        Rows.emplace_back(Line.split(" | ").first.str(),
                          Line.rsplit(" | ").second.trim(" `").str());
      }
    EXPECT_GT(Rows.size(), 3u) << Heading;
    return Rows;
  }

  /// What the first group of \p Pattern matches, again and again.
  static Names matches(const std::string &Text, const char *Pattern) {
    const std::regex Wanted(Pattern);
    Names Found;
    for (std::sregex_iterator I(Text.begin(), Text.end(), Wanted), End; I != End; ++I)
      Found.insert((*I)[1]);
    return Found;
  }

  /// The help of a tool, what belongs to an option in one line.
  static std::string unwrapped(const Ended &E) {
    return std::regex_replace(E.Stdout, std::regex("\n {4,}"), " ");
  }
};

} // namespace

TEST_F(OptionDocumentsTest, manPageSynopsis_ofEachCommand_hasItsOptionsAndTheirValues) {
  std::map<std::string, Names> Page = synopsis(document("man/carve.1"));
  Names Found = commands(), Documented;
  EXPECT_GT(Found.size(), 10u);
  for (const auto &[Command, Options] : Page)
    if (!Command.empty())
      Documented.insert(Command);
  EXPECT_EQ(Documented, Found);
  EXPECT_EQ(Page[""], (Names{"--help", "--version"}));
  for (const std::string &Command : Found)
    EXPECT_EQ(Page[Command], wordsIn(carve({Command, "--help=words"}))) << Command;
}

TEST_F(OptionDocumentsTest, manPageSections_ofEachCommand_describeItsOptions) {
  std::map<std::string, Names> Page = described(document("man/carve.1"));
  for (const std::string &Command : commands()) {
    EXPECT_EQ(Page["carve " + Command], namesIn(wordsIn(carve({Command, "--help=words"}))))
        << Command;
    Page.erase("carve " + Command);
  }
  for (const auto &[Section, Options] : Page)
    ADD_FAILURE() << "options of no command: " << Section;
}

TEST_F(OptionDocumentsTest, manPageOfCarveNvcc_namesItsOptions) {
  const Names Options = wordsIn(carveNvcc({"--carve-help=words"}));
  const std::string Page = document("man/carve-nvcc.1");
  EXPECT_GT(Options.size(), 10u);
  EXPECT_EQ(synopsis(Page)[""], Options);
  EXPECT_EQ(described(Page)["Options"], namesIn(Options));
}

TEST_F(OptionDocumentsTest, manual_tableOfOptions_hasThemWithTheirDefaults) {
  const std::string Help = unwrapped(carveNvcc({"--carve-help"}));
  Names Documented;
  for (auto [Cell, Default] : manualTable("Options")) {
    for (const std::string &Spelling : matches("`" + Cell, "`(--[^`]*)`")) {
      auto [Name, Value] = llvm::StringRef(Spelling).split('=');
      std::string Word = Spelling.find('=') == std::string::npos ? Spelling : (Name + "=").str();
      if (Value.contains("\\|"))
        Word += " " + std::regex_replace(Value.str(), std::regex("\\\\\\|"), " ");
      Documented.insert(Word);
      std::smatch Line;
      ASSERT_TRUE(std::regex_search(Help, Line, std::regex("\n  " + Name.str() + "\\b(?!-).*")))
          << Name.str();
      Names OfHelp = matches(Line.str(), "default: ([^;)]*)");
      EXPECT_EQ(Default, OfHelp.empty() ? "" : *OfHelp.begin()) << Name.str();
    }
  }
  EXPECT_EQ(Documented, wordsIn(carveNvcc({"--carve-help=words"})));
}

TEST_F(OptionDocumentsTest, manual_tableOfCommands_hasEachOfThem) {
  Names Documented;
  for (const auto &[Cell, Last] : manualTable("Commands"))
    Documented.merge(matches(Cell, "^carve ([a-z]+)"));
  EXPECT_EQ(Documented, commands());
}

TEST_F(OptionDocumentsTest, variablesThatOptionsHave_areInTheManualAndTheManPages) {
  Names Variables = matches(unwrapped(carveNvcc({"--carve-help"})), "also: (\\w+)");
  EXPECT_GT(Variables.size(), 3u);
  for (const std::string &Command : commands())
    Variables.merge(matches(unwrapped(carve({Command, "--help"})), "(CARVE_\\w+)"));
  Names Documented;
  for (const auto &[Cell, Last] : manualTable("Environment"))
    Documented.merge(matches(Cell, "(CARVE_\\w+)"));
  for (const std::string &Variable : Variables) {
    EXPECT_EQ(Documented.count(Variable), 1u) << Variable;
    EXPECT_NE(document("man/carve-nvcc.1").find(".It Ev " + Variable), std::string::npos)
        << Variable;
  }
}

TEST_F(OptionDocumentsTest, help_ofEveryCommand_fitsAndExplainsEachOption) {
  std::vector<std::string> Helps = {carve({"--help"}).Stdout, carveNvcc({"--carve-help"}).Stdout};
  for (const std::string &Command : commands()) {
    Ended E = carve({Command, "--help"});
    EXPECT_EQ(E.Status, 0) << Command;
    EXPECT_EQ(E.Stderr, "") << Command;
    Helps.push_back(E.Stdout);
    // The line in the list of commands is the command's own.
    const Names Summary = matches(E.Stdout, "^usage:\n  carve [^\n]*\n      ([^\n]*)\n");
    ASSERT_EQ(Summary.size(), 1u) << E.Stdout;
    std::string Line = "\n  " + Command + std::string(10 - Command.size(), ' ');
    EXPECT_NE(Helps.front().find(Line + *Summary.begin() + "\n"), std::string::npos) << Command;
    const std::string Lines = unwrapped(E);
    for (const std::string &Name : namesIn(wordsIn(carve({Command, "--help=words"}))))
      EXPECT_TRUE(std::regex_search(Lines, std::regex("\n  " + Name + "([= \\[][^ ]+)? .*[a-z]")))
          << Command << " " << Name;
  }
  for (const std::string &Help : Helps)
    for (llvm::StringRef Line : llvm::split(Help, '\n'))
      EXPECT_LE(Line.size(), 100u) << Line.str();
}

TEST_F(OptionDocumentsTest, help_ofTheTools_isTheRecordedOne) {
  std::string Text = carve({"--help"}).Stdout + "\n" + carveNvcc({"--carve-help"}).Stdout;
  for (const std::string &Command : commands())
    Text += "\n" + carve({Command, "--help"}).Stdout;
  expectGolden(Text, "help.txt");
}
