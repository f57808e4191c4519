#include "Profiles/CheckReport.h"
#include "Profiles/CheckDocuments.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using namespace carve;
namespace json = llvm::json;

namespace {

CheckedKernel kernel(std::string Name, unsigned Spill) {
  CheckedKernel K;
  K.Kernel = std::move(Name);
  K.Arch = "sm_90";
  K.Device = "NVIDIA H200";
  K.Toolkit = "13.0.88";
  K.Source = "src/my kernels.cu";
  K.Line = 12;
  K.Digest = "d" + std::to_string(Spill);
  K.Setting = "cap 40";
  K.Tuned = true;
  K.Regs = 40;
  K.SpillBytes = Spill;
  K.Occupancy = 0.75;
  return K;
}

/// A kernel that spills more, one that is unchanged, and one that is gone. The names have
/// characters that XML and JSON escape.
CheckOutcome sample() {
  return checkKernels(
      {kernel("k<(a)1 && \"b\">(int)", 0), kernel("same()", 8), kernel("gone()", 0)},
      {kernel("k<(a)1 && \"b\">(int)", 16), kernel("same()", 8)}, {});
}

const CheckDocument Document = {"base.yaml", "new.yaml", "2026-11-22T05:00:00Z", "0.1.0"};

size_t times(llvm::StringRef Text, llvm::StringRef What) { return Text.count(What); }

} // namespace

TEST(CheckReport, text_listsKernelsAndProperties) {
  EXPECT_EQ(
      printCheckText(sample(), Document),
      "base.yaml > new.yaml\n"
      "WORSE  k<(a)1 && \"b\">(int) on sm_90\n"
      "    spill bytes  0 > 16   spill-increase: 16 bytes more per thread, at most 0 allowed\n"
      "    registers    40\n"
      "    occupancy    75%\n"
      "    setting      cap 40\n"
      "ok     same() on sm_90\n"
      "    spill bytes  8\n"
      "    registers    40\n"
      "    occupancy    75%\n"
      "    setting      cap 40\n"
      "note   gone() on sm_90 is only in base.yaml\n"
      "2 kernel(s) compared, 1 regression(s), 1 vanished, 0 new\n");
}

TEST(CheckReport, text_withControlCharacters_isEscaped) {
  CheckOutcome O = checkKernels({kernel("k\x1b[2J\nok()", 0)}, {kernel("k\x1b[2J\nok()", 16)}, {});
  O.Kernels[0].After.Arch = "sm\r";
  O.Kernels[0].Properties[0].Detail = "by\x7ftoolkit";
  std::string Text = printCheckText(O, Document);
  EXPECT_NE(Text.find("WORSE  k\\x1b[2J\\x0aok() on sm\\x0d\n"), std::string::npos) << Text;
  EXPECT_NE(Text.find("by\\x7ftoolkit"), std::string::npos) << Text;
}

TEST(CheckReport, json_hasEveryProperty) {
  llvm::Expected<json::Value> V = json::parse(printCheckJson(sample(), Document));
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  const json::Object &O = *V->getAsObject();
  EXPECT_EQ(O.getInteger("carve-check"), 1);
  EXPECT_EQ(O.getInteger("regressions"), 1);
  ASSERT_EQ(O.getArray("kernels")->size(), 2u);
  const json::Object &K = *(*O.getArray("kernels"))[0].getAsObject();
  EXPECT_EQ(K.getBoolean("regressed"), true);
  ASSERT_EQ(K.getArray("properties")->size(), std::size(AllCheckRules));
  const json::Object &P = *(*K.getArray("properties"))[0].getAsObject();
  EXPECT_EQ(P.getString("rule"), "spill-increase");
  EXPECT_EQ(P.getString("verdict"), "regressed");
  EXPECT_EQ(K.getObject("after")->getInteger("spill-bytes"), 16);
  EXPECT_EQ(O.getArray("vanished")->size(), 1u);
}

TEST(CheckReport, junit_hasACaseForEachProperty) {
  std::string Xml = printCheckJUnit(sample(), Document);
  EXPECT_EQ(times(Xml, "<testcase "), 2 * std::size(AllCheckRules));
  EXPECT_EQ(times(Xml, "<failure "), 1u);
  EXPECT_NE(Xml.find("tests=\"10\" failures=\"1\" errors=\"0\" skipped=\"" +
                     std::to_string(times(Xml, "<skipped ")) + "\""),
            std::string::npos)
      << Xml;
  EXPECT_NE(Xml.find("classname=\"k&lt;(a)1 &amp;&amp; &quot;b&quot;&gt;(int) on sm_90\""),
            std::string::npos)
      << Xml;
  EXPECT_NE(Xml.find("timestamp=\"2026-11-22T05:00:00\""), std::string::npos) << Xml;
  CheckOutcome Odd = sample();
  Odd.Kernels[0].Properties[0].Detail = "a\x01\xff";
  EXPECT_EQ(printCheckJUnit(Odd, Document).find('\x01'), std::string::npos);
}

