#include "Explain/Limiters.h"

#include "Explain/ResidentBlocks.h"
#include "Metrics/Counts/WarpAccess.h"
#include "Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace carve;

namespace {

/// The L1 cache, which includes shared memory, delivers this many bytes per cycle.
constexpr double RoundBytes = 128;
/// A modified kernel is as long as the whole one from this share of its time on.
constexpr double AsLongShare = 0.8;
/// Local memory dominates from these shares of a kernel's memory traffic and of its instructions
/// on.
constexpr double LocalTrafficShare = 0.5, LocalInstructionShare = 0.1;
/// If DRAM moves more than this multiple of the kernel's global accesses, some of the traffic is
/// from spills.
constexpr double SpilledToDram = 1.5;

void sortShares(std::vector<ResourceShare> &Shares) {
  llvm::stable_sort(
      Shares, [](const ResourceShare &A, const ResourceShare &B) { return A.Share > B.Share; });
}

/// True if local memory makes up most of the memory traffic.
bool localDominates(const KernelEvidence &E) {
  if (E.Counts && E.Counts->Instructions > 0) {
    double Local = E.Counts->localBytes();
    return Local > 0 && Local >= LocalTrafficShare * (Local + E.Counts->globalBytesMoved()) &&
           E.Counts->LocalAccesses >= LocalInstructionShare * E.Counts->Instructions;
  }
  return E.Counters && E.Counters->LocalInstructions && E.Counters->Instructions &&
         *E.Counters->LocalInstructions >= LocalInstructionShare * *E.Counters->Instructions;
}

/// True if spills stay in the caches while DRAM is busy with the kernel's own data.
bool spillsStayInCaches(const KernelEvidence &E, const KernelLimit &L) {
  if (L.Resource != DramResource || !E.Counts)
    return false;
  if (!E.Counters || !E.Counters->DramBytes)
    return true; // Without counters, DRAM's share was derived from global traffic only.
  double Global = E.Counts->globalBytesMoved() * WarpLanes * E.warps();
  return Global > 0 && *E.Counters->DramBytes < SpilledToDram * Global;
}

/// True for a kernel that is too short for the gaps between launches, in a program that leaves the
/// GPU idle.
bool isLaunchBound(const KernelEvidence &E, const ProgramFacts &P) {
  auto Busy = P.busyShare();
  return E.MeanNs > 0 && E.MeanNs <= ShortKernelNs && Busy && *Busy < BusyEnoughShare &&
         P.Launches > 1 && P.SpanNs / P.Launches <= CloseLaunchesNs;
}

const ResourceShare *largest(llvm::ArrayRef<ResourceShare> Shares) {
  return Shares.empty() ? nullptr : &Shares.front();
}

/// Returns the largest measured share, or DRAM's if L2 is only a little busier.
const ResourceShare *limiting(llvm::ArrayRef<ResourceShare> Shares) {
  const ResourceShare *Most = largest(Shares);
  if (!Most || Most->Resource != L2Resource)
    return Most;
  auto Dram =
      llvm::find_if(Shares, [](const ResourceShare &R) { return R.Resource == DramResource; });
  bool Limits = Dram != Shares.end() && Dram->Share >= LimitingShare &&
                Dram->Share >= DramOfL2Share * Most->Share;
  return Limits ? &*Dram : Most;
}

/// Sets \p R as the limiter if its share is large enough; otherwise the limiter is latency.
void judge(KernelLimit &L, const ResourceShare *R) {
  if (R && R->Share >= LimitingShare) {
    L.Kind = R->Kind;
    L.Resource = R->Resource;
    L.Share = std::min(R->Share, 1.0);
    L.Why = R->Detail;
    return;
  }
  L.Kind = Limit::Latency;
  L.Share = R ? R->Share : 0;
  if (R)
    L.Why = "nothing is busy: " + R->Resource + ", the busiest, is at " + percentText(R->Share);
}

/// Handles a kernel of which only the upper bound of memory's share is high, because its unknown
/// addresses may or may not be scattered. It waits for memory transactions if it is as slow without
/// arithmetic, or if it has as many bytes in flight as full bandwidth needs.
void judgeScattered(KernelLimit &L, const KernelEvidence &E, const DeviceBalance &B) {
  auto R = llvm::find_if(L.Shares, [](const ResourceShare &R) {
    return R.Kind == Limit::Memory && R.Most >= LimitingShare;
  });
  if (L.Kind != Limit::Latency || R == L.Shares.end() || !E.Counts)
    return;
  bool Enough =
      bytesInFlight(*E.Counts, residentWarps(E, B), /*MostMoved=*/true) >= B.bytesInFlightPerSm();
  if (E.Modified && E.Modified->isPart(E.Modified->MemoryNs))
    Enough = E.Modified->MemoryNs >= AsLongShare * E.Modified->WholeNs;
  L.Sure = Certainty::Guessed;
  if (!Enough)
    return;
  L.Kind = Limit::Memory;
  L.Resource = R->Resource;
  L.Share = std::min(R->Most, 1.0);
  L.Why = "if scattered: between " + percentText(R->Share) + " and " +
          percentText(std::min(R->Most, 1.0)) +
          " of peak, as addresses that the code does not show " + "fall into few sectors or many";
}

/// Corrects a wrong judgement for memory. Without counters, requested bytes are taken for DRAM's,
/// although caches may have served them. A kernel that is as slow without its memory traffic, and
/// fast without its arithmetic, is not limited by memory.
void correctByModified(KernelLimit &L, const KernelEvidence &E) {
  if (L.Kind != Limit::Memory || !E.Modified || !E.Modified->isPart(E.Modified->ArithmeticNs) ||
      !E.Modified->isPart(E.Modified->MemoryNs))
    return;
  double Whole = E.Modified->WholeNs;
  bool ArithmeticAlone = E.Modified->ArithmeticNs >= AsLongShare * Whole &&
                         E.Modified->MemoryNs < LimitingShare * Whole;
  auto Issue =
      llvm::find_if(L.Shares, [](const ResourceShare &R) { return R.Kind == Limit::Instructions; });
  if (!ArithmeticAlone || Issue == L.Shares.end())
    return;
  L.Kind = Issue->Share >= LimitingShare ? Limit::Instructions : Limit::Latency;
  L.Resource = L.Kind == Limit::Instructions ? Issue->Resource : "";
  L.Share = Issue->Share;
  L.Sure = Certainty::Guessed;
  L.Why = "as slow without its memory traffic: caches serve what it loads";
}

void judgeCounts(KernelLimit &L, const KernelEvidence &E, const DeviceBalance &B) {
  L.Shares = derivedShares(E, B);
  L.Basis = LimitBasis::Counts;
  L.Sure = E.TripsKnown ? Certainty::Derived : Certainty::Guessed;
  judge(L, largest(L.Shares));
  judgeScattered(L, E, B);
  correctByModified(L, E);
}

} // namespace

