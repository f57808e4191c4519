#include "Explain/KernelEvidence.h"

using namespace carve;

/// Machine code's counts rest on the PTX's trips, and on a guess at every branch that ptxas made
/// for what its unrolling leaves. Between these multiples of the PTX's instructions they are of the
/// same loops, run as often; spills and address arithmetic make them more, fused instructions
/// fewer.
static constexpr double LeastOfPtx = 0.75, MostOfPtx = 1.6;

void KernelEvidence::takeCounts(const CountedKernel &Ptx, const std::optional<CountedKernel> &Code,
                                bool Counted) {
  double OfPtx = Ptx.Counts.Instructions, InCode = Code ? Code->Counts.Instructions : 0;
  OfCode = Code && InCode >= LeastOfPtx * OfPtx && InCode <= MostOfPtx * OfPtx &&
           (!Counted || Code->Counts.AssumedTrips == 0);
  Counts = OfCode ? combinedCounts(*Code, Ptx) : Ptx.Counts;
  TripsKnown = Counted || Counts->AssumedTrips == 0;
  if (OfCode || InCode <= 0)
    return;
  // Spills are in the machine code alone: as many for each other instruction as there.
  const KernelCounts &C = Code->Counts;
  double Scale = OfPtx / std::max(InCode - C.LocalAccesses, 1.0);
  double PtxLocal = Counts->LocalAccesses;
  Counts->LocalAccesses = Scale * C.LocalAccesses;
  Counts->LocalLoadBytes = Scale * C.LocalLoadBytes;
  Counts->LocalStoreBytes = Scale * C.LocalStoreBytes;
  Counts->Instructions += std::max(Counts->LocalAccesses - PtxLocal, 0.0);
}
