/// \file
/// Makes the pairs of runs of a confirmation: each compares a run with all candidates with a run of
/// the defaults.
#pragma once

#include "Tune/Selection/ConfirmedPairs.h"
#include "Tune/Selection/SelectionRuns.h"

#include <optional>

namespace carve {

/// Makes one pair with the candidates of the subjects \p Standing and adds it to \p Pairs, which
/// has those before. The order of the two runs alternates, and every second default run has the
/// control copies in place. The first run is the untouched program's, because its output shows
/// which lines change by themselves.
///
/// If there is \p Before, a pair whose run of the default is used again, only the candidates run.
///
/// Returns false, and adds no pair, if a run has a fault. If the candidates were then right without
/// those that had caused it, that run makes a pair which \p Pairs keeps. Fails if the tuning was
/// interrupted.
llvm::Expected<bool> makePair(SelectionRuns &Runs, const std::vector<size_t> &Standing,
                              const std::optional<ConfirmedPair> &Before, ConfirmedPairs &Pairs);

} // namespace carve
