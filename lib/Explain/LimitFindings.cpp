#include "Explain/LimitFindings.h"

#include "Explain/ResidentBlocks.h"
#include "Metrics/Counts/WarpAccess.h"
#include "Support/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace carve;
using llvm::formatv;

namespace {

constexpr char NotByCarve[] = "nothing: no variant of carve's changes this";
/// A smaller gain is not worth a finding.
constexpr double WorthMentioning = 1.05;
/// A grid with more waves than this loses little in its last wave.
constexpr double ManyWaves = 8;

/// What a finding is made from.
struct Subject {
  const KernelEvidence &E;
  const DeviceBalance &B;
  const ProgramFacts &P;
  const KernelLimit &L;
  ResidentBlocks Resident;

  bool is(Limit Kind) const { return L.Kind == Kind; }
  /// True if the kernel waits for memory traffic.
  bool waitsForMemory() const { return is(Limit::Memory) || is(Limit::LocalMemory); }
};

using Found = std::optional<Finding>;

/// `12`, `0.75`, `25600`
std::string number(double Value) {
  if (Value >= 100 || Value == std::floor(Value))
    return formatv("{0:f0}", Value);
  return Value < 10 ? formatv("{0:f2}", Value) : formatv("{0:f1}", Value);
}

std::string kilobytes(double Bytes) { return formatv("{0:f1} KB", Bytes / 1024); }

std::optional<double> worth(double AtMost) {
  return AtMost >= WorthMentioning && std::isfinite(AtMost) ? std::optional(AtMost) : std::nullopt;
}

std::string variantText(const TriedVariant &V, llvm::StringRef Chosen) {
  std::string Text = formatv("{0} is {1:f2} times as fast", V.Name, 1 / V.Ratio);
  if (V.Low > 0 && V.High > 0)
    Text += formatv(" [{0:f2}, {1:f2}]", 1 / V.High, 1 / V.Low);
  return V.Name == Chosen ? Text + ", chosen" : Text;
}

/// True if it is certain that the kernel used this much of \p R: the hardware counted it, or counts
/// tell it that caches cannot make wrong. Requested bytes are not the bytes of DRAM or L2 if a
/// cache closer to the SM served them. Counts are only as good as their trip counts.
bool isCertain(const Subject &S, const ResourceShare &R) {
  bool ByCaches = R.Kind == Limit::Memory && R.Resource != L1Resource;
  return R.Measured || (S.E.TripsKnown && !ByCaches);
}

/// Returns the bound that the limiter sets, 1 / share of the resource, if that share is certain.
std::optional<double> headroomBound(const Subject &S) {
  if (!S.is(Limit::Latency) && S.L.Sure == Certainty::Guessed)
    return std::nullopt;
  for (const ResourceShare &R : S.L.Shares) // The largest share comes first.
    if (isCertain(S, R) && (S.is(Limit::Latency) || R.Resource == S.L.Resource))
      return worth(1 / std::min(R.Share, 1.0));
  return std::nullopt;
}

Found headroom(const Subject &S) {
  if (!S.L.Kind || S.L.Share <= 0 || S.is(Limit::Launch) || S.is(Limit::LocalMemory))
    return std::nullopt;
  Finding F{"headroom", "", triedText(S.E.Tried), "", headroomBound(S), false};
  if (S.is(Limit::Latency)) {
    F.Text = "the busiest resource is at " + percentText(S.L.Share) + ": the time is waiting";
    F.Author = "more independent work for each scheduler: more threads, several elements a thread, "
               "loads begun before they are needed, fewer dependent steps and barriers";
    return F;
  }
  F.Text = S.L.Resource + " is at " + percentText(S.L.Share) + " of its peak" +
           (S.L.Share >= NearPeakShare ? ": as good as full" : "");
  F.Author =
      S.is(Limit::Memory)
          ? "move fewer bytes: tiles that reuse what was loaded, fused kernels, narrower "
            "types, compressed layout"
      : S.is(Limit::SharedMemory)
          ? "fewer or wider accesses to shared memory: register tiles, shuffles, vectors"
          : "fewer or cheaper instructions: hoisting, tables, a lower precision, intrinsics, "
            "tensor cores, more work a thread where index arithmetic is repeated";
  return F;
}

Found balance(const Subject &S) {
  if (!S.E.Counts || S.B.instructionsPerByte() <= 0)
    return std::nullopt;
  const KernelCounts &C = *S.E.Counts;
  double Bytes = C.globalBytesMoved(), Device = S.B.instructionsPerByte();
  Finding F{"balance", "", NotByCarve, "", std::nullopt, false};
  if (Bytes <= 0) {
    F.Text = number(C.Instructions) + " instructions a thread and no global memory";
    return F;
  }
  double Ratio = C.Instructions / Bytes;
  F.Text =
      number(C.Instructions) + " instructions and " + number(Bytes) + " bytes a thread, " +
      number(Ratio) + " a byte; the device issues " + number(Device) +
      " while memory moves one: " + (Ratio < Device ? "memory's side" : "the instructions' side");
  F.Author = Ratio < Device ? "more work on each byte (tiling, fusing, coarsening)"
                            : "fewer instructions for each element";
  return F;
}

Found coalescing(const Subject &S) {
  if (!S.E.Counts)
    return std::nullopt;
  const KernelCounts &C = *S.E.Counts;
  double Used = C.globalBytes();
  double Least = C.LeastMovedBytes, Most = std::max(C.MostMovedBytes, Least);
  if (Used <= 0 || Most < 1.25 * Used)
    return std::nullopt;
  Finding F{"coalescing", "", NotByCarve, "", std::nullopt, false};
  F.Author = "neighbouring threads should read neighbouring words: structure of arrays, sorted or "
             "blocked indices, staging through shared memory";
  F.Text = "sectors of " + (Least < Most ? number(Least) + " to " + number(Most) : number(Least)) +
           " bytes are moved for " + number(Used) + " that a thread uses" +
           (Least < Most ? ", as the code does not show all addresses" : "");
  if (S.is(Limit::Memory))
    F.AtMost = worth(Most / Used);
  return F;
}

Found bankConflicts(const Subject &S) {
  if (!S.E.Counts || S.E.Counts->SharedAccesses <= 0)
    return std::nullopt;
  double Rounds = S.E.Counts->SharedRounds / S.E.Counts->SharedAccesses;
  if (Rounds < 1.5)
    return std::nullopt;
  Finding F{"bank conflicts", "", NotByCarve, "", std::nullopt, false};
  F.Text = number(Rounds) + " rounds per access of shared memory; an access of four bytes a thread "
                            "without conflicts takes 1";
  F.Author = "pad rows by a word, or change which thread reads which word";
  if (S.is(Limit::SharedMemory))
    F.AtMost = worth(Rounds);
  return F;
}

/// Returns by which factor the accesses to local memory increase what limits the kernel: its
/// instructions or its traffic.
double spillCost(const Subject &S) {
  const KernelCounts &C = *S.E.Counts;
  if (S.is(Limit::Memory) && S.L.Resource == DramResource)
    return 1;
  if (!S.waitsForMemory())
    return C.Instructions / std::max(1.0, C.Instructions - C.LocalAccesses);
  double Left = std::max(C.globalBytesMoved(), 1.0);
  return (C.localBytes() + Left) / Left;
}

/// Returns how many times as fast the kernel would be at most without its local memory, or nothing
/// if that is not known. If the kernel waits for traffic, the use of the other resources bounds the
/// gain, too. With hardly any global traffic, only that bound matters.
std::optional<double> withoutSpills(const Subject &S) {
  const KernelCounts &C = *S.E.Counts;
  if (!S.E.TripsKnown)
    return std::nullopt;
  double Cost = spillCost(S);
  if (!S.waitsForMemory())
    return worth(Cost);
  double Busy = 0;
  for (const ResourceShare &R : S.L.Shares) {
    if (!isCertain(S, R) || R.Kind == Limit::Memory)
      continue;
    bool Issue = R.Resource == "instruction issue";
    Busy = std::max(Busy, R.Share * (Issue ? 1 - C.LocalAccesses / C.Instructions : 1));
  }
  if (Busy <= 0)
    return std::nullopt;
  return worth(std::min(Cost, 1 / std::min(Busy, 1.0)));
}

Found spills(const Subject &S) {
  Finding F{"spills", "", "", "", std::nullopt, false};
  F.Author = "fewer values alive at once: less unrolling, a split kernel, launch bounds that leave "
             "more registers, arrays with constant indices";
  if (S.E.Counts && S.E.Counts->localBytes() > 0) {
    const KernelCounts &C = *S.E.Counts;
    double Share = C.localBytes() / (C.localBytes() + C.globalBytesMoved());
    F.AtMost = withoutSpills(S);
    F.Text = number(C.localBytes()) + " bytes of local memory a thread against " +
             number(C.globalBytesMoved()) + " of global: " + percentText(Share) +
             " of its traffic, " + percentText(C.LocalAccesses / C.Instructions) +
             " of its instructions; " +
             (S.is(Limit::LocalMemory)          ? "they are what limits it"
              : spillCost(S) >= WorthMentioning ? "they cost something"
                                                : "it hardly matters");
  } else if (S.E.SpillBytes) {
    F.Text = std::to_string(S.E.SpillBytes) + " bytes spilled per thread";
  } else {
    return std::nullopt;
  }
  F.Tried = triedText(S.E.Tried);
  if (S.E.Tried && S.E.Tried->LeastSpilled) {
    const TriedVariant &V = *S.E.Tried->LeastSpilled;
    F.Tried = variantText(V, S.E.Tried->Chosen) + ", with " + std::to_string(V.SpillBytes) +
              " bytes of spills in the code and " + std::to_string(V.Regs) + " registers";
    F.AtMost = 1 / V.Ratio;
    F.Measured = true;
  }
  return F;
}

Found occupancy(const Subject &S) {
  if (!S.Resident.Blocks)
    return std::nullopt;
  Finding F{"occupancy", "", triedText(S.E.Tried), "", std::nullopt, false};
  F.Text = formatv("{0} blocks of {1} warps an SM, {2} of what it holds, bound by {3}",
                   S.Resident.Blocks, S.E.warpsPerBlock(), percentText(S.Resident.Occupancy),
                   S.Resident.BoundBy.empty() ? "the block's size"
                                              : llvm::join(S.Resident.BoundBy, " and "));
  if (S.E.Counters && S.E.Counters->ActiveWarpsPerSm)
    F.Text += formatv("; {0:f1} warps were active (counters)", *S.E.Counters->ActiveWarpsPerSm);
  if (llvm::is_contained(S.Resident.BoundBy, "shared memory"))
    F.Author = "smaller tiles, or one tile for several blocks (clusters)";
  return F;
}

Found nextLevel(const Subject &S) {
  bool Regs = S.Resident.RegsForNext.has_value(), Smem = S.Resident.SmemForNext.has_value();
  if (!S.Resident.Blocks || (!Regs && !Smem) || S.Resident.Occupancy >= 1)
    return std::nullopt;
  Finding F{"next level", "one block more on each SM with ", triedText(S.E.Tried), "", std::nullopt,
            false};
  if (Regs) {
    F.Text += formatv("at most {0} registers a thread, {1} fewer than now", *S.Resident.RegsForNext,
                      S.E.RegsPerThread - *S.Resident.RegsForNext);
    if (S.E.Tried && S.E.Tried->LeastRegs > *S.Resident.RegsForNext)
      F.Text += formatv(" (the compiler needs {0})", S.E.Tried->LeastRegs);
    F.Author = "fewer live values, if a cap has to spill for it";
  }
  if (Smem) {
    unsigned Now = S.E.StaticSmemBytes + S.E.Shape.DynamicSmemBytes;
    F.Text +=
        formatv("{0}at most {1} bytes of shared memory a block, {2} fewer than now",
                Regs ? ", or with " : "", *S.Resident.SmemForNext, Now - *S.Resident.SmemForNext);
    F.Author = "smaller tiles";
  }
  return F;
}

Found inFlight(const Subject &S) {
  double Needed = S.B.bytesInFlightPerSm();
  if (!S.E.Counts || Needed <= 0 || S.E.Counts->GlobalLoadBytes <= 0)
    return std::nullopt;
  double Warps = residentWarps(S.E, S.B);
  double Have = bytesInFlight(*S.E.Counts, Warps, /*MostMoved=*/true);
  Finding F{"in flight", "", triedText(S.E.Tried), "", std::nullopt, false};
  F.Text =
      formatv("{0:f1} warps an SM ask for {1} at once; full bandwidth takes at least {2} under "
              "way (Little's law, {3:f0} ns of latency)",
              Warps, kilobytes(Have), kilobytes(Needed), S.B.DramLatencyNs);
  if (Have < Needed) {
    F.Text += formatv(": at most {0} of it", percentText(Have / Needed));
    F.Author = "more loads before the first use (several elements a thread, vectors, asynchronous "
               "copies), or more threads";
    if (S.is(Limit::Latency) && Have > 0)
      F.AtMost = worth(Needed / Have);
  }
  return F;
}

Found grid(const Subject &S) {
  double Blocks = S.E.blocks(), AtOnce = double(S.B.Sms) * S.Resident.Blocks;
  if (!S.B.Sms || AtOnce <= 0 || Blocks <= 0)
    return std::nullopt;
  Finding F{"grid", "", NotByCarve, "", std::nullopt, false};
  double Waves = Blocks / AtOnce;
  if (Waves > ManyWaves)
    return std::nullopt;
  if (Blocks < S.B.Sms) {
    F.Text = formatv("{0:f0} blocks for {1} SMs: {2:f0} of these have nothing to do", Blocks,
                     S.B.Sms, S.B.Sms - Blocks);
    F.AtMost = worth(S.B.Sms / Blocks);
    F.Author = "a larger grid: smaller blocks, work split further, several problems in one launch, "
               "other kernels beside it (streams)";
    return F;
  }
  if (Waves <= 1) {
    F.Text =
        formatv("{0:f0} blocks, {1} of what the GPU holds at once", Blocks, percentText(Waves));
    F.Author = "a larger grid, or smaller blocks";
    return F;
  }
  F.AtMost = worth(std::ceil(Waves) / Waves);
  F.Text = formatv("{0:f2} waves of blocks: the last fills {1} of the GPU", Waves,
                   percentText(Waves - std::floor(Waves) > 0 ? Waves - std::floor(Waves) : 1));
  F.Author = "a grid that is a multiple of what is resident, or blocks that take several parts";
  if (!F.AtMost)
    return std::nullopt;
  return F;
}

Found launchGaps(const Subject &S) {
  auto Busy = S.P.busyShare();
  if (!Busy || *Busy >= BusyEnoughShare || !S.P.Launches)
    return std::nullopt;
  Finding F{"launch gaps", "", NotByCarve, "", worth(1 / *Busy), false};
  F.Text =
      formatv("the GPU runs kernels in {0} of {1:f1} ms: {2} launches, one in {3:f1} us",
              percentText(*Busy), S.P.SpanNs / 1e6, S.P.Launches, S.P.SpanNs / S.P.Launches / 1e3);
  F.Author = S.is(Limit::Launch)
                 ? "a CUDA graph, fused steps, a persistent kernel, or larger launches"
                 : "copies and host work beside the kernels (streams, asynchronous copies)";
  return F;
}

Found overlap(const Subject &S) {
  if (!S.E.Modified || S.E.Modified->WholeNs <= 0)
    return std::nullopt;
  const ModifiedTimes &M = *S.E.Modified;
  if (M.MemoryNs == 0 && M.ArithmeticNs == 0)
    return std::nullopt;
  Finding F{"overlap", "", triedText(S.E.Tried), "", std::nullopt, false};
  auto Part = [&](const char *Name, double Ns) {
    if (Ns <= 0)
      return std::string();
    return formatv("{0} alone takes {1} of the time", Name, percentText(Ns / M.WholeNs)).str() +
           (M.isPart(Ns) ? "" : " (its loads have another order, so this proves nothing)");
  };
  std::vector<std::string> Parts{Part("memory traffic", M.MemoryNs),
                                 Part("arithmetic", M.ArithmeticNs)};
  llvm::erase_if(Parts, [](const std::string &P) { return P.empty(); });
  F.Text = llvm::join(Parts, ", ");
  if (auto Hidden = M.overlap()) {
    F.Text += formatv("; {0} of the smaller is hidden", percentText(*Hidden));
    F.AtMost = worth(M.WholeNs / std::max(M.MemoryNs, M.ArithmeticNs));
    F.Author = "loads begun earlier (software pipelining), or more warps to hide behind";
  }
  return F;
}

/// Returns the findings in the order of their importance for the limiter \p L.
std::vector<Found (*)(const Subject &)> orderFor(const KernelLimit &L) {
  switch (L.Kind.value_or(Limit::Latency)) {
  case Limit::Memory:
    return {headroom,  coalescing, balance, spills,     overlap,      inFlight,
            occupancy, nextLevel,  grid,    launchGaps, bankConflicts};
  case Limit::Instructions:
    return {headroom,  balance,  overlap,    spills,     occupancy,    grid,
            nextLevel, inFlight, coalescing, launchGaps, bankConflicts};
  case Limit::SharedMemory:
    return {headroom, bankConflicts, balance,  overlap,    occupancy, nextLevel,
            spills,   grid,          inFlight, coalescing, launchGaps};
  case Limit::LocalMemory:
    return {spills,   balance,    occupancy, nextLevel,  overlap,      grid,
            inFlight, coalescing, headroom,  launchGaps, bankConflicts};
  case Limit::Launch:
    return {launchGaps, grid,     occupancy, balance,    spills,       nextLevel,
            overlap,    inFlight, headroom,  coalescing, bankConflicts};
  case Limit::Latency:
    break;
  }
  return {grid,   headroom, inFlight,   occupancy,     nextLevel, overlap,
          spills, balance,  coalescing, bankConflicts, launchGaps};
}

} // namespace

