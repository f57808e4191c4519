#include "Device/Occupancy.h"

#include "unit/Device/HeaderOccupancy.h"

#include <gtest/gtest.h>

using namespace carve;
using namespace carve::test;

namespace {

DeviceModel modelOf(int Sm) {
  auto Model =
      loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_" + std::to_string(Sm));
  EXPECT_TRUE(bool(Model));
  return Model ? *Model : DeviceModel();
}

TEST(Occupancy, blocksPerSm_allArchitectures_equalTheHeader) {
  for (const ArchLimits &L : archLimits()) {
    DeviceModel D = modelOf(L.Sm);
    const unsigned Most = D.SmemPerBlockOptinBytes;
    for (unsigned Threads : {1u, 31u, 32u, 33u, 64u, 96u, 128u, 160u, 224u, 256u, 384u, 512u, 640u,
                             768u, 896u, 1023u, 1024u})
      for (unsigned Regs = 0; Regs <= 257; ++Regs)
        for (unsigned Smem : {0u, 1u, 1023u, 8192u, 20000u, 47u * 1024, 48u * 1024, 48u * 1024 + 1,
                              Most / 2, Most - 1, Most})
          for (unsigned Barriers : {0u, 1u, 2u, 16u}) {
            unsigned Static = std::min(Smem, 16384u);
            unsigned Dynamic = Smem - Static;
            ASSERT_EQ(blocksPerSm(D, {Regs, Threads, Static, Dynamic, Barriers}),
                      headerBlocks(L, Regs, Threads, Static, Dynamic, Barriers))
                << "sm_" << L.Sm << " threads " << Threads << " regs " << Regs << " static "
                << Static << " dynamic " << Dynamic << " barriers " << Barriers;
          }
  }
}

TEST(Occupancy, blocksPerSm_sixteenBarriers_areFour) {
  EXPECT_EQ(blocksPerSm(modelOf(90), {16, 32, 0, 0, 1}), 32u);
  EXPECT_EQ(blocksPerSm(modelOf(90), {16, 32, 0, 0, 16}), 4u);
}

TEST(Occupancy, blocksPerSm_blockThatCannotBeLaunched_isZero) {
  DeviceModel D = modelOf(90);
  EXPECT_EQ(blocksPerSm(D, {32, 0, 0, 0, 0}), 0u);
  EXPECT_EQ(blocksPerSm(D, {32, 1025, 0, 0, 0}), 0u);
  EXPECT_EQ(blocksPerSm(D, {257, 32, 0, 0, 0}), 0u);
  EXPECT_EQ(blocksPerSm(D, {65, 1024, 0, 0, 0}), 0u);
  EXPECT_EQ(blocksPerSm(D, {32, 32, 0, 232448, 0}), 1u);
  EXPECT_EQ(blocksPerSm(D, {32, 32, 0, 232449, 0}), 0u);
  EXPECT_EQ(blocksPerSm(D, {32, 32, 1024, 232448, 0}), 0u);
  // The int arithmetic of the header would take these for small or negative sizes.
  EXPECT_EQ(blocksPerSm(D, {32, 32, 1, UINT_MAX, 0}), 0u);
  EXPECT_EQ(blocksPerSm(D, {UINT_MAX, 32, 0, 0, 0}), 0u);
}

TEST(Occupancy, maxThreadsForRegisters_isTheHeadersLargestLaunchableBlock) {
  for (const ArchLimits &L : archLimits()) {
    DeviceModel D = modelOf(L.Sm);
    for (unsigned Regs = 0; Regs <= 257; ++Regs) {
      unsigned Expected = 0;
      for (unsigned Threads = 32; Threads <= 1024; Threads += 32)
        if (headerBlocks(L, Regs, Threads) > 0)
          Expected = Threads;
      ASSERT_EQ(maxThreadsForRegisters(D, Regs), Expected) << "sm_" << L.Sm << " regs " << Regs;
    }
  }
}

TEST(Occupancy, maxThreadsForRegisters_workedValues) {
  DeviceModel D = modelOf(80);
  EXPECT_EQ(maxThreadsForRegisters(D, 64), 1024u);
  EXPECT_EQ(maxThreadsForRegisters(D, 65), 896u);
  EXPECT_EQ(maxThreadsForRegisters(D, 128), 512u);
  EXPECT_EQ(maxThreadsForRegisters(D, 255), 256u);
  EXPECT_EQ(maxThreadsForRegisters(D, 257), 0u);
}

} // namespace
