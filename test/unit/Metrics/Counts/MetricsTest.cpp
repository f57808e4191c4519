#include "Metrics/Counts/Metrics.h"

#include "Device/DeviceModel.h"

#include <gtest/gtest.h>

using namespace carve;

// The worked example of Ryoo et al.: matrix multiplication of 4096 x 4096 with a thread for each
// element.
TEST(Metrics, metrics_workedExample_equalThePaper) {
  double Threads = 4096.0 * 4096.0;
  EXPECT_NEAR(efficiency(15150, Threads), 3.93e-12, 0.005e-12);
  EXPECT_NEAR(utilization(15150, 769, 8, 2), 227, 0.5);
}

TEST(Metrics, staticMetrics_ofAVariant_includeOccupancyAndUtilization) {
  DeviceModel D =
      llvm::cantFail(loadDeviceModel(CARVE_SOURCE_DIR "/share/carve-nvcc/devices", "sm_90"));
  KernelResources R;
  R.RegsPerThread = 128;
  R.StaticSmemBytes = 1024;
  R.SpillStoreBytes = 8;
  R.SpillLoadBytes = 16;
  LaunchShape Shape;
  Shape.Grid = {10, 2, 1};
  Shape.Block = {100, 1, 1};
  StaticMetrics M = staticMetrics(D, R, Shape, std::nullopt);
  // The SM has 65536 registers, and each of the block's 4 warps takes 4096 of them.
  EXPECT_EQ(M.BlocksPerSm, 4u);
  EXPECT_EQ(M.WarpsPerBlock, 4u);
  EXPECT_DOUBLE_EQ(M.Occupancy, 0.25);
  EXPECT_EQ(M.SpillBytes, 24u);
  EXPECT_FALSE(M.Efficiency || M.Utilization || M.Counts);

  KernelCounts C;
  C.Instructions = 50;
  C.Regions = 5;
  M = staticMetrics(D, R, Shape, C);
  EXPECT_DOUBLE_EQ(M.Efficiency.value(), 1 / (50.0 * 2000));
  EXPECT_DOUBLE_EQ(M.Utilization.value(), 10 * (1.5 + 12));

  R.StaticSmemBytes = D.SmemPerBlockOptinBytes + 1;
  M = staticMetrics(D, R, Shape, C);
  EXPECT_EQ(M.BlocksPerSm, 0u);
  EXPECT_TRUE(M.Efficiency.has_value());
  EXPECT_FALSE(M.Utilization.has_value()) << "it cannot be launched";
}
