#include "Device/CriticalPoints.h"

#include "unit/Device/HeaderOccupancy.h"

#include <gtest/gtest.h>

#include <map>

using namespace carve;
using namespace carve::test;

namespace {

DeviceModel modelOf(int Sm) {
  auto Model =
      loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_" + std::to_string(Sm));
  EXPECT_TRUE(bool(Model));
  return Model ? *Model : DeviceModel();
}

RegisterRegion regionOf(unsigned Min, unsigned Max, unsigned StaticSmem = 0,
                        unsigned Barriers = 0) {
  RegisterRegion R;
  R.Default.RegsPerThread = Max;
  R.Default.StaticSmemBytes = StaticSmem;
  R.Default.Barriers = Barriers;
  R.AtMin.RegsPerThread = Min;
  R.AtMax.RegsPerThread = Max;
  return R;
}

LaunchShape shapeOf(unsigned Threads, unsigned DynamicSmem = 0) {
  LaunchShape S;
  S.Block = {Threads, 1, 1};
  S.DynamicSmemBytes = DynamicSmem;
  return S;
}

/// From registers to blocks.
std::map<unsigned, unsigned> levels(const std::vector<CriticalPoint> &Points) {
  std::map<unsigned, unsigned> Map;
  for (const CriticalPoint &P : Points)
    Map[P.Regs] = P.BlocksPerSm;
  return Map;
}

/// The definition in the other direction: the largest register count of every level.
std::map<unsigned, unsigned> bruteForce(const ArchLimits &L, unsigned Min, unsigned Max,
                                        unsigned Threads, unsigned Static, unsigned Dynamic,
                                        unsigned Barriers) {
  std::map<unsigned, unsigned> LargestOfLevel;
  for (unsigned Regs = Min; Regs <= Max; ++Regs)
    LargestOfLevel[headerBlocks(L, Regs, Threads, Static, Dynamic, Barriers)] = Regs;
  LargestOfLevel.erase(0);
  std::map<unsigned, unsigned> Map;
  for (auto [Blocks, Regs] : LargestOfLevel)
    Map[Regs] = Blocks;
  return Map;
}

using Levels = std::map<unsigned, unsigned>;

TEST(CriticalPoints, points_at256Threads_areTheWorkedValues) {
  EXPECT_EQ(levels(criticalPoints(modelOf(75), regionOf(24, 128), shapeOf(256))),
            (Levels{{64, 4}, {80, 3}, {128, 2}}));
  Levels Ampere = {{32, 8}, {40, 6}, {48, 5}, {64, 4}, {80, 3}, {128, 2}, {255, 1}};
  EXPECT_EQ(levels(criticalPoints(modelOf(80), regionOf(24, 255), shapeOf(256))), Ampere);
  EXPECT_EQ(levels(criticalPoints(modelOf(90), regionOf(24, 255), shapeOf(256))), Ampere);
}

TEST(CriticalPoints, points_levelOfTheLargestCount_endsAtTheRegion) {
  EXPECT_EQ(levels(criticalPoints(modelOf(90), regionOf(30, 71), shapeOf(256))),
            (Levels{{32, 8}, {40, 6}, {48, 5}, {64, 4}, {71, 3}}));
  EXPECT_EQ(levels(criticalPoints(modelOf(90), regionOf(10, 10), shapeOf(256))), (Levels{{10, 8}}));
}

TEST(CriticalPoints, points_anyArchitecture_equalBruteForceWithTheHeader) {
  const std::pair<unsigned, unsigned> Regions[] = {{24, 255}, {24, 33}, {40, 40},
                                                   {57, 129}, {8, 20},  {200, 255}};
  for (const ArchLimits &L : archLimits()) {
    DeviceModel D = modelOf(L.Sm);
    for (unsigned Threads : {1u, 32u, 48u, 96u, 128u, 192u, 256u, 320u, 512u, 1000u, 1024u})
      for (auto [Static, Dynamic] : {std::pair(0u, 0u), std::pair(4096u, 0u), std::pair(49152u, 0u),
                                     std::pair(1000u, 30000u), std::pair(0u, 65536u),
                                     std::pair(0u, D.SmemPerBlockOptinBytes)})
        for (unsigned Barriers : {1u, 16u})
          for (auto [Min, Max] : Regions)
            ASSERT_EQ(levels(criticalPoints(D, regionOf(Min, Max, Static, Barriers),
                                            shapeOf(Threads, Dynamic))),
                      bruteForce(L, Min, Max, Threads, Static, Dynamic, Barriers))
                << "sm_" << L.Sm << " threads " << Threads << " smem " << Static << "+" << Dynamic
                << " region " << Min << ".." << Max;
  }
}

TEST(CriticalPoints, points_ascendInRegisters_withWarpsAndOccupancy) {
  auto Points = criticalPoints(modelOf(86), regionOf(24, 255), shapeOf(100));
  ASSERT_GT(Points.size(), 2u);
  for (size_t I = 0; I < Points.size(); ++I) {
    if (I > 0) {
      EXPECT_LT(Points[I - 1].Regs, Points[I].Regs);
      EXPECT_GT(Points[I - 1].BlocksPerSm, Points[I].BlocksPerSm);
    }
    // A block of 100 threads takes four of the 48 warps that the SM holds.
    EXPECT_EQ(Points[I].WarpsPerSm, Points[I].BlocksPerSm * 4);
    EXPECT_DOUBLE_EQ(Points[I].Occupancy, Points[I].WarpsPerSm / 48.0);
  }
  EXPECT_LE(Points.front().Occupancy, 1.0);
}

TEST(CriticalPoints, points_countsThatCannotBeLaunched_areLeftOut) {
  EXPECT_TRUE(criticalPoints(modelOf(90), regionOf(65, 255), shapeOf(1024)).empty());
  EXPECT_EQ(levels(criticalPoints(modelOf(90), regionOf(24, 255), shapeOf(1024))),
            (Levels{{32, 2}, {64, 1}}));
  EXPECT_TRUE(criticalPoints(modelOf(90), regionOf(24, 255), shapeOf(32, 300000)).empty());
}

// This comes from a heuristic: with a cap of 24, ptxas may use a register more than without one.
TEST(CriticalPoints, points_regionWithItsEndsExchanged_areTheSame) {
  RegisterRegion R = regionOf(34, 32);
  EXPECT_EQ(levels(criticalPoints(modelOf(90), R, shapeOf(256))), (Levels{{32, 8}, {34, 6}}));
}

unsigned limit(unsigned DefaultRegs, const EntryDirectives &Directives,
               LaunchDomain Domain = LaunchDomain::Preserve, unsigned Traced = 0) {
  RegisterRegion R = regionOf(24, 255);
  R.Default.RegsPerThread = DefaultRegs;
  return launchableRegisterLimit(modelOf(90), R, Directives, Domain, Traced);
}

TEST(LaunchableRegisterLimit, preserve_keepsTheDefaultsLargestBlock) {
  EXPECT_EQ(limit(32, {}), 64u);
  EXPECT_EQ(limit(64, {}), 64u);
  // 65 registers are allocated as 72, and 896 threads fit with these.
  EXPECT_EQ(limit(65, {}), 72u);
  EXPECT_EQ(limit(128, {}), 128u);
  EXPECT_EQ(limit(255, {}), 255u);
}

TEST(LaunchableRegisterLimit, preserve_directives_limitTheBlock) {
  EntryDirectives D;
  D.MaxNTid = {256, 1, 1};
  EXPECT_EQ(limit(32, D), 255u);
  D.MaxNTid = {16, 32, 1};
  EXPECT_EQ(limit(32, D), 128u);
  // A block of 100 threads takes four warps.
  D.MaxNTid = {100, 1, 1};
  EXPECT_EQ(limit(32, D), 255u);
  D.MaxNTid = {1024, 1, 1};
  EXPECT_EQ(limit(32, D), 64u);
  EntryDirectives Required;
  Required.ReqNTid = {8, 8, 6};
  EXPECT_EQ(limit(32, Required), 168u);
}

TEST(LaunchableRegisterLimit, traced_keepsTheLargestBlockSeenAndTheDefault) {
  EXPECT_EQ(limit(32, {}, LaunchDomain::Traced, 256), 255u);
  EXPECT_EQ(limit(32, {}, LaunchDomain::Traced, 512), 128u);
  EXPECT_EQ(limit(90, {}, LaunchDomain::Traced, 1024), 90u);
  // If no block was seen, nothing is known about blocks.
  EXPECT_EQ(limit(40, {}, LaunchDomain::Traced, 0), 40u);
}

TEST(LaunchableRegisterLimit, limit_isTheLargestThatKeepsTheBlock) {
  for (const ArchLimits &L : archLimits()) {
    auto LargestBlock = [&](unsigned Regs) {
      unsigned Largest = 0;
      for (unsigned Threads = 32; Threads <= 1024; Threads += 32)
        if (headerBlocks(L, Regs, Threads) > 0)
          Largest = Threads;
      return Largest;
    };
    for (unsigned Default = 8; Default <= 255; ++Default) {
      RegisterRegion R = regionOf(24, 255);
      R.Default.RegsPerThread = Default;
      unsigned Limit = launchableRegisterLimit(modelOf(L.Sm), R, {}, LaunchDomain::Preserve, 0);
      ASSERT_GE(Limit, Default);
      ASSERT_EQ(LargestBlock(Limit), LargestBlock(Default)) << "sm_" << L.Sm << " " << Default;
      ASSERT_TRUE(Limit == 255 || LargestBlock(Limit + 1) < LargestBlock(Default))
          << "sm_" << L.Sm << " " << Default;
    }
  }
}

} // namespace
