// Counters in a variable of the replacing images, on the stand-in driver.
#include "unit/Probe/ProbeRecords.h"
#include "unit/Probe/StandIn/ImageFile.h"

#include <gtest/gtest.h>
#include <set>

using namespace carve;
using namespace carve::probe::test;

namespace {

/// Runs the scenario `counted` with an image in which the variable Counter is two counters, 64
/// times.
class CountedRunTest : public testing::Test {
protected:
  Records count(const std::string &Scenario, const std::string &Variables) {
    ProbeRun Without, Traced, Run;
    Without.setEnvironment("CUDA_INJECTION64_PATH");
    std::string Plain = Without.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario}).Stdout;
    Traced.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario});
    std::string Image = Run.writeFile(
        "image", standin::imageFile({"scale", "step", "sum", "append", "count", "masked"},
                                    {{"Counter", 2 * 64 * 8}, {"Unasked", 64 * 8}}));
    std::set<std::string> Lines;
    for (const Fields &Container : Traced.onlyFile().of("container"))
      Lines.insert(Container[0] + "\t" + Image + "\n");
    std::string Map;
    for (const std::string &Line : Lines)
      Map += Line;
    Run.setEnvironment("CARVE_PROBE_IMAGES=" + Run.writeFile("map", Map));
    Run.setEnvironment("CARVE_PROBE_COUNTERS=" + Variables);
    CommandResult Result = Run.run(CARVE_TEST_STANDIN_PROGRAM, {Scenario});
    EXPECT_EQ(Result.Stdout, Plain) << "the program computes what it always does";
    EXPECT_EQ(Result.Stderr, "");
    Records Only = Run.onlyFile();
    EXPECT_TRUE(Only.whole());
    return Only;
  }
};

} // namespace

TEST_F(CountedRunTest, counts_areSummedOverModulesAndContexts) {
  Records R = count("counted", "None,Counter");
  EXPECT_EQ(R.of("uncounted"), std::vector<Fields>());
  std::vector<Fields> Counted = R.of("counted");
  ASSERT_EQ(Counted.size(), 2u);
  EXPECT_EQ(Counted[0], (Fields{"Counter", "0", "12"})) << "3, 4 and 5 launches";
  // The kernel's word 3 is the upper half of the second counter: 5 times that counter plus the
  // launches so far.
  auto Word = [](unsigned Launches) {
    uint64_t Value = 0;
    for (unsigned L = 1; L <= Launches; ++L)
      Value = Value * 5 + L;
    return Value;
  };
  EXPECT_EQ(Counted[1],
            (Fields{"Counter", "1", std::to_string((Word(3) + Word(4) + Word(5)) << 32)}));
}

TEST_F(CountedRunTest, launchesOfGraphs_areCounted) {
  Records R = count("counted-graph", "Counter");
  EXPECT_EQ(R.of("uncounted"), std::vector<Fields>());
  ASSERT_EQ(R.of("counted").size(), 2u);
  EXPECT_EQ(R.of("counted")[0], (Fields{"Counter", "0", "6"})) << "two nodes, launched three times";
}

TEST_F(CountedRunTest, variableNotAskedFor_isNotRead) {
  Records R = count("variables", "None");
  EXPECT_EQ(R.of("counted"), std::vector<Fields>());
  EXPECT_EQ(R.of("uncounted"), std::vector<Fields>());
}
