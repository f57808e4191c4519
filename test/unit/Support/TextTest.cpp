#include "Support/Text.h"

#include "gtest/gtest.h"

using namespace carve;

TEST(Text, fraction_isWrittenAsPercent) {
  EXPECT_EQ(percentText(0.125), "12 %");
  EXPECT_EQ(percentText(0.1251, 1), "12.5 %");
  EXPECT_EQ(percentText(1), "100 %");
}

TEST(Text, markup_isEscaped) {
  EXPECT_EQ(markupText("k<T>(\"a\" & 'b')"), "k&lt;T&gt;(&quot;a&quot; &amp; &#39;b&#39;)");
  EXPECT_EQ(markupText("Größe_\xF0\x9F\x9A\x80"), "Größe_\xF0\x9F\x9A\x80");
  EXPECT_EQ(markupText("a\tb\nc"), "a\tb\nc");
}

TEST(Text, whatXmlForbids_isReplaced) {
  EXPECT_EQ(markupText(llvm::StringRef("a\0b\x1b\x7f", 5)), "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(markupText("app-\xe9!"), "app-\uFFFD!");
}
