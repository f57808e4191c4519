#include "Evaluate/KnobGains.h"
#include "Evaluate/KnobGainsReport.h"

#include "Report/JsonReport.h"

#include "unit/Report/Golden.h"
#include "unit/ResultTesting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <cmath>

using namespace carve;

namespace {

/// A kernel whose winner has the confirmed ratio \p Ratio; no winner if \p Winner is `default`.
KernelReport kernel(double Share, std::string Winner, double Ratio,
                    const std::vector<std::pair<std::string, double>> &Screened) {
  KernelReport K;
  K.Kernel = "kernel(float*)";
  K.Share = Share;
  K.Tuned = Winner != "default";
  K.Variant = std::move(Winner);
  K.Pairs = 3;
  K.Ratio = {Ratio, Ratio, Ratio};
  for (const auto &[Name, Time] : Screened) {
    VariantReport &V = K.Variants.emplace_back();
    V.Name = Name;
    V.Ratio = Time;
  }
  return K;
}

TunedProgram program(std::vector<KernelReport> Kernels) {
  TunedProgram P{"report.json", {}};
  P.Report.Kernels = std::move(Kernels);
  return P;
}

/// The gain of the knob \p Name in \p Programs; one without a name if the result has none.
KnobGain gainOf(llvm::StringRef Name, llvm::ArrayRef<TunedProgram> Programs) {
  llvm::Expected<KnobGains> Gains = evaluateKnobs(Programs);
  if (!Gains) {
    ADD_FAILURE() << llvm::toString(Gains.takeError());
    return {};
  }
  auto It = llvm::find_if(Gains->Knobs, [&](const KnobGain &K) { return K.Knob == Name; });
  return It == Gains->Knobs.end() ? KnobGain() : *It;
}

} // namespace

TEST(KnobGains, winnersOfOneAndOfSeveralKnobs_countAloneAndBeside) {
  std::vector<TunedProgram> Programs = {
      program({kernel(0.5, "r40", 0.8, {{"r40", 0.8}}),
               kernel(0.4, "r40-smem", 0.7, {{"r40-smem", 0.7}, {"cg", 1.1}})})};
  KnobGain Cap = gainOf("register cap", Programs), Smem = gainOf("smem", Programs),
           Loads = gainOf("cg", Programs);
  EXPECT_EQ(Cap.Timed, 2u);
  EXPECT_EQ(Cap.Alone, 1u);
  EXPECT_EQ(Cap.Beside, 1u);
  EXPECT_EQ(Smem.Alone, 0u);
  EXPECT_EQ(Smem.Beside, 1u);
  EXPECT_EQ(Loads.Timed, 1u);
  EXPECT_EQ(Loads.Alone + Loads.Beside, 0u);
  EXPECT_EQ(gainOf("noalloc", Programs).Knob, "") << "nothing with it was timed";
}

TEST(KnobGains, withoutTheKnob_nextFastestTakesThePlaceScaledByTheConfirmation) {
  // Screening saw 0.5 and 0.6, the confirmation 0.55: without smem it is 0.55 * 0.6 / 0.5.
  std::vector<TunedProgram> Programs = {
      program({kernel(0.5, "r40-smem", 0.55, {{"r40-smem", 0.5}, {"r48", 0.9}, {"r40", 0.6}})})};
  llvm::Expected<KnobGains> Gains = evaluateKnobs(Programs);
  ASSERT_TRUE(bool(Gains));
  EXPECT_NEAR(Gains->Speedup, 1 / (1 - 0.5 * 0.45), 1e-9);
  EXPECT_NEAR(gainOf("smem", Programs).Without, 1 / (1 - 0.5 * 0.34), 1e-9);
  EXPECT_NEAR(gainOf("register cap", Programs).Without, 1, 1e-9);
  EXPECT_EQ(Gains->Knobs.front().Knob, "register cap") << "without it most is lost";
}

