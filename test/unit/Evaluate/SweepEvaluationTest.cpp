#include "Evaluate/SweepEvaluation.h"

#include "Support/Files.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace carve;

namespace {

DeviceModel device() {
  auto D = loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_90");
  EXPECT_TRUE(bool(D));
  return D ? *D : DeviceModel();
}

SweepSetting setting(std::optional<unsigned> Cap, std::optional<unsigned> FrontEnd = std::nullopt,
                     unsigned Level = 5) {
  SweepSetting S;
  S.PtxasCap = Cap;
  S.FrontEndCap = FrontEnd;
  S.RegisterUsageLevel = Level;
  return S;
}

/// Returns a row in which a launch of kernel \p Kernel of program `p` takes \p Ns.
SweepRow row(const char *Kernel, SweepSetting S, unsigned Regs, double Ns, uint64_t Launches = 10) {
  SweepRow R;
  R.Program = "p";
  R.Kernel = Kernel;
  R.Shape.Block = {256, 1, 1};
  R.Setting = std::move(S);
  R.RegsPerThread = Regs;
  R.Launches = Launches;
  R.TotalNs = Ns * double(Launches);
  return R;
}

ProgramEvaluation evaluated(const std::vector<SweepRow> &Rows, EvaluationLimits Limits = {3}) {
  auto E = evaluateSweep(Rows, device(), Limits);
  EXPECT_TRUE(bool(E)) << llvm::toString(E.takeError());
  return E ? E->Programs.at(0) : ProgramEvaluation();
}

SweptKernel kernel(const std::vector<SweepRow> &Rows) {
  std::vector<std::string> LeftOut;
  auto Programs = sweptPrograms(Rows, LeftOut);
  EXPECT_EQ(Programs.size(), 1u);
  return Programs.at(0).Kernels.at(0);
}

/// Returns the mean over all subsets.
double bruteForce(const std::vector<double> &Values, unsigned Count) {
  double Sum = 0;
  unsigned Subsets = 0;
  for (unsigned Mask = 0; Mask < 1u << Values.size(); ++Mask) {
    if (unsigned(__builtin_popcount(Mask)) != Count)
      continue;
    double Least = INFINITY;
    for (size_t I = 0; I < Values.size(); ++I)
      if (Mask >> I & 1)
        Least = std::min(Least, Values[I]);
    Sum += Least;
    ++Subsets;
  }
  return Sum / Subsets;
}

} // namespace

TEST(ExpectedMinimum, expectation_isMeanOverAllSubsets) {
  std::vector<double> Values{5, 1, 4, 4, 9, 2.5, 7};
  for (unsigned Count = 1; Count <= Values.size(); ++Count)
    EXPECT_NEAR(expectedMinimum(Values, Count), bruteForce(Values, Count), 1e-12) << Count;
  EXPECT_DOUBLE_EQ(expectedMinimum(Values, 100), 1);
}

TEST(SweptPrograms, times_arePerLaunchAndOfAllShapes) {
  SweepRow Small = row("k", setting({}), 32, 10, 100), Capped = row("k", setting(24), 24, 5, 50);
  SweepRow Large = row("k", setting({}), 32, 1000, 10),
           LargeCapped = row("k", setting(24), 24, 900, 20);
  Large.Shape.Grid = LargeCapped.Shape.Grid = {64, 1, 1};
  SweptKernel K = kernel({Small, Large, Capped, LargeCapped});
  EXPECT_DOUBLE_EQ(K.defaultNs(), 11000);
  EXPECT_DOUBLE_EQ(K.Variants.at(setting(24)).TimeNs, 9500);
  EXPECT_EQ(K.Shape.Grid[0], 64u);
}

TEST(SweptPrograms, repeatedRows_countAsTheFastest) {
  SweptKernel K = kernel({row("k", setting({}), 32, 12), row("k", setting({}), 32, 10, 4)});
  EXPECT_DOUBLE_EQ(K.defaultNs(), 40);
}

TEST(SweptPrograms, settingThatLacksAShape_isLeftOutUnlessShapeIsSmall) {
  SweepRow Main = row("k", setting({}), 32, 1000), Other = row("k", setting({}), 32, 9);
  Other.Shape.Grid = {2, 1, 1};
  SweepRow Capped = row("k", setting(24), 24, 800);
  EXPECT_DOUBLE_EQ(kernel({Main, Other, Capped}).Variants.at(setting(24)).TimeNs, 8090);
  Other.TotalNs *= 2;
  EXPECT_EQ(kernel({Main, Other, Capped}).Variants.count(setting(24)), 0u);
}

