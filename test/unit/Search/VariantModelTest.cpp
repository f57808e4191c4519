#include "Search/VariantModel.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace carve;

namespace {

KnobSpace space() {
  KnobSpace S;
  S.Caps = {32, 40, 48, 64};
  S.DefaultRegs = 48;
  S.MaxRegs = 64;
  S.FrontEndCaps = true;
  return S;
}

VariantSetting capped(unsigned Cap, std::optional<unsigned> FrontEnd = std::nullopt) {
  VariantSetting V;
  V.Cap = Cap;
  V.FrontEndCap = FrontEnd;
  return V;
}

} // namespace

TEST(VariantModel, priorMean_comesFromRegistersAndBlocks) {
  VariantModel M(space());
  StaticMetrics Default, More;
  Default.BlocksPerSm = 4;
  More.BlocksPerSm = 8;
  ModelScale S;
  EXPECT_NEAR(M.point(capped(32), &More, &Default).Prior,
              S.FewerRegs * std::log2(48.0 / 32) - S.MoreBlocks, 1e-12);
  EXPECT_NEAR(M.point(capped(44), &Default, &Default).Prior,
              S.FewerRegs * std::log2(48.0 / 44) + S.OffPoint, 1e-12);
  EXPECT_DOUBLE_EQ(M.point({}, nullptr, nullptr).Prior, 0);
}

TEST(VariantModel, priorMeanWithCounts_comesFromCountsNotRegisters) {
  VariantModel M(space());
  StaticMetrics Default, Made;
  Default.Counts.emplace().Instructions = 1000;
  Made.Counts.emplace().Instructions = 1100;
  Default.BlocksPerSm = Made.BlocksPerSm = 4;
  EXPECT_NEAR(M.point(capped(32), &Made, &Default).Prior, 0.5 * std::log(1.1), 1e-12);
}

TEST(VariantModel, timedPoint_isKnownAndNeighboursResembleIt) {
  VariantModel M(space());
  auto at = [&](VariantSetting V) { return M.point(V, nullptr, nullptr); };
  M.learn({{at({}), 0}, {at(capped(40)), -0.2}});
  EXPECT_NEAR(M.predict(at(capped(40))).Mean, -0.2, 0.001);
  EXPECT_LT(M.predict(at(capped(40))).Deviation, 0.001);
  Prediction Near = M.predict(at(capped(38))), Far = M.predict(at(capped(64)));
  EXPECT_LT(Near.Mean, Far.Mean);
  EXPECT_LT(Near.Deviation, Far.Deviation);
  EXPECT_LT(M.predict(at(capped(40, 40))).Mean, M.predict(at(capped(64, 64))).Mean);
}

TEST(VariantModel, expectedGain_isThatOfTheNormalDistribution) {
  VariantModel M(space());
  ModelPoint P = M.point(capped(40), nullptr, nullptr);
  M.learn(Measured{M.point({}, nullptr, nullptr), 0});
  auto [Mean, Deviation] = M.predict(P);
  // E max(0, best - X), computed by the trapezoidal rule.
  double Sum = 0, Step = Deviation / 1000;
  for (double X = Mean - 8 * Deviation; X < 0; X += Step)
    Sum += -X * std::exp(-0.5 * std::pow((X - Mean) / Deviation, 2)) * Step /
           (Deviation * std::sqrt(2 * M_PI));
  EXPECT_NEAR(M.expectedGain(P), Sum, 1e-5);
  EXPECT_NEAR(M.expectedGain(M.point({}, nullptr, nullptr)), 0, 1e-5);
}

TEST(VariantModel, believedPoint_keepsMeanAndLosesUncertainty) {
  VariantModel M(space());
  M.learn(Measured{M.point({}, nullptr, nullptr), 0});
  ModelPoint P = M.point(capped(40), nullptr, nullptr), Q = M.point(capped(64), nullptr, nullptr);
  Prediction Before = M.predict(P), OtherBefore = M.predict(Q);
  M.believe(P);
  EXPECT_NEAR(M.predict(P).Mean, Before.Mean, 1e-9);
  EXPECT_NEAR(M.predict(Q).Mean, OtherBefore.Mean, 1e-9);
  EXPECT_LT(M.predict(P).Deviation, 1e-6);
  EXPECT_LT(M.predict(Q).Deviation, OtherBefore.Deviation);
}