TEST(KnobGains, nothingElseWouldWin_defaultStays) {
  // 0.9 * 0.9 / 0.81 is no gain, and what has a fault cannot be chosen.
  KernelReport K = kernel(1, "r40", 0.9, {{"r40", 0.81}, {"smem", 0.9}, {"cg", 0.5}});
  K.Variants[2].Fault = "output differs";
  EXPECT_NEAR(gainOf("register cap", {program({K})}).Without, 1, 1e-9);
  EXPECT_EQ(gainOf("cg", {program({K})}).Knob, "") << "a variant with a fault is not counted";
}

TEST(KnobGains, fasterInScreeningThanTheWinner_neverGainsByLosingAKnob) {
  std::vector<TunedProgram> Programs = {
      program({kernel(1, "smem", 0.8, {{"smem", 0.82}, {"r40", 0.78}})})};
  llvm::Expected<KnobGains> Gains = evaluateKnobs(Programs);
  ASSERT_TRUE(bool(Gains));
  EXPECT_NEAR(gainOf("smem", Programs).Without, Gains->Speedup, 1e-9);
}

TEST(KnobGains, severalPrograms_geometricMeanAndProgramsWithoutGainCount) {
  std::vector<TunedProgram> Programs = {
      program({kernel(1, "r40", 0.5, {{"r40", 0.5}})}),
      program({kernel(1, "default", 1, {{"r40", 1.2}})}),
  };
  llvm::Expected<KnobGains> Gains = evaluateKnobs(Programs);
  ASSERT_TRUE(bool(Gains));
  EXPECT_EQ(Gains->Programs, 2u);
  EXPECT_EQ(Gains->Kernels, 2u);
  EXPECT_EQ(Gains->Tuned, 1u);
  EXPECT_NEAR(Gains->Speedup, std::sqrt(2.0), 1e-9);
}

TEST(KnobGains, nameThatIsNone_failsWithReportAndKernel) {
  llvm::Expected<KnobGains> Gains =
      evaluateKnobs({program({kernel(1, "r40", 0.5, {{"fast", 0.5}})})});
  ASSERT_FALSE(bool(Gains));
  std::string Message = llvm::toString(Gains.takeError());
  EXPECT_NE(Message.find("report.json: kernel(float*): "), std::string::npos) << Message;
  EXPECT_NE(Message.find("fast"), std::string::npos) << Message;
}

TEST(KnobGains, reportOfLulesh_textIsGoldenAndJsonTheSame) {
  auto Text = readFile(CARVE_TEST_INPUTS "/reports/lulesh.json");
  ASSERT_TRUE(bool(Text));
  auto Report = parseJsonReport(*Text, "lulesh.json");
  ASSERT_TRUE(bool(Report));
  llvm::Expected<KnobGains> Gains = evaluateKnobs({TunedProgram{"lulesh.json", *Report}});
  ASSERT_TRUE(bool(Gains));
  // The confirmed speedup of the program is 1.103; this is the sum of its kernels.
  EXPECT_NEAR(Gains->Speedup, 1 / Report->Program.Median, 0.01);
  expectGolden(printKnobGainsText(*Gains), "evaluate-knobs.txt");
  auto J = llvm::json::parse(printKnobGainsJson(*Gains));
  ASSERT_TRUE(bool(J)) << llvm::toString(J.takeError());
  const llvm::json::Object &O = *J->getAsObject();
  EXPECT_EQ(O.getInteger("tuned"), int64_t(Gains->Tuned));
  EXPECT_EQ(O.getNumber("speedup"), Gains->Speedup);
  const llvm::json::Array *Knobs = O.getArray("knobs");
  ASSERT_EQ(Knobs->size(), Gains->Knobs.size());
  const llvm::json::Object &First = *(*Knobs)[0].getAsObject();
  EXPECT_EQ(First.getString("name"), llvm::StringRef(Gains->Knobs[0].Knob));
  EXPECT_EQ(First.getNumber("without"), Gains->Knobs[0].Without);
  EXPECT_EQ(First.getInteger("alone"), int64_t(Gains->Knobs[0].Alone));
}
