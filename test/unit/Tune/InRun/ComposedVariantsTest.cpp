#include "Tune/InRun/ComposedVariants.h"
#include "SimulatedRun.h"
#include "Tune/InRun/InRunTuning.h"
#include "unit/Tune/TuneTesting.h"

using namespace carve;

namespace {

using Extents = std::array<unsigned, 3>;
using Ratios = std::vector<double>;

/// A kernel with the variants r32 and r64, and what timing runs say of its launch shapes.
class ComposedVariantsTest : public testing::Test {
protected:
  ComposedVariantsTest() : Traced(sampleKernel("k", 1).Traced) {
    JobKernel K = sampleKernel("k", 1);
    Built = sampleBuild(K);
    addVariant(Built, 32);
    addVariant(Built, 64);
    Traced.Shapes.clear();
  }
  /// Adds a shape with \p Ns of the default's time, in which r32, r64 and those after them take \p
  /// Times of it, give or take \p Scatter. Without times it is a shape that was not timed.
  void shape(unsigned Grid, unsigned Block, double Ns, const Ratios &Times,
             double Scatter = 0.001) {
    KernelLaunches L = launches("k", Block, uint64_t(Ns));
    L.Shape.Grid = {Grid, 1, 1};
    Traced.Shapes.push_back(L);
    InRunShapeTimes &S = Outcome.Shapes.emplace_back();
    S.TotalNs = Ns;
    if (Times.empty())
      return;
    S.Ratios = {{1, 1, 1}, {1, 0.999, 1.001}};
    for (double T : Times)
      S.Ratios.push_back(T > 0 ? RatioInterval{T, T - Scatter, T + Scatter}
                               : RatioInterval{0, 0, 0});
  }
  Composition composed() const { return composeOfShapes(Traced, Built.Variants, Outcome); }

  TracedKernel Traced;
  KernelBuild Built;
  InRunOutcome Outcome;
  const Extents Block256{256, 1, 1}, Block64{64, 1, 1}, Large{4096, 1, 1}, Tiny{8, 1, 1};
};

} // namespace

TEST_F(ComposedVariantsTest, twoGridsThatWantOtherCaps_getEachItsOwn) {
  shape(4096, 256, 6e6, {0.8, 1.1});
  shape(8, 256, 4e6, {1.2, 0.7});
  Composition C = composed();
  ASSERT_EQ(C.Codes.size(), 2u);
  EXPECT_EQ(C.Name, "r32+r64");
  // The best alone takes 0.6 * 1.1 + 0.4 * 0.7 = 0.94, r32 takes 0.96.
  EXPECT_NEAR(C.Promise, 0.94 - (0.6 * 0.8 + 0.4 * 0.7), 1e-9);
  EXPECT_EQ(C.Codes[0].Launch, (KnownLaunch{{}, Block256, Large}));
  EXPECT_EQ(C.Codes[1].Launch, (KnownLaunch{{}, Block256, Tiny}));
}

TEST_F(ComposedVariantsTest, twoBlocks_areToldApartByTheBlockAlone) {
  shape(4096, 256, 6e6, {0.8, 1.1});
  shape(8, 64, 4e6, {1.2, 0.7});
  Composition C = composed();
  EXPECT_EQ(C.Name, "r32+r64");
  ASSERT_EQ(C.Codes.size(), 2u);
  EXPECT_TRUE(C.Codes[0].Launch.Block == Block256 && C.Codes[1].Launch.Block == Block64);
  EXPECT_TRUE(!C.Codes[0].Launch.Grid && !C.Codes[1].Launch.Grid);
}

TEST_F(ComposedVariantsTest, variantThatIsSlowAtOneGrid_leavesItTheDefault) {
  shape(4096, 256, 6e6, {0.8, 1.1});
  shape(8, 256, 4e6, {1.2, 1.3});
  Composition C = composed();
  EXPECT_EQ(C.Name, "r32+default");
  ASSERT_EQ(C.Codes.size(), 1u);
  EXPECT_EQ(C.Codes[0].Launch.Grid, Large);
  EXPECT_NEAR(C.Promise, 0.96 - 0.88, 1e-9);
}

TEST_F(ComposedVariantsTest, oneShapeOrOneWinner_hasNone) {
  shape(4096, 256, 6e6, {0.8, 1.1});
  EXPECT_TRUE(composed().Codes.empty()) << "one shape";
  shape(8, 256, 4e6, {0.7, 0.9});
  EXPECT_TRUE(composed().Codes.empty()) << "r32 is best at both";
  Traced.Shapes.pop_back();
  Outcome.Shapes.pop_back();
  // Dynamic shared memory is not told apart by guards.
  shape(4096, 256, 4e6, {1.1, 0.8});
  Traced.Shapes.back().Shape.DynamicSmemBytes = 1024;
  EXPECT_TRUE(composed().Codes.empty()) << "one block and grid";
}

