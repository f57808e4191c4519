#include "Nvcc/HeaderSearch.h"

#include "NvccTesting.h"

#include "llvm/Support/FileSystem.h"

using namespace carve;
using Names = std::set<std::string>;

namespace {

class HeaderSearchTest : public testing::Test {
protected:
  HeaderSearchTest() : Dir(llvm::cantFail(TempDir::create("carve-test"))) {}

  void write(const std::string &Name) {
    std::string Path = Dir.path() + "/" + Name;
    llvm::sys::fs::create_directories(llvm::StringRef(Path).rsplit('/').first);
    ASSERT_EQ(llvm::toString(writeFileAtomically(Path, "")), "");
  }
  /// Returns what is missing in the folders of the test.
  Names missing(const Names &Read, const Names &Queried, const Words &Folders) {
    Names All = missingHeaders(
        {Read, Queried, [](llvm::StringRef File) { return File.starts_with("system/"); }}, Folders,
        Dir.path());
    Names Own;
    for (const std::string &Path : All)
      if (Path.find("/usr/local/include") != 0)
        Own.insert(Path);
    return Own;
  }
  TempDir Dir;
};

} // namespace

TEST_F(HeaderSearchTest, folders_everySpelling_areReadOnce) {
  EXPECT_EQ(headerFolders({{"gcc", "-E", "-Ia", "-I", "b", "-isystem", "c", "-iquoted", "-o", "x"},
                           {"gcc", "-c", "-I", "b", "-idirafter", "e", "k.cpp"}}),
            (Words{"a", "b", "c", "d", "e"}));
}

TEST_F(HeaderSearchTest, header_inALaterFolder_earlierPathsAreMissing) {
  write("late/lib/x.h");
  write("early/other.h");
  write("src/k.cu");
  // The library's folder is missing in two places. One missing name covers the whole folder.
  EXPECT_EQ(missing({"src/k.cu", "late/lib/x.h"}, {}, {"early", "late"}),
            (Names{"early/lib", "src/lib", "late/lib/lib"}));
  write("early/lib/y.h");
  EXPECT_EQ(missing({"src/k.cu", "late/lib/x.h"}, {}, {"early", "late"}),
            (Names{"early/lib/x.h", "src/lib", "late/lib/lib"}));
}

TEST_F(HeaderSearchTest, systemHeaders_read_doNotSearchTheirFolder) {
  write("system/lib/x.h");
  write("k.cu");
  EXPECT_EQ(missing({"k.cu", "system/lib/x.h"}, {}, {"none", "system"}), (Names{"none", "./lib"}));
}

TEST_F(HeaderSearchTest, queries_namingAFile_areRead) {
  HeaderQueries Q;
  readQueries(
      "#if __has_include(<a/b.h>) || __has_include( \"c.h\" )\n"
      "#define HAS(X) __has_include(X)\n#if _CCCL_HAS_INCLUDE(<x>) && __has_include_next(<d>)\n"
      "__has_include(<cut\noff>)\n",
      Q);
  EXPECT_EQ(Q.Names, (Names{"a/b.h", "c.h", "d", "x"}));
  EXPECT_FALSE(Q.Embeds);
  readQueries("embedded # embedding", Q);
  EXPECT_TRUE(Q.Embeds); // "# embed" counts in any context.
  HeaderQueries Plain;
  readQueries("int embed; // embed", Plain);
  EXPECT_FALSE(Plain.Embeds);
}

TEST_F(HeaderSearchTest, queriedHeader_absent_isMissingInEveryFolder) {
  write("k.cu");
  write("b/there.h");
  EXPECT_EQ(missing({"k.cu"}, {"there.h", "gone/x.h"}, {"a", "b"}),
            (Names{"a", "./there.h", "b/gone", "./gone"}));
}
