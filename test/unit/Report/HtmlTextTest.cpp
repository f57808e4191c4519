#include "Report/HtmlText.h"

#include "gtest/gtest.h"

using namespace carve;

TEST(HtmlText, kernelName_endsAtItsArguments) {
  auto parts = [](const char *Name) {
    KernelNameParts P = kernelNameParts(Name);
    return P.Name.str() + "|" + P.Rest.str();
  };
  EXPECT_EQ(parts("k(float*, int)"), "k|(float*, int)");
  EXPECT_EQ(parts("void ns::k<float, (ns::E)3>(float*)"), "ns::k|<float, (ns::E)3>(float*)");
  EXPECT_EQ(parts("(anonymous namespace)::k(int)"), "(anonymous namespace)::k|(int)");
  EXPECT_EQ(parts("a::B<int>::k<2>(int)"), "a::B<int>::k|<2>(int)");
  EXPECT_EQ(parts("plain"), "plain|");
  EXPECT_EQ(parts(""), "|");
}

TEST(HtmlText, longName_isCutBetweenCharacters) {
  EXPECT_EQ(kernelNameHtml("ns::k(int)", 9, "#k0"),
            "<span class=\"base\"><a href=\"#k0\">ns::<wbr/>k</a></span><span "
            "class=\"signature\">(int)</span>");
  EXPECT_EQ(kernelNameHtml("_a__b_", 9), "<span class=\"base\">_<wbr/>a__<wbr/>b_</span><span "
                                         "class=\"signature\"></span>");
  std::string Cut = kernelNameHtml("aä(int)", 2);
  EXPECT_EQ(Cut, "<span class=\"base\">a\u2026</span><span class=\"signature\">(i\u2026</span>");
}

TEST(HtmlText, numbers_areShort) {
  EXPECT_EQ(durationText(0.5), "0.50\u00A0ns");
  EXPECT_EQ(durationText(512.4), "512\u00A0ns");
  EXPECT_EQ(durationText(999.7), "1.00\u00A0\u00B5s");
  EXPECT_EQ(durationText(12345), "12.3\u00A0\u00B5s");
  EXPECT_EQ(durationText(9.12e8), "912\u00A0ms");
  EXPECT_EQ(durationText(6.3e10), "63.0\u00A0s");
  EXPECT_EQ(occupancyText(0.125), "12.5\u00A0%");
  EXPECT_EQ(occupancyText(0.5), "50\u00A0%");
  EXPECT_EQ(countText(1234567), "1\u00A0234\u00A0567");
  EXPECT_EQ(countText(999), "999");
}