TEST(CheckReport, sarif_pointsToTheSource) {
  llvm::Expected<json::Value> V = json::parse(printCheckSarif(sample(), Document));
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  const json::Object &Run = *(*V->getAsObject()->getArray("runs"))[0].getAsObject();
  const json::Array &Rules = *Run.getObject("tool")->getObject("driver")->getArray("rules");
  ASSERT_EQ(Run.getArray("results")->size(), 1u);
  const json::Object &R = *(*Run.getArray("results"))[0].getAsObject();
  EXPECT_EQ(R.getString("ruleId"), "spill-increase");
  EXPECT_EQ(Rules[*R.getInteger("ruleIndex")].getAsObject()->getString("id"), "spill-increase");
  const json::Object &Place =
      *(*R.getArray("locations"))[0].getAsObject()->getObject("physicalLocation");
  EXPECT_EQ(Place.getObject("artifactLocation")->getString("uri"), "src/my%20kernels.cu");
  EXPECT_EQ(Place.getObject("region")->getInteger("startLine"), 12);
}

TEST(CheckReport, kernelOfAReport_isComparedWithAProfile) {
  TuningReport R;
  R.Device = "NVIDIA H200";
  R.NvccVersion = "13.0.88";
  R.Scope = "kernel";
  KernelReport K;
  K.Kernel = "k()";
  K.Source = "k.cu";
  K.Tuned = true;
  K.Variant = "r40";
  K.RegsAfter = 40;
  K.SpillAfter = 16;
  K.OccupancyAfter = 0.75;
  K.Compiled = 3;
  K.MeanNs = 1000;
  K.Pairs = 9;
  K.Ratio = {0.8, 0.79, 0.81};
  R.Kernels = {K};
  CheckedKernel C = checkedKernels(R).at(0);
  EXPECT_EQ(C.SpillBytes, 16u);
  EXPECT_DOUBLE_EQ(C.Time->Ns, 800);
  EXPECT_DOUBLE_EQ(C.Time->HighNs, 810);
  // It is compared with a profile of the same kernel, which also gives the architecture.
  CheckedKernel Other = kernel("k()", 16);
  EXPECT_EQ(checkKernels({C}, {Other}, {}).Kernels.size(), 1u);
}

TEST(CheckReport, guardThatHoldsLess_isWarnedOfAndNoRegression) {
  CheckedKernel Before = kernel("k(int)", 0), After = Before;
  Before.Guards = {{"parameter 0 = 4096", GuardHold{50, 50, 1}}, {"threads <= 64", std::nullopt}};
  After.Guards = {{"parameter 0 = 8192", GuardHold{50, 50, 1}},
                  {"parameter 0 = 4096", GuardHold{50, 5, 0.1}}};
  CheckOutcome O = checkKernels({Before}, {After}, {});
  EXPECT_EQ(O.count(CheckVerdict::Regressed), 0u);
  std::string Text = printCheckText(O, Document);
  EXPECT_NE(
      Text.find("    entry        parameter 0 = 4096: held at 50 of 50 launches, 100 % of its "
                "GPU time > held at 5 of 50 launches, 10 % of its GPU time\n"
                "    warning: the further entry for launches with parameter 0 = 4096 was "
                "tuned for 100 % of the kernel's GPU time and has 10 % now: "),
      std::string::npos)
      << Text;
  EXPECT_NE(Text.find("    entry        threads <= 64: -\n"), std::string::npos) << Text;
  EXPECT_NE(Text.find("    entry        parameter 0 = 8192: - > held at 50 of 50"),
            std::string::npos)
      << Text;
  llvm::Expected<json::Value> V = json::parse(printCheckJson(O, Document));
  ASSERT_TRUE(bool(V)) << llvm::toString(V.takeError());
  const json::Object &First = *(*V->getAsObject()->getArray("kernels"))[0].getAsObject();
  const json::Object &Guard = *(*First.getArray("guards"))[0].getAsObject();
  EXPECT_EQ(Guard.getString("when"), "parameter 0 = 4096");
  EXPECT_EQ(Guard.getObject("after")->getInteger("launches"), 5);
  EXPECT_NE(Guard.getString("warning"), "");
}

TEST(CheckReport, guardsOfAReport_areItsEntriesAndTheEarlierOnes) {
  TuningReport R;
  R.Kernels.emplace_back();
  R.Kernels[0].Entries = {{"parameter 0 = 8192", "known", std::nullopt, GuardHold{50, 40, 0.9}},
                          {"parameter 0 = 16", "known", std::nullopt, GuardHold{50, 10, 0.1}}};
  R.Kernels[0].Earlier = {{"parameter 0 = 16", "known", GuardHold{9, 9, 1}, GuardHold{50, 10, 0.1}},
                          {"parameter 0 = 4096", "known", GuardHold{9, 9, 1}, GuardHold{50, 0, 0}}};
  std::vector<CheckedKernel> Kernels = checkedKernels(R);
  ASSERT_EQ(Kernels[0].Guards.size(), 3u);
  EXPECT_EQ(Kernels[0].Guards[0].When, "parameter 0 = 8192");
  EXPECT_EQ(Kernels[0].Guards[0].Held, (GuardHold{50, 40, 0.9})) << "each guard has its own";
  EXPECT_EQ(Kernels[0].Guards[1].Held, (GuardHold{50, 10, 0.1}));
  EXPECT_EQ(Kernels[0].Guards[2].Held, (GuardHold{50, 0, 0})) << "in the report's own run";
}