TEST_F(ComposedVariantsTest, gainBelowTheThreshold_hasNone) {
  // What r64 takes at the small grid has to be at most 0.8 - 0.005 * 0.8 / 0.4 = 0.79.
  for (double OfR64 : {0.789, 0.791}) {
    Traced.Shapes.clear();
    Outcome.Shapes.clear();
    shape(4096, 256, 6e6, {0.8, 1.1});
    shape(8, 256, 4e6, {0.8, OfR64});
    EXPECT_EQ(composed().Codes.empty(), OfR64 > 0.79);
  }
}

TEST_F(ComposedVariantsTest, differenceWithinTheScatter_countsAsNone) {
  shape(4096, 256, 6e6, {0.8, 1.1}, 0.03);
  shape(8, 256, 4e6, {0.8, 0.75}, 0.03);
  EXPECT_TRUE(composed().Codes.empty());
  for (RatioInterval &R : Outcome.Shapes[1].Ratios)
    R.Low = R.High = R.Median;
  EXPECT_EQ(composed().Name, "r32+r64");
}

TEST_F(ComposedVariantsTest, moreShapesThanEntries_getThoseThatGainMost) {
  for (unsigned Cap : {40, 48})
    addVariant(Built, Cap);
  shape(4096, 256, 1e6, {0.7, 1.1, 1.1, 1.1});
  shape(1024, 128, 1e6, {1.1, 0.8, 1.1, 1.1});
  shape(512, 64, 1e6, {1.1, 1.1, 0.9, 1.1});
  shape(8, 32, 1e6, {1.1, 1.1, 1.1, 0.97});
  Composition C = composed();
  EXPECT_EQ(C.Codes.size(), MostFurtherEntries);
  EXPECT_EQ(C.Name, "r32+r64+r40+default");
}

/// A second code that gains less than LeastMargin is not worth an entry.
TEST_F(ComposedVariantsTest, codeThatHardlyGains_isLeftOut) {
  shape(4096, 256, 6e6, {0.8, 1.1});
  shape(8, 128, 4e6, {1.2, 1.2});
  shape(8, 64, 1e5, {1.2, 0.8});
  EXPECT_EQ(composed().Name, "r32+default");
}

TEST_F(ComposedVariantsTest, gridsOfOneBlock_shareAnEntryThatNamesTheBlock) {
  for (unsigned Grid : {4096, 2048, 1024, 512, 256})
    shape(Grid, 256, 1e6, {0.8, 1.1});
  shape(8, 256, 1e6, {1.4, 0.7});
  Composition C = composed();
  EXPECT_EQ(C.Name, "r64+r32");
  ASSERT_EQ(C.Codes.size(), 2u);
  EXPECT_TRUE(C.Codes[0].Launch.Grid == Tiny && !C.Codes[1].Launch.Grid);
}

TEST_F(ComposedVariantsTest, rejectedOrOnlyTimedVariant_isNoPart) {
  shape(4096, 256, 6e6, {0.8, 1.1});
  shape(8, 256, 4e6, {1.2, 0.7});
  Outcome.Rejected = {{3, "its output differs"}};
  EXPECT_EQ(composed().Name, "r32+default");
  Outcome.Rejected.clear();
  Built.Variants[3].OnlyTimed = true;
  EXPECT_EQ(composed().Name, "r32+default");
}

TEST_F(ComposedVariantsTest, shapesThatWereNotTimed_countAsUnchanged) {
  shape(4096, 256, 6e6, {0.8, 1.1});
  shape(8, 256, 4e6, {1.2, 0.7});
  shape(16, 512, 90e6, {});
  Composition C = composed();
  EXPECT_EQ(C.Name, "r32+r64+default");
  EXPECT_NEAR(C.Promise, 0.018, 1e-9);
  Traced.Shapes[2].TotalNs = 900000000;
  Outcome.Shapes[2].TotalNs = 900e6;
  EXPECT_TRUE(composed().Codes.empty()) << "the gain is 0.2 % of all its time";
}

/// The times of a composition show whether it holds what it promised. It is no part of another one,
/// but what another one has to be faster than.
TEST_F(ComposedVariantsTest, compositionThatWasTimed_isWhatIsToBeBeaten) {
  JobVariant Old;
  Old.Setting.Cap = 32;
  Old.Composed = "r32+r64";
  Old.Codes = {{{{}, Block256, Large}, {.Cap = 32}, "a", {}, "code32"},
               {{{}, Block256, Tiny}, {.Cap = 64}, "b", {}, "code64"}};
  Built.Variants.push_back(Old);
  shape(4096, 256, 6e6, {0.8, 1.1, 0.8});
  shape(8, 256, 4e6, {1.2, 0.7, 0.7});
  EXPECT_TRUE(composed().Codes.empty());
  addVariant(Built, 48);
  for (InRunShapeTimes &S : Outcome.Shapes)
    S.Ratios.push_back({0.9, 0.899, 0.901});
  EXPECT_TRUE(composed().Codes.empty());
  Outcome.Shapes[1].Ratios.back() = {0.6, 0.599, 0.601};
  EXPECT_EQ(composed().Name, "r32+r48");
}