TEST(SweptPrograms, rowsWithoutTimes_giveNoVariantOrKernel) {
  SweptKernel K = kernel({row("k", setting({}), 32, 10), row("k", setting(24), 24, 0),
                          row("k", setting(40), 32, 5, 0)});
  EXPECT_EQ(K.Variants.size(), 1u);
  std::vector<std::string> LeftOut;
  EXPECT_TRUE(sweptPrograms({row("k", setting(24), 24, 5)}, LeftOut).empty());
  EXPECT_EQ(LeftOut, std::vector<std::string>{"p"});
}

TEST(SweptSpace, cap_isAnsweredByNextRowWhoseCodeFits) {
  SweptSpace S = sweptSpace(kernel({row("k", setting({}), 32, 10), row("k", setting(24), 24, 11),
                                    row("k", setting(48), 42, 9), row("k", setting(64), 42, 9.1),
                                    row("k", setting(48, 48), 42, 8)}),
                            device());
  EXPECT_EQ(S.Space.MinRegs, 24u);
  EXPECT_EQ(S.Space.MaxRegs, 42u);
  EXPECT_EQ(S.Space.DefaultRegs, 32u);
  EXPECT_EQ(S.Space.Caps, (std::vector<unsigned>{32, 40, 42}));
  VariantSetting V;
  V.Cap = 42;
  EXPECT_EQ(S.Rows.at(V), setting(48));
  V.FrontEndCap = 42;
  EXPECT_EQ(S.Rows.at(V), setting(48, 48));
  V = {};
  V.Cap = 40; // The code of that row does not fit into the cap.
  EXPECT_EQ(S.Rows.count(V), 0u);
}

TEST(SweptSpace, smemSpilling_isAKnobWithTheTablesMetrics) {
  SweepRow Default = row("k", setting({}), 32, 10), Smem = Default;
  Smem.Setting.SmemSpilling = true;
  double Threads = double(Default.Shape.threadsPerBlock()) * Default.Shape.Grid[0];
  Smem.Metrics = {8, 0.5, 1 / (200 * Threads), {}};
  SweptKernel K = kernel({Default, Smem});
  SweptSpace S = sweptSpace(K, device());
  VariantSetting V;
  V.SmemSpilling = true;
  ASSERT_EQ(S.Rows.count(V), 1u);
  EXPECT_EQ(S.Rows.at(V), Smem.Setting);
  StaticMetrics M = sweptMetrics(K, K.Variants.at(Smem.Setting), device());
  EXPECT_EQ(M.SpillBytes, 8u);
  EXPECT_DOUBLE_EQ(M.Occupancy, 0.5);
  EXPECT_EQ(M.BlocksPerSm * Default.Shape.threadsPerBlock(), 1024u);
  ASSERT_TRUE(M.Counts);
  EXPECT_NEAR(M.Counts->Instructions, 200, 1e-9);
  EXPECT_FALSE(sweptMetrics(K, K.Variants.at({}), device()).Counts);
}

TEST(SweptSpace, otherKnobs_areThoseOfTheTable) {
  SweepRow Default = row("k", setting({}), 32, 10), Known = row("k", setting(24), 24, 8),
           Less = Default, Unknown = Default;
  Known.Setting.FrontEnd = FrontEndKnob::NewerLlvmRolled;
  Known.Setting.KnownPtx = true;
  Known.Setting.Dlcm = "cs";
  Less.Setting.OptimizationLevel = 1;
  Unknown.Setting.Dlcm = "ca"; // No variant has it.
  SweptSpace S =
      sweptSpace(kernel({Default, Known, Less, Unknown, row("k", setting(24), 24, 11)}), device());
  EXPECT_EQ(S.Space.FrontEndKnobs, std::vector<FrontEndKnob>{FrontEndKnob::NewerLlvmRolled});
  EXPECT_EQ(S.Space.LoadCachings, std::vector<LoadCaching>{LoadCaching::EvictFirst});
  EXPECT_TRUE(S.Space.KnownPtx);
  EXPECT_TRUE(S.Space.LessOptimized);
  EXPECT_TRUE(S.Space.RegisterUsageLevels.empty());
  VariantSetting V{.Cap = 24,
                   .FrontEnd = FrontEndKnob::NewerLlvmRolled,
                   .Loads = LoadCaching::EvictFirst,
                   .KnownPtx = true};
  ASSERT_EQ(S.Rows.count(V), 1u);
  EXPECT_EQ(S.Rows.at(V), Known.Setting);
  EXPECT_EQ(S.Rows.count({.OptimizationLevel = 1}), 1u);
  for (const auto &[Setting, Row] : S.Rows)
    EXPECT_NE(Row.Dlcm, "ca");
}

