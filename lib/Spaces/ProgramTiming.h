/// \file
/// Timing of configurations, each a program of its own: interleaved rounds against the first one,
/// and fresh rounds that confirm the best. It knows nothing of programs or GPUs.
#pragma once

#include "Spaces/ProgramSearch.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace carve {

/// One run of a configuration.
struct ConfigurationRun {
  double Cost = 0, WallS = 0;
  std::string Fault; ///< Why it does not count.
};

/// Makes a run. Fails only where timing cannot go on at all.
using RunConfiguration = llvm::function_ref<llvm::Expected<ConfigurationRun>(size_t Place)>;

struct TimingLimits {
  unsigned ScreeningRounds = 3;
  /// Whoever's median is above the best one's by more has no place in the next round; the last
  /// value holds for all further rounds.
  std::vector<double> StayWithin = {1.25, 1.08};
  /// So many at most: in spaces where all are much the same, most would stay.
  std::vector<size_t> StayMost = {24, 12};
  size_t BlockSize = 32; ///< The reference runs once for so many others.
  unsigned Finalists = 3;
  unsigned ConfirmationRounds = 9;
  double WinningRatio = 0.99; ///< Median of the confirmation must be at most this,
  double LeastMargin = 0.003; ///< and its interval's upper end below 1 by this.
  uint64_t Seed = 1;
};

/// What is to be timed. Places are those in the vector of times.
struct TimingTask {
  size_t Reference = 0;
  std::vector<size_t> Candidates; ///< The reference may be among them.
  /// Of these the best takes part in the confirmation in any case.
  std::vector<size_t> Favoured;
};

struct TimingVerdict {
  size_t Winner = 0; ///< The reference where nobody is measurably faster.
  RatioInterval Ratio;
  size_t Timed = 0; ///< Configurations that were run for the first time.
  unsigned Runs = 0;
};

/// Times what \p Times does not know yet of the candidates, and adds to it. In a round every
/// configuration runs once, in random order, the reference among them; a large round goes in blocks
/// with a run of the reference in each. The winner is the one of least median in rounds of its own;
/// where these have been made already nothing is run. Where a run fails, \p Times has the blocks
/// that were done before, and another call goes on from there.
llvm::Expected<TimingVerdict>
timeConfigurations(std::vector<ConfigurationTimes> &Times, const TimingTask &Task,
                   const TimingLimits &Limits, RunConfiguration Run,
                   llvm::function_ref<void(unsigned Done, unsigned Expected)> Progress);

} // namespace carve
