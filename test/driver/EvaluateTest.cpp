// carve evaluate as a person calls it. It needs no nvcc, no store and no GPU.
#include "DriverTier.h"

using namespace carve;

namespace {

class EvaluateTest : public DriverTierTest {
protected:
  EvaluateTest() { Env["CARVE_NVCC"] = path("none"); }

  const std::string Table = CARVE_TEST_INPUTS "/sweeps/two-programs.tsv";
};

} // namespace

TEST_F(EvaluateTest, evaluate_printsATableOrJson) {
  Ended E = carve({"evaluate", Table});
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_NE(E.Stdout.find("geometric mean"), std::string::npos) << E.Stdout;
  E = carve({"evaluate", "--format=json", "--budget=2", "--effort=1", "--arch=sm_80", Table});
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_NE(E.Stdout.find("\"max_timed\": "), std::string::npos) << E.Stdout;
  EXPECT_NE(E.Stdout.find("\"curve\": ["), std::string::npos) << E.Stdout;
}

TEST_F(EvaluateTest, knobs_printsATableOrJsonOfReportsAndFolders) {
  const std::string Folder = CARVE_TEST_INPUTS "/reports";
  Ended E = carve({"evaluate", "--knobs", Folder});
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_NE(E.Stdout.find("1 program(s), 9 kernels timed, 7 tuned"), std::string::npos) << E.Stdout;
  E = carve({"evaluate", "--knobs", "--format=json", Folder, Folder + "/lulesh.json"});
  EXPECT_EQ(E.Status, 0) << E.Stderr;
  EXPECT_NE(E.Stdout.find("\"programs\": 2"), std::string::npos) << E.Stdout;
  EXPECT_NE(E.Stdout.find("\"name\": \"smem\""), std::string::npos) << E.Stdout;
}

TEST_F(EvaluateTest, knobsWithoutReports_areErrors) {
  expectError({"evaluate", "--knobs"},
              "carve evaluate: no report, expected REPORT.json or a folder of them");
  const std::string Tables = CARVE_TEST_INPUTS "/sweeps";
  expectError({"evaluate", "--knobs", Tables},
              "carve evaluate: no reports in the folder '" + Tables + "', expected *.json");
  expectError({"evaluate", "--knobs", Table},
              Table + ": not JSON: [1:1, byte=1]: Invalid JSON value");
}

TEST_F(EvaluateTest, unreadableTable_failsWithThePlace) {
  write("work/t.tsv", "program\tkernel\n");
  expectError({"evaluate", "t.tsv"},
              "t.tsv:1: column 'grid' occurs 0 times in the header, expected once");
}

TEST_F(EvaluateTest, wrongWords_areErrors) {
  expectError({"evaluate"}, "carve evaluate: no table, expected SWEEP.tsv");
  expectError({"evaluate", "--budget=0", Table},
              "carve evaluate: --budget is '0', expected a number of seconds above 0");
  expectError({"evaluate", "--effort=4", Table},
              "carve evaluate: --effort is '4', expected a whole number from 0 to 3");
  expectError({"evaluate", "--format=xml", Table},
              "carve evaluate: --format is 'xml', expected text or json");
  expectError({"evaluate", Table, "more"},
              "carve evaluate: unexpected 'more', expected one SWEEP.tsv");
}
