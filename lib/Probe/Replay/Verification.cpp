#include "Probe/Replay/Verification.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

using namespace carve;
using namespace carve::probe;

/// The number of runs of a nondeterministic default after the two runs that show that it is
/// nondeterministic.
static constexpr unsigned SpreadRuns = 5;
/// A kernel that writes to other places in each run is given up after this many runs.
static constexpr unsigned MaxSettlingRuns = 3;
/// Of so many runs of a nondeterministic kernel's variant, so many must be within the spread.
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
  // Both lists may have a million spans. Only the last span that begins before a span can contain
  // it.
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

Failure Verification::runDefault() {
  return Runs.run(0, /*Timed=*/false) == CUDA_SUCCESS ? Failure::none()
                                                      : Failure("default-refused");
}

Failure Verification::learnDefault() {
  bool Settled = false;
  for (unsigned Attempt = 0; Attempt < MaxSettlingRuns && !Settled; ++Attempt) {
    if (Attempt > 0)
      if (Failure Why = Memory.restoreAll())
        return Why;
    if (Failure Why = learnOnce(Settled))
      return Why;
  }
  return Settled ? Failure::none() : Failure("writes-vary");
}

Failure Verification::learnOnce(bool &Settled) {
  std::vector<Span> Written;
  OutputDifference Same, Fresh;
  Failure Why = runDefault();
  if (!Why)
    Why = Memory.changed(Written);
  cover(Dirty, Written);
  if (!Why)
    Why = Memory.keepReference(Dirty);
  if (!Why)
    Why = Memory.differenceFromReference(Same);
  if (!Why)
    Why = Memory.restore(Dirty);
  if (!Why)
    Why = runDefault();
  if (!Why)
    Why = Memory.differenceFromReference(Fresh);
  if (!Why)
    Why = Memory.changed(Written);
  if (Why)
    return Why;
  Spread = OutputSpread();
  Spread.Multiset = Same.Multiset;
  Settled = cover(Dirty, Written);
  Deterministic &= Settled && Fresh.equal();
  if (!Settled)
    return Failure::none();
  if (Deterministic)
    return learnRepeat();
  Spread.widen(Fresh);
  return learnSpread(Settled);
}

/// Finds out whether the default leaves the same if it runs on what it has left. Others are not
/// tried: their output varies all the same, and a kernel that follows addresses which it has
/// written, such as one that builds a tree, may fail on them.
Failure Verification::learnRepeat() {
  OutputDifference Again;
  bool Stray = false;
  Failure Why = runDefault();
  if (!Why)
    Why = compare(DefaultPlace, Again, Stray);
  Idempotent = !Why && Again.equal() && !Stray;
  return Why;
}

Failure Verification::learnSpread(bool &Settled) {
  for (unsigned Run = 0; Run < SpreadRuns && Settled; ++Run) {
    std::vector<Span> Written;
    OutputDifference Difference;
    Failure Why = Memory.restore(Dirty);
    if (!Why)
      Why = runDefault();
    if (!Why)
      Why = Memory.differenceFromReference(Difference);
    if (!Why)
      Why = Memory.changed(Written);
    if (Why)
      return Why;
    Spread.widen(Difference);
    Settled = cover(Dirty, Written);
  }
  return Failure::none();
}

/// Whether a difference of this size may come from another order of additions.
static bool mayBeRounding(double RelativeF32, double RelativeF64) {
  constexpr double Most = 1e-4;
  return RelativeF32 <= Most || RelativeF64 <= Most;
}

/// Finds out whether the default, of which all runs so far were the same, rounds in another way
/// from run to run: atomic additions to one word, as in attention of HeCBench, often give the same
/// sum. If one of these runs writes elsewhere, too, the replay is given up.
Failure Verification::doubt() {
  MayDoubt = false;
  bool Settled = true;
  if (Failure Why = learnSpread(Settled))
    return Why;
  if (!Settled)
    return Failure("writes-vary");
  Deterministic = Spread.Words == 0 || !mayBeRounding(Spread.RelativeF32, Spread.RelativeF64);
  Idempotent &= Deterministic;
  return Failure::none();
}

/// Runs the default after a measured variant. \p Written is what the variant has changed beyond
/// what the default changes.
Failure Verification::compareBehindDefault(const std::vector<Span> &Written, bool &Stray) {
  std::vector<Span> Left, Known = Dirty;
  Failure Why = runDefault();
  if (!Why)
    Why = Memory.changed(Left);
  if (Why)
    return Why;
  Stray = !cover(Known, Left);
  if (!Stray)
    cover(Dirty, Written);
  return Failure::none();
}

Failure Verification::compare(size_t Variant, OutputDifference &Difference, bool &Stray) {
  std::vector<Span> Written, Known = Dirty;
  Failure Why = Memory.differenceFromReference(Difference);
  if (!Why)
    Why = Memory.changed(Written);
  if (Why)
    return Why;
  Stray = !cover(Known, Written);
  if (!Stray)
    return Failure::none();
  if (Measured.count(Variant))
    Why = compareBehindDefault(Written, Stray);
  return Why ? Why : Memory.restoreAll();
}

static std::string describe(const OutputDifference &D) {
  char Text[128];
  std::snprintf(Text, sizeof Text, "words %llu f32 %.3g f64 %.3g",
                static_cast<unsigned long long>(D.Words), D.RelativeF32, D.RelativeF64);
  return Text;
}

Failure Verification::verify(size_t Variant, const DriverApi &Driver, bool Timed,
                             Judgement &Found) {
  unsigned Passed = 0, Strays = 0;
  auto Wanted = [&] { return Deterministic ? 1 : PassingRuns; };
  bool AllEqual = true;
  for (unsigned Run = 0; Run < (Deterministic ? 1 : VariantRuns) && Passed < Wanted(); ++Run) {
    OutputDifference Difference;
    bool Stray = false;
    if (Failure Why = Memory.restore(Dirty))
      return Why;
    if (CUresult Result = Runs.run(Variant, Timed); Result != CUDA_SUCCESS) {
      Found = {Verdict::Refused, errorName(Driver, Result)};
      return Failure::none();
    }
    if (Failure Why = compare(Variant, Difference, Stray))
      return Why;
    if (MayDoubt && Deterministic && !Stray && !Difference.equal() && !Measured.count(Variant) &&
        mayBeRounding(Difference.RelativeF32, Difference.RelativeF64))
      if (Failure Why = doubt())
        return Why;
    Strays += Stray;
    AllEqual &= Difference.equal();
    if (!Stray && (Difference.equal() || (!Deterministic && Spread.holds(Difference))))
      ++Passed;
    Found.Detail = describe(Difference);
  }
  if (Passed >= Wanted())
    Found.Output = AllEqual ? Verdict::Equal : Verdict::WithinSpread;
  else
    Found.Output = Strays ? Verdict::Stray : Verdict::Differs;
  return Failure::none();
}
