// Launches of one shape that are divided into classes by their arguments or by their order, without
// a GPU. The times of all kernels are in proportion to their count, so a time shows the class of
// its launch.
#include "unit/Probe/StandInRun.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

using namespace carve;
using namespace carve::probe::test;

static StandInPlan divided(const std::string &Mode) {
  StandInPlan Plan;
  Plan.Mode = Mode;
  Plan.Fallback = Mode == "rotate" ? "rotate" : "none";
  Plan.Divided = true;
  return Plan;
}

/// Returns the launches and the mean time of each class of `step`, the longest first.
static std::vector<std::pair<unsigned, unsigned>> tracedClasses(const Records &File) {
  std::multimap<unsigned, unsigned, std::greater<>> ByMean;
  for (const Fields &Line : File.of("class"))
    if (Line.at(0) == "step")
      ByMean.emplace(std::stoul(Line.at(7)) / std::stoul(Line.at(6)), std::stoul(Line.at(6)));
  std::vector<std::pair<unsigned, unsigned>> Found;
  for (auto [Mean, Launches] : ByMean)
    Found.emplace_back(Launches, Mean);
  return Found;
}

/// Expects that the `rotated` lines of `step` of each class have the times of launches of that
/// class, and returns how many there are of each class and variant. \p DefaultNs is the time of the
/// default in the first class.
static std::map<std::string, unsigned> checkedTurns(const Records &File,
                                                    unsigned DefaultNs = 400'000) {
  const std::map<std::string, unsigned> Times = {{"default", DefaultNs},
                                                 {"control", DefaultNs},
                                                 {"fast", DefaultNs / 4 * 3},
                                                 {"odd", DefaultNs / 8 * 7}};
  std::map<std::string, unsigned> Turns;
  for (const Fields &Line : File.of("rotated")) {
    if (Line.at(0) != "step")
      continue;
    std::string Class = Line.at(4).substr(Line.at(4).find('/') + 1);
    EXPECT_NEAR(std::stod(Line.at(7)), Times.at(Line.at(6)) / (Class == "2" ? 2.0 : 1.0), 1)
        << "class " << Class << ", " << Line.at(6);
    ++Turns[Class + " " + Line.at(6)];
  }
  return Turns;
}

using Classes = std::vector<std::pair<unsigned, unsigned>>;

TEST(TracedClasses, launchesWithTwoLengths_areTimedSeparately) {
  StandInRun Run("lengths", "by-count");
  EXPECT_EQ(tracedClasses(Run.Traced), (Classes{{20, 400'000}, {20, 200'000}}));
}

TEST(TracedClasses, nodesOfAGraph_areTimedByTheirArguments) {
  // Of 120 nodes 40 have half of the elements, and there are six launches by calls.
  StandInRun Run("graph-memory", "by-count");
  EXPECT_EQ(tracedClasses(Run.Traced), (Classes{{86, 25'000}, {40, 12'500}}));
}

TEST(TracedClasses, launchesWithOneLength_haveNone) {
  EXPECT_TRUE(StandInRun("in-place").Traced.of("class").empty());
  EXPECT_TRUE(StandInRun("packed").Traced.of("class").empty()) << "the arguments are not read";
}

TEST(DividedRotation, cycles_runOverLaunchesOfOneClass) {
  StandInRun Run("lengths", "by-count");
  expectAsPlain(Run.time(divided("rotate")), Run.Plain);
  std::map<std::string, unsigned> Turns = checkedTurns(Run.Timed);
  for (const char *Class : {"1 ", "2 "})
    for (const char *Variant : {"default", "control", "fast", "odd"})
      EXPECT_EQ(Turns[std::string(Class) + Variant], 5u) << "of 20 launches of 4 variants";
}

/// Each class has launches enough for every variant to run twice in a row. A launch after one of
/// another variant takes half longer, and none of these counts.
TEST(DividedRotation, manyLaunches_countAfterOneOfTheSameVariant) {
  StandInRun Run("many-lengths", "after-other");
  expectAsPlain(Run.time(divided("rotate")), Run.Plain);
  std::map<std::string, unsigned> Turns = checkedTurns(Run.Timed);
  for (const char *Class : {"1 ", "2 "})
    for (const char *Variant : {"default", "control", "fast", "odd"})
      EXPECT_EQ(Turns[std::string(Class) + Variant], 64u);
}

TEST(DividedRotation, classThatIsNotPlanned_runsTheDefaultAndDoesNotCount) {
  StandInRun Run("lengths", "by-count");
  StandInPlan Plan = divided("rotate");
  Plan.MostClasses = 1;
  expectAsPlain(Run.time(Plan), Run.Plain);
  std::map<std::string, unsigned> Turns = checkedTurns(Run.Timed);
  EXPECT_EQ(Turns.size(), 4u) << "of the first class";
  EXPECT_EQ(Turns["1 default"], 5u);
}

