/// \file
/// Times configurations, each of which is a program of its own: interleaved rounds against the
/// first one, and fresh rounds that confirm the best. It knows nothing of programs or GPUs, so
/// tests feed it by hand.
#pragma once

#include "Spaces/ProgramSearch.h"
#include "Support/ProgressDisplay.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace carve {

/// One run of a configuration.
struct ConfigurationRun {
  double Cost = 0, WallS = 0;
  std::string Fault; ///< Why the run does not count; empty if it does.
};

/// Makes one run. Fails only if timing cannot go on at all.
using RunConfiguration = llvm::function_ref<llvm::Expected<ConfigurationRun>(size_t Place)>;

/// The bounds of timing.
struct TimingLimits {
  unsigned ScreeningRounds = 3;
  /// A configuration takes part in the next round only if its median is within this factor of the
  /// best one's. The last value holds for all further rounds.
  std::vector<double> StayWithin = {1.25, 1.08};
  /// At most so many take part in the next round, since in a space of nearly equal configurations
  /// most would stay. The last value holds for all further rounds.
  std::vector<size_t> StayMost = {24, 12};
  size_t BlockSize = 32; ///< The reference runs once for so many other configurations.
  unsigned Finalists = 3;
  unsigned ConfirmationRounds = 9;
  double WinningRatio = 0.99; ///< The winner's median in the confirmation must be at most this.
  double LeastMargin = 0.003; ///< The upper end of its interval must be below 1 by at least this.
  uint64_t Seed = 1;          ///< Seed for the random order of runs.
};

/// What is to be timed. Places are indices in the vector of times.
struct TimingTask {
  size_t Reference = 0;
  std::vector<size_t> Candidates; ///< May include the reference.
  /// The best of these takes part in the confirmation in any case.
  std::vector<size_t> Favoured;
};

/// The result of timing.
struct TimingVerdict {
  size_t Winner = 0; ///< The reference if no configuration is measurably faster.
  RatioInterval Ratio;
  size_t Timed = 0; ///< Configurations that were run for the first time.
  unsigned Runs = 0;
};

/// Times those candidates that \p Times does not have yet, and adds the results to it. In a round,
/// every configuration and the reference run once, in random order. A large round is divided into
/// blocks, each with a run of the reference. The winner has the least median in confirmation rounds
/// of its own; if these were made already, nothing is run. If a run fails, \p Times has the blocks
/// that were completed before, and another call continues from there. \p Progress is told how many
/// runs are done and how many are expected, as steps of `timing`.
llvm::Expected<TimingVerdict> timeConfigurations(std::vector<ConfigurationTimes> &Times,
                                                 const TimingTask &Task, const TimingLimits &Limits,
                                                 RunConfiguration Run, ProgressDisplay &Progress);

} // namespace carve
