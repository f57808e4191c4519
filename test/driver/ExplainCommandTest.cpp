// What carve explain reports if it is called wrongly or has nothing to explain.
#include "DriverTier.h"

using namespace carve;

namespace {

class ExplainCommandTest : public DriverTierTest {
protected:
  ExplainCommandTest() { Env["CARVE_NVCC"] = path("none"); }
};

} // namespace

TEST_F(ExplainCommandTest, explain_nothingToExplain_fails) {
  Ended E = carve({"explain"});
  EXPECT_EQ(E.Status, 1);
  EXPECT_NE(E.Stderr.find("no tuning has been made with the store"), std::string::npos) << E.Stderr;
  EXPECT_NE(E.Stderr.find("`carve explain -- COMMAND` needs none"), std::string::npos) << E.Stderr;
  write("work/empty.json", "\n");
  expectError({"explain", "--report=empty.json"},
              "empty.json is empty, expected what `carve report --format=json` prints");
}

TEST_F(ExplainCommandTest, wrongWords_areErrors) {
  const std::string Explain = "carve explain: ";
  expectError({"explain", "one", "two"},
              Explain + "unexpected 'two', expected at most one kernel's name");
  expectError(
      {"explain", "--counters=off"},
      Explain + "--counters, --modified, --timeout, --stdin and --quiet need a command, expected: "
                "carve explain [KERNEL] [options] -- COMMAND...");
  EXPECT_EQ(carve({"explain", "--quiet"}).Stderr, carve({"explain", "--counters=off"}).Stderr);
  expectError({"explain", "--counters=on", "--", "app"},
              Explain + "--counters is 'on', expected auto or off");
  expectError({"explain", "--format=xml"}, Explain + "--format is 'xml', expected text or json");
}
