#include "Report/HtmlTimePlot.h"

#include "MarkupTesting.h"
#include "Report/HtmlPlanePlot.h"
#include "ReportTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

using namespace carve;

namespace {

VariantReport variant(const char *Name, unsigned Regs, RatioInterval Ratio, unsigned Spills = 0) {
  VariantReport V;
  V.Name = Name;
  V.Regs = Regs;
  V.SpillBytes = Spills;
  V.Occupancy = Regs <= 32 ? 1 : Regs <= 64 ? 0.5 : 0.25;
  V.Efficiency = 1e-9 * Regs;
  V.Utilization = 100 - 0.1 * Regs;
  if (Ratio.Median > 0)
    V.setRatio(Ratio);
  return V;
}

/// A kernel with 40 registers, tuned to 64. It has one variant for each knob, one rejected variant
/// and two that are carved away.
KernelReport pictured() {
  KernelReport K = reportedKernel("k(float*)", 0.5);
  K.Mangled = "_Z1kPf";
  K.Tuned = true;
  K.Variant = "r64";
  K.Ratio = {0.8, 0.79, 0.81};
  K.Pairs = 9;
  K.RegsAfter = 64;
  K.LeastRegs = 24;
  K.MostRegs = 80;
  K.Levels = {{80, 3, 0.25}, {64, 4, 0.5}, {32, 8, 1}};
  K.EfficiencyBefore = 4e-8;
  K.UtilizationBefore = 96;
  K.Variants = {
      variant("r32", 32, {1.2, 1.15, 1.3}, 64),  variant("r64", 64, {0.8, 0.78, 0.83}),
      variant("r56-f56", 56, {0.9, 0.89, 0.92}), variant("r48-smem", 48, {0.95, 0.94, 0.96}),
      variant("r48-cg", 48, {0.97, 0, 0}),       variant("r72", 72, {0, 0, 0})};
  K.Variants.back().Fault = "its output differs";
  K.Carved = {variant("r24", 24, {0, 0, 0}, 200), variant("r24-f24", 24, {0, 0, 0}, 160)};
  K.Carved[0].Carved = "no better in any metric than r32, and worse in one";
  K.Carved[1].Carved = "same code as r24";
  return K;
}

struct Picture {
  explicit Picture(const KernelReport &K, llvm::StringRef Scope = "kernel") {
    std::vector<ShownVariant> Variants = shownVariants(K);
    Text = printTimePlot(K, Variants, spillMeasure(Variants, Scope), "k0-time");
    Elements = parseMarkup(Text, Fault);
  }
  /// The mark of a variant, with its title and place. Marks are found by the variant's name.
  struct Mark {
    MarkupElement Group;
    std::string Title, Shape;
    double X = 0, Y = 0;
    bool Bar = false, Ring = false;
  };
  std::map<std::string, Mark> marks() const {
    std::map<std::string, Mark> All;
    Mark *Current = nullptr;
    for (const MarkupElement &E : Elements) {
      if (E.hasClass("spills"))
        break;
      if (E.hasClass("mark") && !E.hasClass("point")) {
        Mark New;
        New.Group = E;
        Current = &(All["?"] = New);
        continue;
      }
      if (!Current)
        continue;
      if (E.Name == "title") {
        std::string Name = llvm::StringRef(E.Text).split(':').first.str();
        Mark New = *Current;
        New.Title = E.Text;
        All.erase("?");
        Current = &(All[Name] = New);
      }
      Current->Bar |= E.hasClass("bar");
      Current->Ring |= E.hasClass("winner");
      if (E.Name == "use") {
        Current->Shape = E.at("href");
        Current->X = E.number("x");
        Current->Y = E.number("y");
        Current = nullptr;
      }
    }
    return All;
  }
  std::vector<MarkupElement> withClass(llvm::StringRef Class) const {
    std::vector<MarkupElement> Found;
    llvm::copy_if(Elements, std::back_inserter(Found),
                  [&](const MarkupElement &E) { return E.hasClass(Class); });
    return Found;
  }

  std::string Text, Fault;
  std::vector<MarkupElement> Elements;
};

} // namespace

TEST(HtmlTimePlot, plot_isWellFormedAndNamed) {
  Picture P(pictured());
  EXPECT_EQ(P.Fault, "");
  ASSERT_FALSE(P.Elements.empty());
  const MarkupElement &Svg = P.Elements.front();
  EXPECT_EQ(Svg.at("role"), "group");
  EXPECT_EQ(Svg.at("aria-labelledby"), "k0-time-t");
  EXPECT_EQ(P.Elements[1].at("id"), "k0-time-t");
  EXPECT_NE(P.Elements[2].Text.find("5 variants were timed and 2 carved away"), std::string::npos)
      << P.Elements[2].Text;
  EXPECT_NE(P.Elements[2].Text.find("runs with r64: 0.800 [0.780, 0.830]"), std::string::npos);
}

