#include "Explain/KernelEvidence.h"

using namespace carve;

/// The counts of machine code rely on the PTX's trip counts, and on a guess at each branch that
/// ptxas added for the remainder of an unrolled loop. If the machine code has between these
/// multiples of the PTX's instructions, both describe the same loops with the same trips. Spills
/// and address arithmetic make the machine code longer, fused instructions make it shorter.
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
  // Only the machine code shows spills. Take as many per other instruction as it has.
  const KernelCounts &C = Code->Counts;
  double Scale = OfPtx / std::max(InCode - C.LocalAccesses, 1.0);
  double PtxLocal = Counts->LocalAccesses;
  Counts->LocalAccesses = Scale * C.LocalAccesses;
  Counts->LocalLoadBytes = Scale * C.LocalLoadBytes;
  Counts->LocalStoreBytes = Scale * C.LocalStoreBytes;
  Counts->Instructions += std::max(Counts->LocalAccesses - PtxLocal, 0.0);
}
