// The documents agree with the source tree and with the tools' output.
#include "DriverTier.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <regex>

using namespace carve;
namespace fs = std::filesystem;

namespace {

class DocumentsTest : public DriverTierTest {
protected:
  const fs::path Tree = CARVE_SOURCE_DIR;

  static std::string text(const fs::path &File) {
    llvm::Expected<std::string> Text = readFile(File.string());
    if (Text)
      return *Text;
    ADD_FAILURE() << llvm::toString(Text.takeError());
    return "";
  }

  static Words lines(const std::string &Text) {
    Words Lines;
    for (llvm::StringRef Line : llvm::split(Text, '\n'))
      Lines.push_back(Line.str());
    return Lines;
  }

  /// Returns what the first group of \p Pattern matches, for each match in \p Text.
  static Words matches(const std::string &Text, const char *Pattern) {
    const std::regex Wanted(Pattern);
    Words Found;
    for (std::sregex_iterator I(Text.begin(), Text.end(), Wanted), End; I != End; ++I)
      Found.push_back((*I)[1]);
    return Found;
  }

  /// Returns every Markdown file of the project.
  std::vector<fs::path> documents() const {
    std::vector<fs::path> Found = {Tree / "README.md"};
    for (const char *Folder : {"share", "test"})
      for (const fs::directory_entry &Entry : fs::recursive_directory_iterator(Tree / Folder))
        if (Entry.path().extension() == ".md")
          Found.push_back(Entry.path());
    return Found;
  }

  /// Returns the names by which links refer to the headings of a Markdown file, as GitHub makes
  /// them.
  static llvm::StringSet<> anchors(const fs::path &File) {
    llvm::StringSet<> Names;
    for (const std::string &Heading : matches(text(File), "\n#+ +([^\n]*)")) {
      std::string Name;
      for (char C : llvm::StringRef(Heading).lower())
        if (llvm::isAlnum(C) || C == '-' || C == '_' || C == ' ')
          Name += C == ' ' ? '-' : C;
      Names.insert(Name);
    }
    return Names;
  }

  /// Returns the names, without extension, of all files in \p Folders.
  llvm::StringSet<> stems(std::initializer_list<const char *> Folders) const {
    llvm::StringSet<> Names;
    for (const char *Folder : Folders)
      for (const fs::directory_entry &Entry : fs::recursive_directory_iterator(Tree / Folder))
        Names.insert(Entry.path().stem().string());
    return Names;
  }
};

} // namespace

TEST_F(DocumentsTest, readmeReport_recordedTuning_isWhatCarvePrints) {
  Ended E = carve({"report", "--report=" CARVE_TEST_INPUTS "/reports/lulesh.json"});
  ASSERT_EQ(E.Status, 0) << E.Stderr;
  std::string Readme = text(Tree / "README.md");
  size_t Begin = Readme.find("```\n./lulesh");
  ASSERT_NE(Begin, std::string::npos);
  Begin += 4;
  Words Shown = lines(Readme.substr(Begin, Readme.find("\n```", Begin) - Begin));
  EXPECT_GE(Shown.size(), 10u);
  EXPECT_LE(Shown.size(), 12u);
  // The README may leave out lines of the report, but must keep their order.
  Words Printed = lines(E.Stdout);
  auto At = Printed.begin();
  for (const std::string &Line : Shown) {
    At = std::find(At, Printed.end(), Line);
    ASSERT_NE(At, Printed.end()) << "not in the report, or not at this place: " << Line << "\n"
                                 << E.Stdout;
  }
}

TEST_F(DocumentsTest, readmeAndArchitecture_length_isWhatIsReadInOneGo) {
  EXPECT_LE(lines(text(Tree / "README.md")).size(), 131u);
  EXPECT_LE(lines(text(Tree / "share/doc/architecture.md")).size(), 151u);
}

TEST_F(DocumentsTest, links_insideTheProject_leadToFilesAndHeadings) {
  size_t Followed = 0;
  for (const fs::path &Document : documents())
    for (const std::string &Link : matches(text(Document), "\\]\\(([^)\\s]+)\\)")) {
      if (Link.find("://") != std::string::npos)
        continue;
      auto [Path, Anchor] = llvm::StringRef(Link).split('#');
      fs::path Target = Path.empty() ? Document : Document.parent_path() / Path.str();
      ASSERT_TRUE(fs::exists(Target)) << Document << ": " << Link;
      EXPECT_TRUE(Anchor.empty() || anchors(Target).contains(Anchor)) << Document << ": " << Link;
      ++Followed;
    }
  EXPECT_GT(Followed, 30u);
}

TEST_F(DocumentsTest, sourcesByPath_inDocuments_exist) {
  size_t Named = 0;
  for (const fs::path &Document : documents()) {
    // Documents name files of the libraries by `Room/Name`, with or without an extension, and all
    // others by their path.
    for (const std::string &Name :
         matches(text(Document), "`(?:lib/)?((?:[A-Z]\\w+/)+[A-Z]\\w+(?:\\.\\w+)?)`")) {
      fs::path File = Tree / "lib" / Name;
      bool Exists = fs::exists(File);
      for (const char *Extension : {".h", ".cpp", ".def"})
        Exists = Exists || fs::exists(File.string() + Extension);
      EXPECT_TRUE(Exists) << Document << ": " << Name;
      ++Named;
    }
    for (const std::string &Path :
         matches(text(Document), "`((?:tools|test|share|\\.ci)/[\\w./-]+)`")) {
      EXPECT_TRUE(fs::exists(Tree / Path)) << Document << ": " << Path;
      ++Named;
    }
  }
  EXPECT_GT(Named, 10u);
}

TEST_F(DocumentsTest, sourcesByName_inTheGuides_exist) {
  const llvm::StringSet<> Known = stems({"lib", "tools", "share", "test"});
  for (const char *Guide : {"share/doc/architecture.md", "share/doc/features.md"}) {
    Words Named = matches(text(Tree / Guide), "`([A-Z][a-z]\\w*)`");
    EXPECT_GT(Named.size(), 50u);
    for (const std::string &Name : Named)
      EXPECT_TRUE(Known.contains(Name)) << Guide << ": " << Name;
  }
}

TEST_F(DocumentsTest, glossary_filesOfTerms_exist) {
  const llvm::StringSet<> Known = stems({"lib", "tools", "share", "test"});
  size_t Terms = 0;
  for (const std::string &Row : matches(text(Tree / "share/doc/GLOSSARY.md"), "\n(\\| [^\n]*)")) {
    llvm::SmallVector<llvm::StringRef> Cells;
    llvm::StringRef(Row).trim("| ").split(Cells, " | ");
    ASSERT_EQ(Cells.size(), 3u) << Row;
    if (Cells.front() == "term")
      continue;
    Words Files = matches(Cells.back().str(), "`(\\w+)(?:\\.\\w+)?`");
    EXPECT_FALSE(Files.empty()) << Row;
    for (const std::string &File : Files)
      EXPECT_TRUE(Known.contains(File)) << Row;
    ++Terms;
  }
  EXPECT_GT(Terms, 40u);
}
