#include "Explain/ResidentBlocks.h"

using namespace carve;

/// Sets \p Member of \p B to zero. Returns true if more blocks are then resident.
static bool bounds(const DeviceModel &D, BlockFootprint B, unsigned BlockFootprint::*Member) {
  unsigned Now = blocksPerSm(D, B);
  B.*Member = 0;
  return blocksPerSm(D, B) > Now;
}

/// Returns the largest value of \p Member, in steps of \p Step and at most its present value, with
/// which more than \p Blocks blocks are resident.
static std::optional<unsigned> largestFor(const DeviceModel &D, BlockFootprint B,
                                          unsigned BlockFootprint::*Member, unsigned Blocks,
                                          unsigned Step) {
  for (unsigned Value = B.*Member / Step * Step; Value >= Step; Value -= Step) {
    B.*Member = Value;
    if (blocksPerSm(D, B) > Blocks)
      return Value;
  }
  return std::nullopt;
}

ResidentBlocks carve::residentBlocks(const DeviceModel &D, const BlockFootprint &B) {
  ResidentBlocks R;
  R.Blocks = blocksPerSm(D, B);
  unsigned WarpsPerBlock = (B.ThreadsPerBlock + D.WarpSize - 1) / D.WarpSize;
  unsigned Warps = D.MaxThreadsPerSm / D.WarpSize;
  R.Occupancy = double(R.Blocks) * WarpsPerBlock / Warps;
  if ((R.Blocks + 1) * WarpsPerBlock > Warps)
    R.BoundBy.push_back("threads");
  if (R.Blocks >= D.MaxBlocksPerSm)
    R.BoundBy.push_back("blocks");
  // If two resources are exhausted at once, taking one of them away changes nothing. So each is
  // tested with the other resources taken away.
  BlockFootprint Rest = B;
  Rest.StaticSmemBytes = Rest.DynamicSmemBytes = Rest.Barriers = 0;
  if (bounds(D, Rest, &BlockFootprint::RegsPerThread) && blocksPerSm(D, Rest) == R.Blocks)
    R.BoundBy.push_back("registers");
  BlockFootprint Smem = B;
  Smem.RegsPerThread = 0;
  Smem.DynamicSmemBytes += Smem.StaticSmemBytes;
  Smem.StaticSmemBytes = Smem.Barriers = 0;
  if (bounds(D, Smem, &BlockFootprint::DynamicSmemBytes) && blocksPerSm(D, Smem) == R.Blocks)
    R.BoundBy.push_back("shared memory");
  if (bounds(D, B, &BlockFootprint::Barriers))
    R.BoundBy.push_back("barriers");
  R.RegsForNext = largestFor(D, B, &BlockFootprint::RegsPerThread, R.Blocks, 1);
  BlockFootprint All = B;
  All.DynamicSmemBytes += All.StaticSmemBytes;
  All.StaticSmemBytes = 0;
  // Shared memory is allotted in units of 128 bytes.
  R.SmemForNext = largestFor(D, All, &BlockFootprint::DynamicSmemBytes, R.Blocks, 128);
  return R;
}