TEST(VariantModel, scaleOfCaps_growsWithTheTimes) {
  VariantModel Calm(space()), Wild(space());
  auto at = [&](VariantSetting V) { return Calm.point(V, nullptr, nullptr); };
  Calm.learn({{at({}), 0}, {at(capped(40)), -0.01}});
  Wild.learn({{at({}), 0}, {at(capped(40)), -0.6}});
  EXPECT_GT(Wild.predict(at(capped(64))).Deviation, 2 * Calm.predict(at(capped(64))).Deviation);
  // A large gain therefore carries over to the front-end caps at the same register cap.
  EXPECT_LT(Wild.predict(at(capped(40, 40))).Mean, -0.55);
}

TEST(VariantModel, frontEndKind_comesFromTheCaps) {
  EXPECT_EQ(frontEndKind({}), FrontEndKind::AsCompiled);
  EXPECT_EQ(frontEndKind(capped(40)), FrontEndKind::AsCompiled);
  EXPECT_EQ(frontEndKind(capped(40, 40)), FrontEndKind::AsCap);
  EXPECT_EQ(frontEndKind(capped(40, 255)), FrontEndKind::Free);
  EXPECT_EQ(frontEndKind(capped(40, 48)), FrontEndKind::Other);
}

TEST(VariantModel, frontEndKnobs_beforeAnythingIsTimed_promiseLessThanCaps) {
  VariantModel M(space());
  auto at = [&](VariantSetting V) { return M.point(V, nullptr, nullptr); };
  M.learn(Measured{at({}), 0});
  for (FrontEndKnob Knob : frontEndKnobs()) {
    VariantSetting V;
    V.FrontEnd = Knob;
    if (isForKnownLaunches(Knob)) {
      for (unsigned Cap : space().Caps)
        EXPECT_GT(M.expectedGain(at(V)), M.expectedGain(at(capped(Cap))))
            << "some kernels gain half of their time";
      continue;
    }
    EXPECT_GT(M.expectedGain(at(V)), 0.01) << nameOf(Knob).str();
    EXPECT_LT(M.expectedGain(at(V)), 0.02) << nameOf(Knob).str();
    for (unsigned Cap : space().Caps)
      EXPECT_LT(M.expectedGain(at(V)), M.expectedGain(at(capped(Cap))))
          << nameOf(Knob).str() << " " << Cap;
    // A knob that gains at no cap promises to gain at a cap, too.
    VariantSetting Beside = capped(64);
    Beside.FrontEnd = Knob;
    VariantModel Knows = M;
    Knows.learn({{at(V), -0.1}, {at(capped(64)), 0}});
    EXPECT_LT(Knows.predict(at(Beside)).Mean, M.predict(at(Beside)).Mean - 0.02);
  }
}

TEST(VariantModel, loadHints_beforeAnythingIsTimed_promiseLessThanCaps) {
  VariantModel M(space());
  auto at = [&](VariantSetting V) { return M.point(V, nullptr, nullptr); };
  M.learn(Measured{at({}), 0});
  VariantSetting First, NoLine, L2;
  First.Loads = LoadCaching::EvictFirst;
  NoLine.Loads = LoadCaching::NoAllocate;
  L2.Loads = LoadCaching::L2Only;
  for (unsigned Cap : space().Caps)
    EXPECT_LT(M.expectedGain(at(First)), M.expectedGain(at(capped(Cap)))) << Cap;
  // A hint gains more than 1 % only in some kernels, so its mean is a loss and its spread large.
  EXPECT_GT(M.expectedGain(at(First)), 0.01);
  EXPECT_GT(M.predict(at(First)).Mean, 0);
  EXPECT_GT(M.predict(at(First)).Deviation, 1.5 * M.predict(at(L2)).Deviation);
  M.learn(Measured{at(First), 0.2});
  EXPECT_GT(M.predict(at(NoLine)).Mean, 0.1) << "one hint tells about the other";
  EXPECT_LT(M.predict(at(L2)).Mean, 0.05);
}
