// `carve explain` on programs whose limiter is known (share/carve-nvcc/examples/limits), with
// hardware counters if the system permits them, and from counts and timing alone.
//
// Each case prints a line with what it found. With CARVE_TEST_DUMP=DIR everything that `carve
// explain` knew is written to DIR, as <program>-<way>.json.
#include "GpuTesting.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/Process.h"

using namespace carve;
using namespace carve::test;
namespace json = llvm::json;

namespace {

struct Known {
  const char *Program; ///< Its kernel has the same name.
  const char *Limit;
};

constexpr Known Programs[] = {
    {"copy", "memory"},       {"gather", "memory"},        {"fma", "instructions"},
    {"fp64", "instructions"}, {"special", "instructions"}, {"chase", "latency"},
    {"narrow", "latency"},    {"spill", "local-memory"},   {"shared", "shared-memory"},
    {"tiny", "launch"},
};

class Explain : public GpuTest {
protected:
  /// One project with all programs, which are compiled once.
  static Project &project() {
    static Project P("explain");
    return P;
  }

  static void compileAll() {
    static bool Done = false;
    if (Done)
      return;
    Done = true;
    for (const Known &K : Programs) {
      std::string Source = machine().examplesDir() + "/limits/" + K.Program + ".cu";
      CommandResult R =
          project().compile({"-O3", "-arch=" + TestArch, "-o", project().path(K.Program), Source});
      ASSERT_EQ(R.ExitStatus, 0) << R.Stderr;
    }
  }

  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && !HasFatalFailure())
      compileAll();
  }

  static void keep(const std::string &Name, const std::string &Text) {
    if (auto Dir = llvm::sys::Process::GetEnv("CARVE_TEST_DUMP"); Dir && !Dir->empty()) {
      EXPECT_FALSE(bool(writeFileAtomically(*Dir + "/" + Name, Text))) << Name;
    }
  }

  /// Explains \p K with \p Options, and compares its limiter with the known one.
  static void check(const Known &K, const std::string &Way, Words Options) {
    SCOPED_TRACE(std::string(K.Program) + ", " + Way);
    Words Arguments = {"explain", K.Program + std::string("("), "--format=json"};
    Arguments.insert(Arguments.end(), Options.begin(), Options.end());
    Arguments.insert(Arguments.end(), {"--", project().path(K.Program)});
    CommandResult R = project().carve(Arguments);
    keep(K.Program + ("-" + Way) + ".json", R.Stdout.empty() ? R.Stderr : R.Stdout);
    ASSERT_EQ(R.ExitStatus, 0) << R.Stderr << project().log();
    llvm::Expected<json::Value> Value = json::parse(R.Stdout);
    ASSERT_TRUE(bool(Value)) << llvm::toString(Value.takeError()) << R.Stdout;
    const json::Object &Report = *Value->getAsObject();
    const json::Array *Kernels = Report.getArray("kernels");
    ASSERT_TRUE(Kernels && Kernels->size() == 1) << R.Stdout;
    const json::Object *Limiter = (*Kernels)[0].getAsObject()->getObject("limiter");
    ASSERT_TRUE(Limiter) << R.Stdout;
    auto Text = [&](llvm::StringRef Key) { return Limiter->getString(Key).value_or("-").str(); };
    llvm::StringRef Refused = Report.getString("counters-refused").value_or("");
    std::printf("%-8s %-9s %-14s %s%s%s\n", K.Program, Way.c_str(), Text("limit").c_str(),
                Text("headline").c_str(), Refused.empty() || Refused == "off" ? "" : "; refused: ",
                Refused == "off" ? "" : Refused.str().c_str());
    std::fflush(stdout);
    EXPECT_EQ(Text("limit"), K.Limit) << R.Stdout;
    EXPECT_FALSE((*Kernels)[0].getAsObject()->getArray("findings")->empty()) << R.Stdout;
    if (Options.empty() && Refused.empty() && Text("limit") != "launch") {
      EXPECT_EQ(Text("basis"), "counters") << R.Stdout;
    }
  }
};

} // namespace

TEST_F(Explain, explainWithCounters_findsTheKnownLimiters) {
  for (const Known &K : Programs)
    check(K, "auto", {});
}

TEST_F(Explain, explainFromCountsAndTiming_findsTheKnownLimiters) {
  for (const Known &K : Programs)
    check(K, "off", {"--counters=off", "--modified=off"});
}

TEST_F(Explain, kernelThatOnlyAGraphLaunches_isExplainedAsAnyOther) {
  CommandResult R =
      project().compile({"-O3", "-arch=" + TestArch, "-o", project().path("graph_copy"),
                         machine().Sources + "/apps/graph_copy.cu"});
  ASSERT_EQ(R.ExitStatus, 0) << R.Stderr;
  check({"graph_copy", "memory"}, "auto", {});
}

TEST_F(Explain, text_namesTheLimiter) {
  CommandResult R = project().carve({"explain", "--", project().path("copy")});
  keep("copy.txt", R.Stdout + R.Stderr);
  ASSERT_EQ(R.ExitStatus, 0) << R.Stderr << project().log();
  EXPECT_NE(R.Stdout.find("limited by DRAM bandwidth"), std::string::npos) << R.Stdout;
  EXPECT_NE(R.Stdout.find("left to you"), std::string::npos) << R.Stdout;
  R = project().carve({"explain", "nobody", "--", project().path("copy")});
  EXPECT_NE(R.ExitStatus, 0);
  EXPECT_NE(R.Stderr.find("launched no kernel 'nobody', expected one of copy("), std::string::npos)
      << R.Stderr;
}