std::string carve::triedText(const std::optional<TriedVariants> &Tried) {
  if (!Tried)
    return "not tuned yet: carve tune -- COMMAND";
  if (!Tried->Timed)
    return Tried->Reason.empty() ? "no variant was timed"
                                 : "no variant was timed: " + Tried->Reason;
  std::string Text = formatv("{0} variants timed of {1} compiled", Tried->Timed, Tried->Compiled);
  if (!Tried->Best)
    return Text;
  if (Tried->Chosen == "default" && Tried->Best->Ratio >= 1)
    return Text + ": none is faster than the default";
  Text += ": " + variantText(*Tried->Best, Tried->Chosen);
  if (Tried->Chosen == "default")
    Text += ", and the default stayed" + (Tried->Reason.empty() ? "" : ": " + Tried->Reason);
  else if (Tried->Chosen != Tried->Best->Name)
    Text += ", " + Tried->Chosen + " was chosen";
  return Text;
}

std::vector<Finding> carve::limitFindings(const KernelEvidence &E, const DeviceBalance &B,
                                          const ProgramFacts &P, const KernelLimit &L,
                                          size_t Most) {
  BlockFootprint Footprint{E.RegsPerThread, E.Shape.threadsPerBlock(), E.StaticSmemBytes,
                           E.Shape.DynamicSmemBytes, E.Barriers};
  Subject S{E, B, P, L, residentBlocks(B.Model, Footprint)};
  std::vector<Finding> Findings;
  for (auto Find : orderFor(L))
    if (Found F = Find(S); F && Findings.size() < Most)
      Findings.push_back(std::move(*F));
  return Findings;
}
