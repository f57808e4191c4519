#include "Metrics/Counts/Metrics.h"

#include "Device/Occupancy.h"

using namespace carve;

void PipeCounts::add(const PipeCounts &Other, double Times) {
  Fp32 += Times * Other.Fp32;
  IntegerMultiply += Times * Other.IntegerMultiply;
  Integer += Times * Other.Integer;
  Fp64 += Times * Other.Fp64;
  Special += Times * Other.Special;
  Tensor += Times * Other.Tensor;
}

double carve::efficiency(double Instructions, double Threads) {
  return 1 / (Instructions * Threads);
}

double carve::utilization(double Instructions, double Regions, unsigned WarpsPerBlock,
                          unsigned BlocksPerSm) {
  // About half of the other warps of a warp's own block have yet to reach the same barrier. The
  // warps of other blocks are free to run.
  double Others = (WarpsPerBlock - 1.0) / 2 + (BlocksPerSm - 1.0) * WarpsPerBlock;
  return Instructions / Regions * Others;
}

StaticMetrics carve::staticMetrics(const DeviceModel &D, const KernelResources &Resources,
                                   const LaunchShape &Shape, std::optional<KernelCounts> Counts) {
  StaticMetrics M;
  M.RegsPerThread = Resources.RegsPerThread;
  M.StaticSmemBytes = Resources.StaticSmemBytes;
  M.SpillBytes = Resources.spillBytes();
  BlockFootprint B;
  B.RegsPerThread = Resources.RegsPerThread;
  B.ThreadsPerBlock = Shape.threadsPerBlock();
  B.StaticSmemBytes = Resources.StaticSmemBytes;
  B.DynamicSmemBytes = Shape.DynamicSmemBytes;
  B.Barriers = Resources.Barriers;
  M.BlocksPerSm = blocksPerSm(D, B);
  M.WarpsPerBlock = (B.ThreadsPerBlock + D.WarpSize - 1) / D.WarpSize;
  M.Occupancy = double(M.BlocksPerSm) * M.WarpsPerBlock * D.WarpSize / D.MaxThreadsPerSm;
  M.Counts = Counts;
  if (!M.Counts || M.Counts->Instructions <= 0 || M.Counts->Regions <= 0)
    return M;
  double Blocks = double(Shape.Grid[0]) * Shape.Grid[1] * Shape.Grid[2];
  M.Efficiency = efficiency(M.Counts->Instructions, Blocks * B.ThreadsPerBlock);
  // A block that cannot be launched has no utilization.
  if (M.BlocksPerSm)
    M.Utilization =
        utilization(M.Counts->Instructions, M.Counts->Regions, M.WarpsPerBlock, M.BlocksPerSm);
  return M;
}
