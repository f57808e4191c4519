#include "Evaluate/EvaluationReport.h"

#include "unit/Report/Golden.h"

#include "llvm/Support/JSON.h"

using namespace carve;

static SweepEvaluation evaluation() {
  auto D = loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_90");
  auto Text = readFile(CARVE_TEST_INPUTS "/sweeps/two-programs.tsv");
  EXPECT_TRUE(bool(D) && bool(Text));
  auto Rows = parseSweepTable(*Text, "two-programs.tsv");
  EXPECT_TRUE(bool(Rows));
  auto E = evaluateSweep(*Rows, *D, {/*Effort=*/3, /*BudgetS=*/2});
  EXPECT_TRUE(bool(E));
  return *E;
}

TEST(EvaluationReport, text_isGolden) {
  SweepEvaluation E = evaluation();
  E.LeftOut = {"vanished"};
  expectGolden(printEvaluationText(E), "evaluate.txt");
}

TEST(EvaluationReport, noGain_printsNoShares) {
  SweepEvaluation E;
  E.Programs.push_back({"flat", {}, 0, 0, 1, 0});
  EXPECT_EQ(printEvaluationText(E).find("share"), std::string::npos);
}

TEST(EvaluationReport, json_hasSpeedupsOfEveryProgram) {
  SweepEvaluation E = evaluation();
  auto J = llvm::json::parse(printEvaluationJson(E));
  ASSERT_TRUE(bool(J)) << llvm::toString(J.takeError());
  const llvm::json::Array *Programs = J->getAsObject()->getArray("programs");
  ASSERT_EQ(Programs->size(), 2u);
  const llvm::json::Object *P = (*Programs)[0].getAsObject();
  EXPECT_EQ(P->getString("name"), "stencil");
  EXPECT_EQ(P->getInteger("max_timed"), int64_t(E.Programs[0].MaxTimed));
  EXPECT_EQ(P->getNumber("per_file"), E.Programs[0].Found.PerFile);
  EXPECT_EQ(P->getNumber("critical_points"), E.Programs[0].Found.CriticalPoints);
  EXPECT_EQ(P->getNumber("carved"), E.Programs[0].Found.Carved);
  EXPECT_EQ(P->getNumber("everything"), E.Programs[0].Found.Everything);
  EXPECT_EQ(P->getNumber("random"), E.Programs[0].Found.Random);
  EXPECT_EQ(P->getNumber("seconds"), E.Programs[0].Seconds);
  EXPECT_EQ(P->size(), 8u);
  EXPECT_EQ(J->getAsObject()->getArray("curve")->size(), 5u);
  const llvm::json::Object *G = J->getAsObject()->getObject("geomean");
  EXPECT_EQ(G->getNumber("carved"), E.Geomean.Carved);
  EXPECT_EQ(G->size(), 5u);
}