TEST(HtmlTimePlot, marks_arePlacedByRegistersAndTime) {
  auto Marks = Picture(pictured()).marks();
  ASSERT_EQ(Marks.size(), 9u);
  std::vector<std::pair<unsigned, std::string>> ByRegs = {
      {24, "r24"},     {32, "r32"}, {40, "default"}, {48, "r48-smem"},
      {56, "r56-f56"}, {64, "r64"}, {72, "r72"}};
  for (size_t I = 1; I < ByRegs.size(); ++I)
    EXPECT_GT(Marks[ByRegs[I].second].X, Marks[ByRegs[I - 1].second].X) << ByRegs[I].second;
  // Equal differences of registers are equal distances on the axis.
  EXPECT_NEAR(Marks["r64"].X - Marks["r56-f56"].X, Marks["r56-f56"].X - Marks["r48-smem"].X, 0.02);
  const char *ByTime[] = {"r64", "r56-f56", "r48-smem", "r48-cg", "default", "r32"};
  for (size_t I = 1; I < std::size(ByTime); ++I)
    EXPECT_LT(Marks[ByTime[I]].Y, Marks[ByTime[I - 1]].Y) << ByTime[I];
  EXPECT_EQ(Marks["r48-smem"].X, Marks["r48-cg"].X);
  EXPECT_NE(Marks["r48-smem"].Group.at("transform"), Marks["r48-cg"].Group.at("transform"))
      << "they would hide each other";
}

TEST(HtmlTimePlot, knobs_differInShapeNotOnlyInColour) {
  auto Marks = Picture(pictured()).marks();
  EXPECT_EQ(Marks["default"].Shape, "#m-default");
  EXPECT_EQ(Marks["r64"].Shape, "#m-cap");
  EXPECT_EQ(Marks["r56-f56"].Shape, "#m-front");
  EXPECT_EQ(Marks["r48-smem"].Shape, "#m-cap-smem");
  EXPECT_EQ(Marks["r48-cg"].Shape, "#m-cap-cg");
  EXPECT_EQ(Marks["r72"].Shape, "#m-out");
  EXPECT_TRUE(Marks["r48-smem"].Group.hasClass("hue-smem"));
  EXPECT_TRUE(Marks["r24"].Group.hasClass("carved"));
}

TEST(HtmlTimePlot, marks_haveDescriptions) {
  auto Marks = Picture(pictured()).marks();
  for (const auto &[Name, M] : Marks) {
    EXPECT_EQ(M.Ring, Name == "r64") << Name;
    EXPECT_EQ(M.Group.at("tabindex"), Name == "r64" ? "0" : "-1") << Name;
    EXPECT_EQ(M.Group.at("role"), "img") << Name;
  }
  EXPECT_TRUE(Marks["r32"].Bar);
  EXPECT_FALSE(Marks["r48-cg"].Bar) << "no interval is known";
  EXPECT_EQ(Marks["r64"].Title,
            "r64: 0.800 [0.780, 0.830] of the default&#39;s time; 64 registers; "
            "occupancy 50\u00A0%; spills 0 bytes; chosen");
  EXPECT_NE(Marks["r72"].Title.find("rejected: its output differs"), std::string::npos);
  EXPECT_NE(Marks["r24"].Title.find("carved away: no better in any metric than r32"),
            std::string::npos);
}

TEST(HtmlTimePlot, levels_areStepsWithCriticalPoints) {
  Picture P(pictured());
  std::vector<MarkupElement> Steps = P.withClass("step"), Points = P.withClass("point");
  ASSERT_EQ(Steps.size(), 3u);
  EXPECT_EQ(Points.size(), 3u);
  for (size_t I = 1; I < 3; ++I) {
    EXPECT_NEAR(Steps[I].number("x"), Steps[I - 1].number("x") + Steps[I - 1].number("width"),
                0.02);
    EXPECT_LT(Steps[I].number("height"), Steps[I - 1].number("height"));
  }
  EXPECT_NEAR(Steps[1].number("height"), Steps[0].number("height") / 2, 0.1);
  EXPECT_NE(P.Text.find("critical point: up to 64 registers 4 blocks of an SM, occupancy 50"),
            std::string::npos);
}