TEST(DividedRotation, nodesOfAGraphThatStaysOne_areRotatedInTheirClasses) {
  StandInRun Run("graph-memory", "by-count");
  expectAsPlain(Run.time(divided("rotate")), Run.Plain);
  std::map<std::string, unsigned> Turns = checkedTurns(Run.Timed, 25'000);
  EXPECT_GE(Turns["1 fast"], 15u);
  EXPECT_GE(Turns["2 fast"], 7u);
}

TEST(DividedReplay, firstAndMiddleLaunchOfEachClass_areVerifiedAndTimed) {
  StandInRun Run("lengths", "by-count");
  expectAsPlain(Run.time(divided("replay"), {"0", "10"}), Run.Plain);
  std::set<std::string> Places;
  for (const Fields &Line : Run.Timed.of("replayed"))
    Places.insert(Line.at(4) + " " + Line.at(5));
  EXPECT_EQ(Places, (std::set<std::string>{"1,1,1/1 0", "1,1,1/1 10", "1,1,1/2 0", "1,1,1/2 10"}));
  std::map<std::string, std::set<std::string>> DefaultNs, Verdicts;
  for (const Fields &Line : Run.Timed.of("timed"))
    if (Line.at(8) == "default")
      DefaultNs[Line.at(4)].insert(Line.at(9));
  EXPECT_EQ(DefaultNs["1,1,1/1"], (std::set<std::string>{"400000"}));
  EXPECT_EQ(DefaultNs["1,1,1/2"], (std::set<std::string>{"200000"}));
  for (const Fields &Line : Run.Timed.of("verified"))
    Verdicts[Line.at(4)].insert(Line.at(7));
  EXPECT_EQ(Verdicts, (std::map<std::string, std::set<std::string>>{{"1,1,1/1", {"equal"}},
                                                                    {"1,1,1/2", {"equal"}}}));
}

TEST(DividedReplay, verifyRotate_comparesEachClassBeforeItRotates) {
  StandInRun Run("lengths", "by-count");
  expectAsPlain(Run.time(divided("verify-rotate")), Run.Plain);
  EXPECT_EQ(Run.Timed.of("replayed").size(), 2u);
  std::map<std::string, unsigned> Turns = checkedTurns(Run.Timed);
  EXPECT_EQ(Turns["1 fast"] + Turns["2 fast"], 10u) << "of 19 launches each, after the replays";
}

/// The launches of `step` from number 0 to 127 take 400 us down to 3 us.
static double stepNs(unsigned Launch) { return 3125.0 * (128 - Launch); }

TEST(Segments, launchesThatShrink_areTracedInFour) {
  StandInRun Run("shrinking", "by-count");
  std::vector<Fields> Traced = Run.Traced.of("segment");
  ASSERT_EQ(Traced.size(), 4u);
  unsigned Next = 0;
  for (const Fields &Line : Traced) {
    EXPECT_EQ(std::stoul(Line.at(5)), Next);
    Next += std::stoul(Line.at(6));
    EXPECT_NEAR(std::stod(Line.at(7)), 25.8e6 / 4, 400e3);
    EXPECT_EQ(std::stod(Line.at(9)), stepNs(std::stoul(Line.at(8))));
  }
  EXPECT_EQ(Next, 128u);
  EXPECT_TRUE(StandInRun("in-place").Traced.of("segment").empty());
}

TEST(Segments, oneLaunchOfEach_isReplayed) {
  StandInRun Run("shrinking", "by-count");
  StandInPlan Plan;
  Plan.Segmented = true;
  expectAsPlain(Run.time(Plan), Run.Plain);
  std::map<std::string, std::set<double>> DefaultNs;
  std::map<std::string, unsigned> Compared;
  for (const Fields &Line : Run.Timed.of("timed"))
    if (Line.at(8) == "default")
      DefaultNs[Line.at(4)].insert(std::stod(Line.at(9)));
  EXPECT_EQ(DefaultNs.size(), 4u);
  unsigned Class = 0;
  for (const Fields &Line : Run.Traced.of("segment")) {
    const std::set<double> &Ns = DefaultNs["1,1,1/" + std::to_string(++Class)];
    ASSERT_EQ(Ns.size(), 1u) << Class;
    // A busy host may put a replay off to one of the next two launches.
    const unsigned Wanted = std::stoul(Line.at(8));
    EXPECT_LE(*Ns.begin(), stepNs(Wanted));
    EXPECT_GE(*Ns.begin(), stepNs(Wanted + 2));
  }
  for (const Fields &Line : Run.Timed.of("verified"))
    Compared[Line.at(4)] += Line.at(7) == "equal";
  EXPECT_EQ(Compared.size(), 4u);
  for (const auto &[Place, Equal] : Compared)
    EXPECT_EQ(Equal, 3u) << Place << ": outputs of the variants are compared in each segment";
}

/// The launches of the last segment reach managed memory. What the others have told stays.
TEST(Segments, segmentThatCannotBeReplayed_leavesTheOthers) {
  StandInRun Run("shrinking-to-managed", "by-count");
  StandInPlan Plan;
  Plan.Segmented = true;
  expectAsPlain(Run.time(Plan), Run.Plain);
  std::set<std::string> Timed;
  for (const Fields &Line : Run.Timed.of("timed"))
    Timed.insert(Line.at(4));
  EXPECT_EQ(Timed, (std::set<std::string>{"1,1,1/1", "1,1,1/2", "1,1,1/3"}));
  EXPECT_EQ(Run.Timed.of("stood-back"), std::vector<Fields>());
}