llvm::StringRef carve::limitName(Limit L) {
  switch (L) {
  case Limit::Memory:
    return "memory";
  case Limit::Instructions:
    return "instructions";
  case Limit::SharedMemory:
    return "shared-memory";
  case Limit::LocalMemory:
    return "local-memory";
  case Limit::Latency:
    return "latency";
  case Limit::Launch:
    return "launch";
  }
  return "";
}

llvm::StringRef carve::basisName(LimitBasis B) {
  return B == LimitBasis::Counters ? "counters" : B == LimitBasis::Counts ? "counts" : "timing";
}

llvm::StringRef carve::certaintyName(Certainty C) {
  return C == Certainty::Measured ? "measured" : C == Certainty::Derived ? "derived" : "guessed";
}

double carve::bytesInFlight(const KernelCounts &C, double WarpsPerSm, bool MostMoved) {
  double Bytes = MostMoved && C.MostMovedBytes > 0 ? C.MostMovedBytes : C.globalBytesMoved();
  double All = C.globalBytes();
  double Loaded = All > 0 ? Bytes * C.GlobalLoadBytes / All : 0;
  // There is one region more than there are waits between regions.
  double Waits = std::max(1.0, C.Regions - 1);
  return WarpsPerSm * WarpLanes * Loaded / Waits;
}

double carve::residentWarps(const KernelEvidence &E, const DeviceBalance &B) {
  if (E.Counters && E.Counters->ActiveWarpsPerSm)
    return *E.Counters->ActiveWarpsPerSm;
  BlockFootprint F{E.RegsPerThread, E.Shape.threadsPerBlock(), E.StaticSmemBytes,
                   E.Shape.DynamicSmemBytes, E.Barriers};
  double Warps = double(blocksPerSm(B.Model, F)) * E.warpsPerBlock();
  return B.Sms ? std::min(Warps, E.warps() / B.Sms) : Warps;
}

std::vector<ResourceShare> carve::measuredShares(const KernelCounters &C) {
  std::vector<ResourceShare> Shares;
  auto Add = [&](std::optional<double> Share, llvm::StringRef Resource, Limit Kind) {
    if (Share)
      Shares.push_back({Resource.str(), Kind, *Share, *Share, true});
  };
  Add(C.DramShare, DramResource, Limit::Memory);
  Add(C.L2Share, L2Resource, Limit::Memory);
  if (C.L2Share)
    Shares.back().Detail = C.L2Part;
  Add(C.SharedShare, "shared memory", Limit::SharedMemory);
  // The L1 cache and shared memory are one unit: what shared memory does also shows in the cache's
  // share.
  if (!C.SharedShare || !C.L1Share || *C.SharedShare < NearPeakShare * *C.L1Share)
    Add(C.L1Share, L1Resource, Limit::Memory);
  Add(C.IssueShare, "instruction issue", Limit::Instructions);
  Add(C.PipeShare, "the " + (C.Pipe.empty() ? "busiest" : C.Pipe) + " pipe", Limit::Instructions);
  sortShares(Shares);
  return Shares;
}

