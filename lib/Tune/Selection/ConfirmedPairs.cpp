#include "Tune/Selection/ConfirmedPairs.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace carve;

void ConfirmedPairs::begin(llvm::ArrayRef<size_t> Candidates) {
  Pairs.clear();
  Tried = Candidates.vec();
  if (keptOf(Tried))
    Pairs.push_back(std::move(*Kept));
  Kept.reset();
}

void ConfirmedPairs::keep(ConfirmedPair Pair, std::vector<size_t> Of) {
  Pair.SharesDefault = false; // The pair before it is not one of its confirmation.
  Kept = std::move(Pair);
  KeptOf = std::move(Of);
}

PairedTimes ConfirmedPairs::withEarlier(PairedTimes Times) const {
  if (!Pairs.empty() && Pairs.front().IsTraced)
    Times.Earlier.clear();
  else if (Pairs.size() == 1 && Times.count() == 1)
    return Times.withEarlierDefaults();
  return Times;
}

PairedTimes ConfirmedPairs::timesOf(size_t S, std::vector<double> Earlier) const {
  PairedTimes Times;
  Times.Earlier = std::move(Earlier);
  for (const ConfirmedPair &P : Pairs)
    if (P.has(S))
      Times.add(P.Tuned[S], P.Default[S], P.SharesDefault);
  return withEarlier(std::move(Times));
}

PairedTimes ConfirmedPairs::programTimes(llvm::ArrayRef<size_t> Standing,
                                         std::vector<double> Earlier) const {
  PairedTimes Times;
  Times.Earlier = std::move(Earlier);
  for (const ConfirmedPair &P : Pairs) {
    double Tuned = P.ProgramTuned;
    for (size_t S : Tried)
      if (!llvm::is_contained(Standing, S))
        Tuned += P.Default[S] - P.Tuned[S];
    Times.add(Tuned, P.ProgramDefault, P.SharesDefault);
  }
  return withEarlier(std::move(Times));
}

PairedTimes ConfirmedPairs::timesIn(double ConfirmedPair::*Tuned,
                                    double ConfirmedPair::*Default) const {
  PairedTimes Times;
  for (const ConfirmedPair &P : Pairs)
    Times.add(P.*Tuned, P.*Default, P.SharesDefault);
  return Times;
}

std::optional<PairedTimes> ConfirmedPairs::spans() const {
  if (llvm::any_of(Pairs, [](const ConfirmedPair &P) { return !P.hasSpans(); }))
    return std::nullopt;
  return timesIn(&ConfirmedPair::SpanTuned, &ConfirmedPair::SpanDefault);
}

double ConfirmedPairs::controlDistance(size_t S) const {
  std::vector<double> Control, Untouched;
  for (const ConfirmedPair &P : Pairs)
    if (P.has(S))
      (P.WithControl ? Control : Untouched).push_back(P.Default[S]);
  if (Control.empty() || Untouched.empty())
    return 0;
  return std::abs(median(Control) / median(Untouched) - 1);
}

double ConfirmedPairs::programRatio(llvm::ArrayRef<size_t> Standing,
                                    llvm::ArrayRef<double> Ratios) const {
  std::vector<double> All;
  for (const ConfirmedPair &P : Pairs) {
    double Ns = P.ProgramDefault;
    for (auto [S, Ratio] : llvm::zip_equal(Standing, Ratios))
      Ns -= P.Default[S] * (1 - Ratio);
    All.push_back(Ns / P.ProgramDefault);
  }
  return median(All);
}
