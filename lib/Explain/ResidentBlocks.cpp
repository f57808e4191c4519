#include "Explain/ResidentBlocks.h"

using namespace carve;

/// Takes \p Member of \p B down to zero and says whether more blocks are resident then.
static bool bounds(const DeviceModel &D, BlockFootprint B, unsigned BlockFootprint::*Member) {
  unsigned Now = blocksPerSm(D, B);
  B.*Member = 0;
  return blocksPerSm(D, B) > Now;
}

/// The largest value of \p Member below its present one with which more than \p Blocks are
/// resident, in steps of \p Step.
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
  // One resource alone may not do where two are at their end: then each is taken away with the
  // others gone.
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
  // Shared memory is given out in units of 128 bytes.
  R.SmemForNext = largestFor(D, All, &BlockFootprint::DynamicSmemBytes, R.Blocks, 128);
  return R;
}