std::vector<ResourceShare> carve::derivedShares(const KernelEvidence &E, const DeviceBalance &B) {
  std::vector<ResourceShare> Shares;
  if (!E.Counts || E.MeanNs <= 0 || !B.known())
    return Shares;
  const KernelCounts &C = *E.Counts;
  double Seconds = E.MeanNs * 1e-9, Warps = E.warps(), Threads = Warps * WarpLanes;
  double Cycles = Seconds * B.smCycles();
  auto Add = [&](llvm::StringRef Resource, Limit Kind, double Share, double Most = 0) {
    if (Share > 0)
      Shares.push_back({Resource.str(), Kind, Share, std::max(Share, Most), false});
  };
  double Least = Threads * C.globalBytesMoved() / Seconds;
  double Most = Threads * std::max(C.MostMovedBytes, C.globalBytesMoved()) / Seconds;
  // If a level cannot have delivered the bytes, a cache closer to the SM did.
  if (B.DramBytes > 0 && Least <= ImpossibleShare * B.DramBytes)
    Add(DramResource, Limit::Memory, Least / B.DramBytes, Most / B.DramBytes);
  if (B.L2Bytes > 0 && Least <= ImpossibleShare * B.L2Bytes)
    Add(L2Resource, Limit::Memory, Least / B.L2Bytes, Most / B.L2Bytes);
  double Local = C.localBytes() * WarpLanes / RoundBytes;
  double Global = C.globalBytesMoved() * WarpLanes / RoundBytes;
  double Rounds = Local + Global + C.SharedRounds;
  Limit L1Kind = C.SharedRounds >= NearPeakShare * Rounds ? Limit::SharedMemory : Limit::Memory;
  if (L1Kind == Limit::SharedMemory)
    Add("shared memory", L1Kind, Warps * C.SharedRounds / Cycles);
  else
    Add(L1Resource, L1Kind, Warps * Rounds / Cycles);
  Add("instruction issue", Limit::Instructions,
      Warps * C.Instructions / (Cycles * B.SchedulersPerSm));
  auto Pipe = [&](const char *Name, double Instructions, unsigned PerClock) {
    if (PerClock)
      Add(Name, Limit::Instructions, Threads * Instructions / (Cycles * PerClock));
  };
  const DeviceModel &M = B.Model;
  Pipe("the fma pipe", C.Pipes.Fp32 + C.Pipes.IntegerMultiply, M.Fp32PerClock);
  Pipe("the integer-multiply pipe", C.Pipes.IntegerMultiply, M.IntegerMultiplyPerClock);
  Pipe("the alu pipe", C.Pipes.Integer, M.IntegerPerClock);
  Pipe("the fp64 pipe", C.Pipes.Fp64, M.Fp64PerClock);
  Pipe("the xu pipe", C.Pipes.Special, M.SpecialPerClock);
  sortShares(Shares);
  return Shares;
}

KernelLimit carve::findLimit(const KernelEvidence &E, const DeviceBalance &B,
                             const ProgramFacts &P) {
  KernelLimit L;
  if (E.Counters && !measuredShares(*E.Counters).empty()) {
    L.Shares = measuredShares(*E.Counters);
    L.Basis = LimitBasis::Counters;
    L.Sure = Certainty::Measured;
    judge(L, limiting(L.Shares));
  } else if (E.Counts && E.MeanNs > 0 && B.known()) {
    judgeCounts(L, E, B);
  }
  if (isLaunchBound(E, P)) {
    L.Kind = Limit::Launch;
    L.Resource.clear();
    L.Share = *P.busyShare();
    L.Sure = Certainty::Measured;
    L.Basis = LimitBasis::Timing;
    L.Why = llvm::formatv("{0:f1} us a launch, and the GPU runs kernels in {1} of the time",
                          E.MeanNs / 1e3, percentText(L.Share));
    return L;
  }
  bool MayBeLocal = L.Kind == Limit::Memory || L.Kind == Limit::Latency;
  if (MayBeLocal && localDominates(E) && !spillsStayInCaches(E, L)) {
    L.Kind = Limit::LocalMemory;
    L.Why.clear();
  }
  if (!L.Kind)
    L.Why = !E.Counts ? (E.CountsReason.empty() ? "its code was not counted" : E.CountsReason)
                      : "the device's clock is not known";
  return L;
}
