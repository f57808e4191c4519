#include "Explain/ExplainReport.h"

#include "unit/Report/ReportTesting.h"
#include "gtest/gtest.h"

using namespace carve;

/// Returns the position of \p Part in \p Text. Adds a failure if it is not there.
static size_t placeOf(const std::string &Text, const std::string &Part) {
  size_t At = Text.find(Part);
  EXPECT_NE(At, std::string::npos) << Part << " is not in:\n" << Text;
  return At;
}

TEST(ExplainReport, kernelWithVariants_listsEachWithItsResult) {
  TuningReport R = sampleReport();
  KernelReport &K = R.Kernels[0];
  K.Compiled = 9;
  VariantReport Cut;
  Cut.Name = "r168-f255";
  Cut.Regs = 168;
  Cut.Efficiency = 3.93e-12;
  Cut.Utilization = 227;
  Cut.Carved = "same code as r168";
  K.Carved = {Cut};
  std::string Text = printExplanation(R, "CalcFB");
  placeOf(Text, "62.0% of GPU time: r168, 1.333 [1.316,1.351] times as fast\n");
  placeOf(Text, "9 variants compiled, 3 timed, 1 carved away\n");
  size_t Winner = placeOf(Text, "0.750 of the default's time, chosen\n");
  size_t Loser = placeOf(Text, "1.400 of the default's time\n");
  size_t Faulty = placeOf(Text, "rejected: exit status 139 instead of 0\n");
  size_t Carved = placeOf(Text, "carved: same code as r168\n");
  size_t Dropped = placeOf(Text, "  r255: largest block would shrink\n");
  EXPECT_TRUE(Winner < Loser && Loser < Faulty && Faulty < Carved && Carved < Dropped) << Text;
  placeOf(Text, "3.93e-12");
  EXPECT_EQ(Text.find("gather"), std::string::npos) << Text;
}

TEST(ExplainReport, partOfAName_selectsMatchingKernels) {
  TuningReport R = sampleReport();
  R.Kernels[1].Mangled = "_Z6gatherPf";
  EXPECT_NE(printExplanation(R, "6gather").find("stays as it is: not confirmed"),
            std::string::npos);
  EXPECT_EQ(printExplanation(R, "nobody"), "");
  std::string All = printExplanation(R, "");
  EXPECT_NE(All.find("CalcFB"), std::string::npos);
  EXPECT_EQ(All.find("init()"), std::string::npos) << "nothing was tried of it";
}
