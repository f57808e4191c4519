#include "Device/CriticalPoints.h"

#include <algorithm>

using namespace carve;

std::vector<CriticalPoint> carve::criticalPoints(const DeviceModel &D, const RegisterRegion &R,
                                                 const LaunchShape &Shape) {
  BlockFootprint B;
  B.ThreadsPerBlock = Shape.threadsPerBlock();
  B.StaticSmemBytes = R.Default.StaticSmemBytes;
  B.DynamicSmemBytes = Shape.DynamicSmemBytes;
  B.Barriers = R.Default.Barriers;
  unsigned WarpsPerBlock = (B.ThreadsPerBlock + D.WarpSize - 1) / D.WarpSize;
  unsigned WarpsPerSm = D.MaxThreadsPerSm / D.WarpSize;

  // Blocks per SM never increase with the registers, so going down, the first count of a level is
  // its largest. ptxas may use a register more at the smallest cap than without one, so the two
  // ends are put in order.
  unsigned Low = std::min(R.rMin(), R.rMax()), High = std::max(R.rMin(), R.rMax());
  std::vector<CriticalPoint> Points;
  unsigned Level = 0;
  for (unsigned Regs = High; Regs >= Low && Regs > 0; --Regs) {
    B.RegsPerThread = Regs;
    unsigned Blocks = blocksPerSm(D, B);
    if (Blocks == Level)
      continue;
    Level = Blocks;
    unsigned Warps = Blocks * WarpsPerBlock;
    Points.push_back({Regs, Blocks, Warps, double(Warps) / WarpsPerSm});
  }
  std::reverse(Points.begin(), Points.end());
  return Points;
}

unsigned carve::launchableRegisterLimit(const DeviceModel &D, const RegisterRegion &R,
                                        const EntryDirectives &Directives, LaunchDomain Domain,
                                        unsigned LargestTracedBlock) {
  unsigned Default = R.Default.RegsPerThread;
  unsigned Protected = LargestTracedBlock;
  if (Domain == LaunchDomain::Preserve)
    Protected = std::min(Directives.maxThreadsPerBlock(), maxThreadsForRegisters(D, Default));

  // Only registers matter here, because shared memory and barriers are the same for every cap.
  constexpr unsigned MostRegs = 255;
  for (unsigned Regs = MostRegs; Regs > Default; --Regs) {
    BlockFootprint B;
    B.RegsPerThread = Regs;
    B.ThreadsPerBlock = Protected;
    if (blocksPerSm(D, B) > 0)
      return Regs;
  }
  return Default;
}