TEST(SweepEvaluation, eachWay_takesItsBestRows) {
  ProgramEvaluation E = evaluated({
      row("a", setting({}), 48, 100),
      row("a", setting(32), 32, 90),
      row("a", setting(32, 32), 32, 70),
      row("a", setting(44), 44, 60),
      row("a", setting(40), 40, 80),
      row("a", setting(40, 40), 40, 85),
      row("b", setting({}), 40, 100),
      row("b", setting(32), 32, 120),
      row("b", setting(32, 32), 32, 110),
      row("b", setting(44), 40, 100),
      row("b", setting(40), 40, 95),
      row("b", setting(40, 40), 40, 90),
  });
  EXPECT_DOUBLE_EQ(E.Found.PerFile, 200.0 / 175); // With f40-r40.
  EXPECT_DOUBLE_EQ(E.Found.CriticalPoints, 200.0 / (80 + 95));
  EXPECT_DOUBLE_EQ(E.Found.Everything, 200.0 / (60 + 90));
  EXPECT_DOUBLE_EQ(E.Found.Carved, 200.0 / (60 + 90));
  EXPECT_EQ(E.MaxTimed, 5u);
  EXPECT_EQ(E.HotKernels, 2u);
}

TEST(SweepEvaluation, registerUsageLevel_isOfEachKernel) {
  std::vector<SweepRow> Rows{
      row("a", setting({}), 40, 100),         row("a", setting({}, {}, 10), 40, 50),
      row("a", setting({}, {}, 0), 40, 99),   row("b", setting({}), 40, 100),
      row("b", setting({}, {}, 10), 40, 120), row("b", setting({}, {}, 0), 40, 80),
  };
  ProgramEvaluation E = evaluated(Rows);
  EXPECT_DOUBLE_EQ(E.Found.Carved, 200.0 / 130);
  EXPECT_DOUBLE_EQ(E.Found.Everything, 200.0 / 130);
}

TEST(SweepEvaluation, smallKernels_keepTheDefault) {
  ProgramEvaluation E = evaluated({row("a", setting({}), 40, 1000), row("a", setting(32), 32, 800),
                                   row("b", setting({}), 40, 0.9), row("b", setting(32), 32, 0.1)});
  EXPECT_EQ(E.HotKernels, 1u);
  EXPECT_DOUBLE_EQ(E.Found.Carved, 1000.9 / 800.9);
  EXPECT_DOUBLE_EQ(E.Found.Everything, 1000.9 / 800.1);
}

TEST(SweepEvaluation, defaultAlone_isNoGain) {
  ProgramEvaluation E = evaluated({row("a", setting({}), 40, 1000)});
  EXPECT_EQ(E.MaxTimed, 0u);
  for (double Speedup : {E.Found.PerFile, E.Found.CriticalPoints, E.Found.Carved,
                         E.Found.Everything, E.Found.Random})
    EXPECT_DOUBLE_EQ(Speedup, 1);
}

TEST(SweepEvaluation, tableWithoutDefault_fails) {
  auto E = evaluateSweep({row("a", setting(32), 32, 10)}, device(), {});
  ASSERT_FALSE(bool(E));
  EXPECT_EQ(llvm::toString(E.takeError()),
            "no program of the table has a time of the default: frontend_cap '-', ptxas_cap '-', "
            "register_usage_level 5, dlcm '-'");
}

TEST(SweepEvaluation, recordedTable_keepsBudgetAndBestRowsBound) {
  auto Text = readFile(CARVE_TEST_INPUTS "/sweeps/two-programs.tsv");
  ASSERT_TRUE(bool(Text));
  auto Rows = parseSweepTable(*Text, "two-programs.tsv");
  ASSERT_TRUE(bool(Rows)) << llvm::toString(Rows.takeError());
  for (unsigned Effort : {0u, 1u, 2u, 3u})
    for (double BudgetS : {0.5, 4.0, 20.0}) {
      auto E = evaluateSweep(*Rows, device(), {Effort, BudgetS});
      ASSERT_TRUE(bool(E));
      EXPECT_EQ(E->Curve.size(), 5u);
      EXPECT_EQ(E->Curve.back().Carved, E->Geomean.Carved);
      for (size_t I = 1; I < E->Curve.size(); ++I)
        EXPECT_GT(E->Curve[I].Part, E->Curve[I - 1].Part) << I;
      for (const ProgramEvaluation &P : E->Programs) {
        EXPECT_LT(P.Seconds, std::max(BudgetS, 4.0)) << "the first round has a second in any case";
        EXPECT_GE(P.Found.Carved, 1);
        for (double Speedup :
             {P.Found.PerFile, P.Found.CriticalPoints, P.Found.Carved, P.Found.Random})
          EXPECT_LE(Speedup, P.Found.Everything + 1e-12) << P.Name;
      }
      const auto &[First, Second] = std::tie(E->Programs[0], E->Programs[1]);
      EXPECT_NEAR(E->Geomean.Carved, std::sqrt(First.Found.Carved * Second.Found.Carved), 1e-12);
    }
}