/// What a variant for known launches relies on is part of the guard.
TEST_F(ComposedVariantsTest, knownValues_areCombinedWithTheShape) {
  JobVariant Known;
  Known.Setting.FrontEnd = FrontEndKnob::KnownLaunch;
  Known.Codes = {{{{{2, 4, 256}}, {}, {}}, Known.Setting, "k", {}, "known"}};
  Built.Variants.push_back(Known);
  shape(4096, 256, 6e6, {0.7, 1.1, 0.6});
  shape(8, 256, 4e6, {1.2, 0.7, 1.1});
  EXPECT_EQ(composed().Name, "r32+r64") << "whether the value was passed is not known";
  Traced.Arguments.emplace();
  Traced.Arguments->add(ArgumentRecord{{"k", 2, 4, 256, 0}});
  Composition C = composed();
  EXPECT_EQ(C.Name, "known+r64");
  ASSERT_EQ(C.Codes.size(), 2u);
  EXPECT_EQ(C.Codes[0].Launch, (KnownLaunch{{{2, 4, 256}}, Block256, Large}));
  EXPECT_EQ(C.Codes[1].Launch, (KnownLaunch{{}, Block256, Tiny}));
}

/// The times of such a grid are those of a whole group, so nothing tells it from the others.
TEST_F(ComposedVariantsTest, gridWithARepresentative_getsNoCodeOfItsOwn) {
  shape(4096, 256, 6e6, {0.8, 1.1});
  shape(8, 256, 4e6, {1.2, 0.7});
  ASSERT_EQ(composed().Name, "r32+r64");
  Outcome.Shapes[1].InGroup = true;
  Composition C = composed();
  EXPECT_EQ(C.Name, "r32+r64");
  ASSERT_EQ(C.Codes.size(), 2u);
  EXPECT_EQ(C.Codes[0].Launch, (KnownLaunch{{}, Block256, Large})) << "it was timed for itself";
  EXPECT_EQ(C.Codes[1].Launch, (KnownLaunch{{}, Block256, {}})) << "for all that is left";
  EXPECT_NEAR(C.Promise, 0.94 - (0.6 * 0.8 + 0.4 * 0.7), 1e-9);
  Outcome.Shapes[0].InGroup = true;
  EXPECT_TRUE(composed().Codes.empty()) << "of one block";
  shape(2048, 256, 1e6, {0.8, 1.1});
  shape(16, 256, 1e6, {1.2, 0.7});
  for (InRunShapeTimes &S : Outcome.Shapes)
    S.InGroup = true;
  EXPECT_TRUE(composed().Codes.empty()) << "of one block";
}

TEST_F(ComposedVariantsTest, blocksWhoseGridsHaveRepresentatives_areToldApart) {
  for (unsigned Grid = 1; Grid <= 30; ++Grid) {
    shape(Grid, 256, 2e5, {0.8, 1.1});
    shape(Grid, 64, 1.5e5, {1.2, 0.7});
  }
  EXPECT_TRUE(composed().Codes.empty()) << "there are more grids than a run times";
  for (InRunShapeTimes &S : Outcome.Shapes)
    S.InGroup = true;
  Composition C = composed();
  EXPECT_EQ(C.Name, "r32+r64");
  ASSERT_EQ(C.Codes.size(), 2u);
  EXPECT_EQ(C.Codes[0].Launch, (KnownLaunch{{}, Block256, {}}));
  EXPECT_EQ(C.Codes[1].Launch, (KnownLaunch{{}, Block64, {}}));
}

/// From the records of a timing run to what is composed of it.
TEST(ComposedVariants, timingRun_isWhatTheyAreComposedOf) {
  for (bool Differ : {true, false}) {
    SimulatedRun Run;
    Run.replay({shapeOf({0.8, 1.2}), shapeOf({Differ ? 1.2 : 0.8, Differ ? 0.7 : 1.2})});
    TuningJob Job;
    JobKernel K = sampleKernel("k0", 1);
    K.Traced.Shapes.resize(2, K.Traced.Shapes[0]);
    for (size_t S : {0, 1}) {
      K.Traced.Shapes[S].Shape = SimulatedRun::place(0, S).Shape;
      K.Traced.Shapes[S].TotalNs = 1000000;
    }
    Job.Kernels = {K};
    JobBuild Built = defaultsOf(Job);
    addVariant(Built.Kernels[0], 32);
    addVariant(Built.Kernels[0], 64);
    std::vector<ModeChoice> Choices(1);
    Choices[0].Mode = TimingMode::Replay;
    TimingRunResult Result;
    Result.Record = Run.Record;
    InRunTuning All = untimed(Job);
    addTimingRun(All, judgeTimingRun(Job, Built, Choices, Result), Built);
    Composition C =
        composeOfShapes(Job.Kernels[0].Traced, Built.Kernels[0].Variants, All.Outcomes[0]);
    EXPECT_EQ(C.Name, Differ ? "r32+r64" : "");
  }
}