/// The report has no levels, but each variant has its occupancy.
TEST(HtmlTimePlot, reportWithoutLevels_takesStepsFromVariants) {
  KernelReport K = pictured();
  K.Levels.clear();
  K.LeastRegs = K.MostRegs = 0;
  for (VariantReport &V : K.Variants)
    V.RatioLow = V.RatioHigh = 0;
  Picture P(K);
  EXPECT_EQ(P.Fault, "");
  EXPECT_EQ(P.withClass("step").size(), 4u) << "100, 75, 50 and 25 %";
  EXPECT_TRUE(P.withClass("point").empty());
  EXPECT_TRUE(P.withClass("bar").empty());
}

TEST(HtmlTimePlot, spills_nameTheirMeasure) {
  KernelReport K = pictured();
  Picture Bytes(K);
  EXPECT_NE(Bytes.Text.find("spills, bytes of stores and loads in the code"), std::string::npos);
  EXPECT_EQ(Bytes.withClass("stem").size(), 9u);
  for (auto *List : {&K.Variants, &K.Carved})
    for (VariantReport &V : *List)
      V.LocalBytes = 10 * V.SpillBytes;
  Picture Local(K);
  EXPECT_NE(Local.Text.find("local memory traffic, bytes a thread"), std::string::npos);
  EXPECT_NE(Local.Text.find("local traffic 2000 bytes a thread"), std::string::npos);
  K.Variants[0].LocalBytes = 0; // This variant spills, so the traffic is not known for all.
  EXPECT_NE(Picture(K).Text.find("spills, bytes of stores"), std::string::npos);
  EXPECT_NE(Picture(K, "file").Text.find("not known with --carve-scope=file"), std::string::npos);
  K = pictured();
  K.Variants.erase(K.Variants.begin());
  K.Carved.clear();
  Picture None(K);
  EXPECT_NE(None.Text.find("no variant spills"), std::string::npos);
  EXPECT_TRUE(None.withClass("stem").empty());
}

TEST(HtmlTimePlot, largeSpan_isLogarithmic) {
  KernelReport K = pictured();
  EXPECT_EQ(Picture(K).Text.find(", log"), std::string::npos);
  K.Variants[0].setRatio({12, 11, 13});
  Picture P(K);
  EXPECT_NE(P.Text.find(", log"), std::string::npos);
  auto Marks = P.marks();
  EXPECT_GT(Marks["default"].Y - Marks["r32"].Y, 100);
  EXPECT_GT(Marks["r64"].Y - Marks["default"].Y, 10);
}

TEST(HtmlTimePlot, choiceWithASettingOfPtxas_hasTheRing) {
  KernelReport K = pictured();
  ASSERT_EQ(K.Variants[1].Name, "r64");
  K.Variants[1].Name = K.Variant = "r64-o1";
  auto Marks = Picture(K).marks();
  EXPECT_TRUE(Marks["r64-o1"].Ring);
  EXPECT_FALSE(Marks["default"].Ring);
}

TEST(HtmlTimePlot, nothingTimed_showsWhatWasCarvedAway) {
  KernelReport K = reportedKernel("k(float*)", 0.5);
  K.Carved = pictured().Carved;
  Picture P(K);
  EXPECT_EQ(P.Fault, "");
  EXPECT_EQ(P.marks().size(), 3u);
  EXPECT_TRUE(P.marks()["default"].Ring);
}

TEST(HtmlPlanePlot, front_hasVariantsThatNothingBeats) {
  KernelReport K = pictured();
  K.Variants[1].Utilization = 100; // r64 beats r56-f56 and others in both metrics.
  K.Variants[5].Efficiency = 0;    // A variant without metrics is not in the plot.
  std::vector<ShownVariant> Variants = shownVariants(K);
  std::string Text = printPlanePlot(Variants, SpillMeasure::SpillBytes, "k0-plane"), Fault;
  std::vector<MarkupElement> Elements = parseMarkup(Text, Fault);
  EXPECT_EQ(Fault, "");
  EXPECT_NE(Text.find("On the Pareto front: r64."), std::string::npos) << Text;
  EXPECT_EQ(llvm::count_if(Elements, [](auto &E) { return E.hasClass("mark"); }), 8);
  EXPECT_EQ(Text.find("r72"), std::string::npos);
  K.Variants[1].Utilization = 90;
  Text = printPlanePlot(shownVariants(K), SpillMeasure::SpillBytes, "p");
  EXPECT_NE(Text.find("<line class=\"front\""), std::string::npos);
}

TEST(HtmlPlanePlot, fewerThanTwoPoints_giveNoPlot) {
  KernelReport K = reportedKernel("k(float*)", 0.5);
  EXPECT_EQ(printPlanePlot(shownVariants(K), SpillMeasure::SpillBytes, "p"), "");
}
