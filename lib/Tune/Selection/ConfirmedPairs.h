/// \file
/// The pairs of runs of one confirmation: what the candidates' times and the program's were in
/// them.
#pragma once

#include "Tune/Selection/PairedTimes.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace carve {

/// The times of one pair: a run with all candidates in place, and a run of the defaults. GPU times
/// are in ns.
struct ConfirmedPair {
  bool SharesDefault = false;         ///< The run of the defaults is that of the pair before.
  bool IsTraced = false;              ///< The run of the defaults is the traced one.
  std::vector<double> Tuned, Default; ///< GPU time of each subject.
  bool WithControl = false;           ///< Whether the defaults were their control copies.
  double ProgramTuned = 0, ProgramDefault = 0;
  double WallTuned = 0, WallDefault = 0; ///< In seconds.
  double SpanTuned = 0, SpanDefault = 0; ///< RunSample::SpanNs; 0 if not known.

  /// Whether subject \p S was launched in both runs.
  bool has(size_t S) const { return Tuned[S] > 0 && Default[S] > 0; }
  bool hasSpans() const { return SpanTuned > 0 && SpanDefault > 0; }
};

/// The pairs of one confirmation.
class ConfirmedPairs {
public:
  /// Forgets all pairs but the kept one if it is of \p Tried. In those to come the subjects \p
  /// Tried run their candidates.
  void begin(llvm::ArrayRef<size_t> Tried);
  /// Keeps \p Pair, in which only the subjects \p Of ran their candidates because others had caused
  /// a fault, for a confirmation of \p Of.
  void keep(ConfirmedPair Pair, std::vector<size_t> Of);
  /// Whether there is a kept pair of the subjects \p Tried.
  bool keptOf(llvm::ArrayRef<size_t> Tried) const { return Kept && Tried.equals(KeptOf); }
  void add(ConfirmedPair Pair) { Pairs.push_back(std::move(Pair)); }
  size_t size() const { return Pairs.size(); }
  /// The last pair; there must be one.
  const ConfirmedPair &last() const { return Pairs.back(); }

  /// The times of subject \p S in the pairs that launched it, after the times \p Earlier. With a
  /// single pair, each of the latter makes a pair of its own (PairedTimes::withEarlierDefaults()),
  /// so there are more times than size(). If the pairs have the traced run of the default, it is
  /// not an earlier one.
  PairedTimes timesOf(size_t S, std::vector<double> Earlier) const;
  /// The program's times with the candidates of \p Standing only: for any other subject that ran
  /// its candidate, the time of its default is counted. With a single pair as timesOf().
  PairedTimes programTimes(llvm::ArrayRef<size_t> Standing, std::vector<double> Earlier) const;
  /// The wall times of all runs, with all that were tried. Those of earlier runs are not known.
  PairedTimes wallTimes() const {
    return timesIn(&ConfirmedPair::WallTuned, &ConfirmedPair::WallDefault);
  }
  /// The same of the spans of all kernels. Nothing if that of some run is not known.
  std::optional<PairedTimes> spans() const;
  /// |median time with the control copy / median time with the default - 1| of subject \p S. It is
  /// 0 if \p S was not launched in runs of both kinds.
  double controlDistance(size_t S) const;
  /// The program's ratio if each subject of \p Standing has the ratio at its place in \p Ratios:
  /// the median over the pairs.
  double programRatio(llvm::ArrayRef<size_t> Standing, llvm::ArrayRef<double> Ratios) const;

private:
  PairedTimes withEarlier(PairedTimes Times) const;
  PairedTimes timesIn(double ConfirmedPair::*Tuned, double ConfirmedPair::*Default) const;

  std::vector<ConfirmedPair> Pairs;
  std::vector<size_t> Tried;
  std::optional<ConfirmedPair> Kept;
  std::vector<size_t> KeptOf; ///< Ascending.
};

} // namespace carve
