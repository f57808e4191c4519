#include "Export/UnifiedDiff.h"

#include "gtest/gtest.h"

using namespace carve;

/// Returns edits that insert \p What before each \p At.
static std::vector<SourceEdit> before(llvm::StringRef Text, llvm::StringRef At, std::string What) {
  std::vector<SourceEdit> Edits;
  for (size_t I = Text.find(At); I != llvm::StringRef::npos; I = Text.find(At, I + 1))
    Edits.push_back({I, 0, What});
  return Edits;
}

TEST(UnifiedDiff, nearChanges_shareAHunk) {
  std::string Text;
  for (int I = 1; I <= 30; ++I)
    Text += (I == 2 || I == 9 || I == 25 ? "K" : "l") + std::to_string(I) + "\n";
  EXPECT_EQ(unifiedDiff("src/k.cu", Text, before(Text, "K", "A ")),
            "diff --git a/src/k.cu b/src/k.cu\n--- a/src/k.cu\n+++ b/src/k.cu\n"
            "@@ -1,12 +1,12 @@\n l1\n-K2\n+A K2\n l3\n l4\n l5\n l6\n l7\n l8\n-K9\n+A K9\n l10\n"
            " l11\n l12\n"
            "@@ -22,7 +22,7 @@\n l22\n l23\n l24\n-K25\n+A K25\n l26\n l27\n l28\n");
  EXPECT_EQ(unifiedDiff("k.cu", Text, {}), "");
}

TEST(UnifiedDiff, bytesOutsideOfEdits_stay) {
  EXPECT_EQ(unifiedDiff("k.cu", "a\r\nK\t\xc3\xa9\r\nb", before("a\r\nK", "K", "A ")),
            "diff --git a/k.cu b/k.cu\n--- a/k.cu\n+++ b/k.cu\n@@ -1,3 +1,3 @@\n a\r\n"
            "-K\t\xc3\xa9\r\n+A K\t\xc3\xa9\r\n b\n\\ No newline at end of file\n");
  EXPECT_EQ(unifiedDiff("k.cu", "K", {{0, 0, "A "}}),
            "diff --git a/k.cu b/k.cu\n--- a/k.cu\n+++ b/k.cu\n@@ -1,1 +1,1 @@\n-K\n"
            "\\ No newline at end of file\n+A K\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, removedLines_areInTheDiff) {
  std::string Text = "x(\n 1,\n 2) k\nK\n";
  std::vector<SourceEdit> Edits = {{13, 0, "A "}, {0, 10, "y"}};
  EXPECT_EQ(applyEdits(Text, Edits), "y k\nA K\n");
  EXPECT_EQ(unifiedDiff("my file.cu", Text, Edits),
            "diff --git a/my file.cu b/my file.cu\n--- a/my file.cu\t\n+++ b/my file.cu\t\n"
            "@@ -1,4 +1,2 @@\n-x(\n- 1,\n- 2) k\n+y k\n-K\n+A K\n");
  EXPECT_EQ(unifiedDiff("\xc3\xa9\".cu", "k\n", {{0, 0, "A"}}).substr(0, 32),
            "diff --git \"a/\\303\\251\\\".cu\" \"b/");
}
