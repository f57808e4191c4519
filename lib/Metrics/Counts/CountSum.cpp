#include "Metrics/Counts/CountSum.h"

#include "llvm/ADT/STLExtras.h"

using namespace carve;

bool carve::isAssumed(TripSource S) {
  return S == TripSource::Assumed || S == TripSource::Unrolled || S == TripSource::Remainder;
}

void CountSum::addLocalBytes(double Bytes, unsigned Depth) {
  if (LocalBytesByDepth.size() <= Depth)
    LocalBytesByDepth.resize(Depth + 1);
  LocalBytesByDepth[Depth] += Bytes;
}

void CountSum::addAccess(const MemoryAccess &A, double Times, unsigned Depth) {
  double Bytes = A.Bytes * Times;
  switch (A.Space) {
  case AccessSpace::None:
    return;
  case AccessSpace::Shared:
    Counts.SharedAccesses += Times;
    return;
  case AccessSpace::Global:
    (A.Stores ? Counts.GlobalStores : Counts.GlobalLoads) += Times;
    (A.Stores ? Counts.GlobalStoreBytes : Counts.GlobalLoadBytes) += Bytes;
    return;
  case AccessSpace::Local:
    (A.Stores ? Counts.LocalStoreBytes : Counts.LocalLoadBytes) += Bytes;
    Counts.LocalAccesses += Times;
    Counts.DeepestLocalAccess = std::max(Counts.DeepestLocalAccess, Depth);
    addLocalBytes(Bytes, Depth);
    return;
  }
}

void CountSum::addStride(bool IsCoalesced, double Times) {
  StrideSeen += Times;
  Coalesced += IsCoalesced ? Times : 0;
}

void CountSum::add(const CountSum &Callee, double Times, unsigned Depth) {
  const KernelCounts &C = Callee.Counts;
  Counts.Instructions += Times * C.Instructions;
  Counts.Regions += Times * C.Regions;
  Counts.GlobalLoads += Times * C.GlobalLoads;
  Counts.GlobalStores += Times * C.GlobalStores;
  Counts.GlobalLoadBytes += Times * C.GlobalLoadBytes;
  Counts.GlobalStoreBytes += Times * C.GlobalStoreBytes;
  Counts.SharedAccesses += Times * C.SharedAccesses;
  Counts.LocalLoadBytes += Times * C.LocalLoadBytes;
  Counts.LocalStoreBytes += Times * C.LocalStoreBytes;
  Counts.LocalAccesses += Times * C.LocalAccesses;
  Counts.SharedRounds += Times * C.SharedRounds;
  Counts.LeastMovedBytes += Times * C.LeastMovedBytes;
  Counts.MostMovedBytes += Times * C.MostMovedBytes;
  Counts.Pipes.add(C.Pipes, Times);
  StrideSeen += Times * Callee.StrideSeen;
  Coalesced += Times * Callee.Coalesced;
  for (auto [Inner, Bytes] : llvm::enumerate(Callee.LocalBytesByDepth))
    if (Bytes > 0) {
      addLocalBytes(Times * Bytes, Depth + Inner);
      Counts.DeepestLocalAccess =
          std::max(Counts.DeepestLocalAccess, Depth + static_cast<unsigned>(Inner));
    }
}

CountedKernel CountSum::finish(std::vector<LoopCount> Loops) const {
  CountedKernel K;
  K.Counts = Counts;
  // There is one more region than there are waits between them.
  K.Counts.Regions += 1;
  if (StrideSeen > 0) {
    K.Counts.CoalescedShare = Coalesced / StrideSeen;
    K.StrideSeenShare = StrideSeen / (Counts.GlobalLoads + Counts.GlobalStores);
  }
  K.Counts.AssumedTrips =
      llvm::count_if(Loops, [](const LoopCount &L) { return isAssumed(L.Source); });
  K.Loops = std::move(Loops);
  K.LocalBytesByDepth = LocalBytesByDepth;
  return K;
}

KernelCounts carve::combinedCounts(const CountedKernel &Code, const CountedKernel &Ptx) {
  KernelCounts C = Code.Counts;
  const KernelCounts &P = Ptx.Counts;
  C.CoalescedShare = P.CoalescedShare;
  // The machine code may access memory more or less often than the PTX, because of unrolling and
  // joined accesses.
  auto Scaled = [](double Value, double Of, double By) { return Of > 0 ? Value * By / Of : 0; };
  C.SharedRounds = Scaled(P.SharedRounds, P.SharedAccesses, C.SharedAccesses);
  double PtxBytes = P.globalBytes();
  double CodeBytes = C.globalBytes();
  C.LeastMovedBytes = Scaled(P.LeastMovedBytes, PtxBytes, CodeBytes);
  C.MostMovedBytes = Scaled(P.MostMovedBytes, PtxBytes, CodeBytes);
  return C;
}
