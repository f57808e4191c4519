#include "Tune/Job/GuardHolds.h"

#include "Search/VariantEdit.h"

#include <algorithm>

using namespace carve;

using Match = KernelArguments::Match;

/// Returns at which launches of \p Kernel with the shape \p Shape all of \p Values were passed.
static Match argumentMatch(const std::vector<ArgumentValue> &Values, const TracedKernel &Kernel,
                           const LaunchShape &Shape) {
  Match All = Match::Always;
  for (const ArgumentValue &Value : Values)
    All =
        std::min(All, Kernel.Arguments ? Kernel.Arguments->match(Value, Shape) : Match::Sometimes);
  return All;
}

/// Returns at which launches of \p Kernel the addresses that \p Guard names are apart.
static Match pointerMatch(const EntryGuard &Guard, const TracedKernel &Kernel) {
  if (Guard.Apart.empty())
    return Match::Always;
  return Kernel.Arguments ? Kernel.Arguments->apart(Guard.Apart) : Match::Sometimes;
}

/// Returns at which launches of the shape of \p L the guard \p Guard lets the dimensions through.
/// Launches of very many shapes have none in common in the trace: their grid is 0.
static Match dimensionMatch(const EntryGuard &Guard, const KernelLaunches &L) {
  if (L.Shape.threadsPerBlock() > Guard.mostThreads() ||
      (Guard.Block && *Guard.Block != L.Shape.Block))
    return Match::Never;
  if (!Guard.Grid || *Guard.Grid == L.Shape.Grid)
    return Match::Always;
  return L.Shape.Grid[0] == 0 ? Match::Sometimes : Match::Never;
}

/// Returns at which launches of \p Kernel with the shape of \p L the guard \p Guard holds.
static Match guardMatch(const EntryGuard &Guard, const TracedKernel &Kernel,
                        const KernelLaunches &L) {
  return std::min({argumentMatch(Guard.Arguments, Kernel, L.Shape), dimensionMatch(Guard, L),
                   pointerMatch(Guard, Kernel)});
}

bool carve::mayTakeEntry(const KernelLaunches &L) {
  return !L.Cooperative && !L.Shape.hasCluster() &&
         L.Shape.DynamicSmemBytes + L.StaticSmemBytes <= SmemSpillingLimitBytes;
}

GuardHold carve::holdOf(const EntryGuard &Guard, const TracedKernel &Kernel) {
  GuardHold Hold;
  double Ns = 0, HeldNs = 0;
  bool Counted = Kernel.GraphLaunches == 0;
  for (const KernelLaunches &L : Kernel.Shapes) {
    Hold.Launches += L.Launches;
    Ns += double(L.TotalNs);
    Match All = mayTakeEntry(L) ? guardMatch(Guard, Kernel, L) : Match::Never;
    if (All == Match::Never)
      continue;
    Counted &= All == Match::Always;
    Hold.Held += L.Launches;
    HeldNs += double(L.TotalNs);
  }
  Hold.Held = std::min(Hold.Held, Hold.Launches - std::min(Hold.Launches, Kernel.GraphLaunches));
  Hold.Share = Ns > 0 && Hold.Held > 0 ? HeldNs / Ns : 0;
  Hold.AtMost = Hold.Held > 0 && !Counted;
  return Hold;
}

std::optional<size_t> carve::entryOf(llvm::ArrayRef<EntryGuard> Guards, const TracedKernel &Kernel,
                                     const KernelLaunches &L) {
  for (size_t G = 0; G < Guards.size(); ++G) {
    Match Holds = guardMatch(Guards[G], Kernel, L);
    if (Holds == Match::Sometimes)
      return std::nullopt;
    if (Holds == Match::Always)
      return G;
  }
  return std::nullopt;
}
