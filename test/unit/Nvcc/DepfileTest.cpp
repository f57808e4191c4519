#include "Nvcc/Depfile.h"
#include "Nvcc/IncludedFiles.h"
#include "NvccTesting.h"

using namespace carve;

TEST(Depfile, prerequisites_added_areInTheFirstRuleAndHaveEmptyRules) {
  EXPECT_EQ(
      llvm::cantFail(withPrerequisites("k.o : k.cu \\\n    h.h\nh.h :\n", {"/s/a b#$.yaml", "/t"})),
      "k.o : k.cu \\\n"
      "    /s/a\\ b\\#$$.yaml \\\n"
      "    /t \\\n"
      "    h.h\n"
      "h.h :\n"
      "/s/a\\ b\\#$$.yaml :\n"
      "/t :\n");
}

TEST(Depfile, prerequisite_addedToOneLine_continuesIt) {
  EXPECT_EQ(llvm::cantFail(withPrerequisites("k.o : k.cu\n", {"/p", "/q"})),
            "k.o : k.cu \\\n    /p \\\n    /q\n/p :\n/q :\n");
}

TEST(Depfile, target_withQuotedNames_isCopiedUnchanged) {
  EXPECT_EQ(llvm::cantFail(withPrerequisites("dir/a\\ b c:d : x", {"/p"})),
            "dir/a\\ b c:d : x \\\n    /p\n/p :\n");
}

TEST(Depfile, depfile_withoutTarget_isRefused) {
  for (const char *Text : {"", "no rule", " : x\n", "a:b\n"})
    EXPECT_EQ(reasonOf(withPrerequisites(Text, {"/p"}).takeError()), "unknown-depfile") << Text;
}

TEST(Depfile, names_withSpecialCharacters_fitNoDepfile) {
  EXPECT_TRUE(fitsDepfile("/home/me/.cache/carve nvcc/$x#"));
  for (const char *Path : {"/a:b", "/100%", "/a\\b", "/a\nb"})
    EXPECT_FALSE(fitsDepfile(Path)) << Path;
}

TEST(IncludedFiles, lineMarkers_read_giveTheIncludedFiles) {
  auto Files = includedFiles("# 0 \"k.cu\"\n# 0 \"<built-in>\"\n"
                             "# 1 \"/usr/a \\\"b\\\\c.h\" 1 3 4\n"
                             "int x; // # 1 \"no.h\"\n# 7 \"k.cu\" 2\n# 1 \"/work//\"\n"
                             "#pragma once\n# 3 \"last.h\"");
  ASSERT_TRUE(Files);
  EXPECT_EQ(*Files, (std::set<std::string>{"k.cu", "/usr/a \"b\\c.h", "last.h"}));
}

TEST(IncludedFiles, noMarkersOrIncbin_read_filesAreUnknown) {
  EXPECT_FALSE(includedFiles(""));
  EXPECT_FALSE(includedFiles("int x;\n"));
  EXPECT_FALSE(includedFiles("# 1 \"k.cu\"\nasm(\".incbin \\\"x\\\"\");\n"));
}
