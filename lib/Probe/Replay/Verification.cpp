#include "Probe/Replay/Verification.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace carve::probe;

/// Runs of a nondeterministic default beyond the three that show that it is one.
static constexpr unsigned SpreadRuns = 5;
/// A kernel that writes other places at each run is given up after so many.
static constexpr unsigned MaxSettlingRuns = 3;
/// Of a nondeterministic kernel's variant: so many of its runs have to be within the spread.
static constexpr unsigned VariantRuns = 3, PassingRuns = 2;

void OutputSpread::widen(const OutputDifference &D) {
  Words = std::max(Words, D.Words);
  RelativeF32 = std::max(RelativeF32, D.RelativeF32);
  RelativeF64 = std::max(RelativeF64, D.RelativeF64);
  SameMultiset &= D.Multiset == Multiset;
}

bool OutputSpread::holds(const OutputDifference &D) const {
  return D.Words <= 2 * Words + 16 && D.RelativeF32 <= 4 * RelativeF32 &&
         D.RelativeF64 <= 4 * RelativeF64 && (!SameMultiset || D.Multiset == Multiset);
}

static bool holds(const Span &Outer, const Span &Inner) {
  return Outer.Range == Inner.Range && Outer.Offset <= Inner.Offset &&
         Inner.Offset + Inner.Bytes <= Outer.Offset + Outer.Bytes;
}

static bool isBefore(const Span &A, const Span &B) {
  return A.Range != B.Range ? A.Range < B.Range : A.Offset < B.Offset;
}

bool carve::probe::cover(std::vector<Span> &Spans, const std::vector<Span> &More) {
  // Both may have a million: only the last that begins before it can hold a span.
  bool Covered = std::all_of(More.begin(), More.end(), [&](const Span &M) {
    auto After = std::upper_bound(Spans.begin(), Spans.end(), M, isBefore);
    return After != Spans.begin() && holds(*std::prev(After), M);
  });
  if (Covered)
    return true;
  std::vector<Span> All = Spans;
  All.insert(All.end(), More.begin(), More.end());
  std::sort(All.begin(), All.end(), isBefore);
  Spans.clear();
  for (const Span &S : All) {
    Span *Last = Spans.empty() ? nullptr : &Spans.back();
    if (Last && Last->Range == S.Range && S.Offset <= Last->Offset + Last->Bytes)
      Last->Bytes = std::max(Last->Bytes, S.Offset + S.Bytes - Last->Offset);
    else
      Spans.push_back(S);
  }
  return false;
}

std::string Verification::runDefault() {
  return Runs.run(0, /*Timed=*/false) == CUDA_SUCCESS ? "" : "default-refused";
}

std::string Verification::learnDefault() {
  bool Settled = false;
  for (unsigned Attempt = 0; Attempt < MaxSettlingRuns && !Settled; ++Attempt) {
    if (Attempt > 0)
      if (std::string Why = Memory.restoreAll(); !Why.empty())
        return Why;
    if (std::string Why = learnOnce(Settled); !Why.empty())
      return Why;
  }
  return Settled ? "" : "writes-vary";
}

std::string Verification::learnOnce(bool &Settled) {
  std::vector<Span> Written;
  OutputDifference Same, Again, Fresh;
  std::string Why = runDefault();
  if (Why.empty())
    Why = Memory.changed(Written);
  cover(Dirty, Written);
  if (Why.empty())
    Why = Memory.keepReference(Dirty);
  if (Why.empty())
    Why = Memory.differenceFromReference(Same);
  if (Why.empty())
    Why = runDefault();
  if (Why.empty())
    Why = Memory.differenceFromReference(Again);
  if (Why.empty())
    Why = Memory.restore(Dirty);
  if (Why.empty())
    Why = runDefault();
  if (Why.empty())
    Why = Memory.differenceFromReference(Fresh);
  if (Why.empty())
    Why = Memory.changed(Written);
  if (!Why.empty())
    return Why;
  Spread = OutputSpread();
  Spread.Multiset = Same.Multiset;
  Settled = cover(Dirty, Written);
  Deterministic &= Settled && Fresh.equal();
  Idempotent = Deterministic && Again.equal();
  if (Deterministic || !Settled)
    return "";
  Spread.widen(Fresh);
  return learnSpread(Settled);
}

std::string Verification::learnSpread(bool &Settled) {
  for (unsigned Run = 0; Run < SpreadRuns && Settled; ++Run) {
    std::vector<Span> Written;
    OutputDifference Difference;
    std::string Why = Memory.restore(Dirty);
    if (Why.empty())
      Why = runDefault();
    if (Why.empty())
      Why = Memory.differenceFromReference(Difference);
    if (Why.empty())
      Why = Memory.changed(Written);
    if (!Why.empty())
      return Why;
    Spread.widen(Difference);
    Settled = cover(Dirty, Written);
  }
  return "";
}

/// \p Written is what a measured variant has changed, beyond what the default changes.
std::string Verification::compareBehindDefault(const std::vector<Span> &Written, bool &Stray) {
  std::vector<Span> Left, Known = Dirty;
  std::string Why = runDefault();
  if (Why.empty())
    Why = Memory.changed(Left);
  if (!Why.empty())
    return Why;
  Stray = !cover(Known, Left);
  if (!Stray)
    cover(Dirty, Written);
  return "";
}

std::string Verification::compare(size_t Variant, OutputDifference &Difference, bool &Stray) {
  std::vector<Span> Written, Known = Dirty;
  std::string Why = Memory.differenceFromReference(Difference);
  if (Why.empty())
    Why = Memory.changed(Written);
  if (!Why.empty())
    return Why;
  Stray = !cover(Known, Written);
  if (!Stray)
    return "";
  if (Measured.count(Variant))
    Why = compareBehindDefault(Written, Stray);
  return Why.empty() ? Memory.restoreAll() : Why;
}

static std::string describe(const OutputDifference &D) {
  char Text[128];
  std::snprintf(Text, sizeof Text, "words %llu f32 %.3g f64 %.3g",
                static_cast<unsigned long long>(D.Words), D.RelativeF32, D.RelativeF64);
  return Text;
}

std::string Verification::verify(size_t Variant, const DriverApi &Driver, std::string &Detail,
                                 std::string &Failed) {
  unsigned Passed = 0, Strays = 0, Wanted = Deterministic ? 1 : PassingRuns;
  unsigned Limit = Deterministic ? 1 : VariantRuns;
  bool AllEqual = true;
  for (unsigned Run = 0; Run < Limit && Passed < Wanted; ++Run) {
    OutputDifference Difference;
    bool Stray = false;
    Failed = Memory.restore(Dirty);
    if (!Failed.empty())
      return "";
    if (CUresult Result = Runs.run(Variant, /*Timed=*/false); Result != CUDA_SUCCESS) {
      Detail = errorName(Driver, Result);
      return "refused";
    }
    Failed = compare(Variant, Difference, Stray);
    if (!Failed.empty())
      return "";
    Strays += Stray;
    AllEqual &= Difference.equal();
    if (!Stray && (Difference.equal() || (!Deterministic && Spread.holds(Difference))))
      ++Passed;
    Detail = describe(Difference);
  }
  if (Passed >= Wanted)
    return AllEqual ? "equal" : "within-spread";
  return Strays ? "stray" : "differs";
}
