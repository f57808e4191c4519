// What `carve metrics --count` counts for kernels whose data decides how many times their loops
// run.
#include "GpuTesting.h"

#include "llvm/Support/JSON.h"

using namespace carve;
using namespace carve::test;
namespace json = llvm::json;

namespace {

constexpr double Period = 37, Count = Period * 1024, Threads = 256, Launches = 10;

class CountRun : public GpuTest {
protected:
  /// Builds the program anew with \p Options, and counts while it ends in the way \p How.
  json::Object count(const std::string &Name, Words Options, Words How) {
    Project P(Name);
    std::string App = P.path("app");
    Words Build = {"-O2", "-arch=" + TestArch, "-o", App, machine().Sources + "/apps/counted.cu"};
    Build.insert(Build.begin(), Options.begin(), Options.end());
    P.compile(Build);
    Words Command = {"metrics", "--count", "--kernel=steps", "--kernel=walks", "--format=json",
                     "--",      App};
    Command.insert(Command.end(), How.begin(), How.end());
    CommandResult Result = P.carve(Command);
    EXPECT_EQ(Result.ExitStatus, 0) << Result.Stderr << P.log();
    llvm::Expected<json::Value> Report = json::parse(Result.Stdout);
    if (Report && Report->getAsObject())
      return std::move(*Report->getAsObject());
    ADD_FAILURE() << (Report ? "no object" : llvm::toString(Report.takeError()));
    return {};
  }

  static const json::Object *find(const json::Object &Report, llvm::StringRef Kernel) {
    for (const json::Value &K : *Report.getArray("kernels"))
      if (K.getAsObject()->getString("demangled")->starts_with(Kernel))
        return K.getAsObject();
    ADD_FAILURE() << "no kernel " << Kernel.str();
    return nullptr;
  }

  /// Returns the trips of the loops of \p Kernel; all of them must have been counted.
  static std::vector<double> trips(const json::Object &Kernel) {
    std::vector<double> Trips;
    for (const json::Value &L : *Kernel.getObject("ptx")->getArray("loops")) {
      EXPECT_EQ(L.getAsObject()->getString("source"), "counted");
      Trips.push_back(*L.getAsObject()->getNumber("trips"));
    }
    return Trips;
  }

  /// Checks what is the same in every report.
  static bool isSound(const json::Object &Report) {
    EXPECT_TRUE(Report.getArray("warnings") && Report.getArray("warnings")->empty())
        << "the program's output is what it was";
    return Report.getArray("kernels") && Report.getArray("left");
  }

  /// Checks that \p Times of its launches were counted.
  static void checkSteps(const json::Object &Report, double Times = Launches) {
    ASSERT_TRUE(isSound(Report));
    const json::Object *Steps = find(Report, "steps(");
    ASSERT_TRUE(Steps);
    double Started = Count + 2 * Threads;
    EXPECT_EQ(Steps->getNumber("counted_threads"), Times * Started);
    // The loops have 1 to 36 steps. A thread with 0 steps does not reach its loop.
    EXPECT_EQ(trips(*Steps), std::vector<double>{18.5});
    const json::Object &Ptx = *Steps->getObject("ptx");
    EXPECT_DOUBLE_EQ(*Ptx.getNumber("global_loads"), Count * (Period - 1) / 2 / Started);
    EXPECT_DOUBLE_EQ(*Ptx.getNumber("global_stores"), Count / Started);
    EXPECT_GT(*Steps->getNumber("utilization"), 0);
  }

  static void checkWalks(const json::Object &Report) {
    ASSERT_TRUE(isSound(Report));
    EXPECT_TRUE(Report.getArray("left")->empty());
    const json::Object *Walks = find(Report, "walks(");
    ASSERT_TRUE(Walks);
    EXPECT_EQ(Walks->getNumber("counted_threads"), Launches * Count);
    EXPECT_EQ(trips(*Walks), std::vector<double>{15});
    EXPECT_EQ(Walks->getObject("ptx")->getNumber("global_loads"), 16) << "15 of them in the callee";
  }
};

} // namespace

TEST_F(CountRun, counts_areTheSameHoweverTheProgramEnds) {
  for (const char *How : {"returns", "_exit", "busy", "reset"}) {
    SCOPED_TRACE(How);
    json::Object Report = count(std::string("count-") + How, {}, {How});
    checkSteps(Report, How == std::string("busy") ? Launches + 1 : Launches);
    checkWalks(Report);
  }
}

TEST_F(CountRun, launchesOfGraphs_areCounted) {
  json::Object Report = count("count-graph", {}, {"graph"});
  checkSteps(Report);
  checkWalks(Report);
}

TEST_F(CountRun, linkedDeviceCode_isCounted) {
  json::Object Report = count("count-rdc", {"-rdc=true"}, {});
  checkSteps(Report);
  // In linked code any file may use its function, so it is never edited.
  ASSERT_TRUE(isSound(Report));
  ASSERT_EQ(Report.getArray("left")->size(), 1u);
  EXPECT_EQ((*Report.getArray("left"))[0].getAsObject()->getString("reason"), "shared-callee");
}
