/// \file
/// Which variants the next round of a replay runs, and when it has seen enough: screening rounds
/// of all variants that may still win, then rounds held out from that choice of the default, the
/// control and the best two. Pure: times in, orders out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace carve::probe {

class ReplaySchedule {
public:
  enum class Phase { Screen, Confirm, Done };

  static constexpr unsigned MinScreenRounds = 3;
  static constexpr unsigned MaxScreenRounds = 15;
  static constexpr unsigned MinConfirmRounds = 5;
  static constexpr unsigned MaxConfirmRounds = 12;
  /// Where the held-out rounds do not tell whether the best wins.
  static constexpr unsigned MaxUndecidedRounds = 36;

  /// Times of one variant in one round, ns. WarmNs is 0 where it is not taken.
  struct Times {
    double ColdNs = 0, WarmNs = 0;
    double sum() const { return ColdNs + WarmNs; }
  };

  /// Of the variants \p Allowed. 0, the default, and 1, its control, are always in; without any
  /// other there is nothing to do.
  /// Those in \p Measured compete with nothing: they are in every round to the end.
  ReplaySchedule(const std::vector<size_t> &Allowed, uint64_t Seed,
                 const std::set<size_t> &Measured = {});

  Phase phase() const { return Now; }
  /// Within the phase, from 0.
  unsigned round() const { return Round; }
  /// The variants of the next round, in the order of their runs.
  std::vector<size_t> order();

  /// The round's times, in the order that order() gave. \p LeftNs is what remains of the time for
  /// this launch, \p RoundNs what the round took by the clock: the screening ends early where it
  /// would leave no time for the held-out rounds.
  void finish(const std::vector<Times> &Round, double RoundNs, double LeftNs);

  /// Variants that may still win, the default and the control first.
  const std::vector<size_t> &active() const { return Active; }
  /// Whether both phases had their least rounds: otherwise nothing can be decided from them.
  bool complete() const { return Complete; }

private:
  void rejectLosers();
  bool screened(double RoundNs, double LeftNs) const;
  unsigned confirmTarget() const;
  void startConfirming();
  /// Of those that compete, the references included.
  size_t competing() const;

  Phase Now = Phase::Screen;
  unsigned Round = 0;
  bool Complete = false;
  std::set<size_t> Measured;
  std::vector<size_t> Active, Order;
  std::vector<std::vector<double>> Ratios; ///< By variant: to the default of the same round.
  std::mt19937_64 Random;
};

} // namespace carve::probe
