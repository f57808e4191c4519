/// \file
/// Decides which variants the next round of a replay runs, and when there are enough rounds. First
/// come screening rounds of all variants that may still win. Then come rounds of the default, the
/// control and the best two. Only these later rounds tell how fast the best is, because their times
/// had no part in choosing it. It is pure: times go in, orders come out.
#pragma once

#include "Protocol/PlanRecords.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace carve::probe {

/// The rounds of one replay.
class ReplaySchedule {
public:
  enum class Phase { Screen, Confirm, Done };

  /// In the first rounds, a variant leaves if its mean ratio is beyond this multiple of the best
  /// one's, or of the default's if nothing is faster: by so much, one or two runs do not err.
  static constexpr double Reach[] = {1.10, 1.04};
  /// How many may stay after so many rounds, the best by their mean ratios: successive halving
  /// (Jamieson and Talwalkar, AISTATS 2016).
  struct Cut {
    unsigned Rounds;
    size_t Stay;
  };
  static constexpr Cut Cuts[] = {{2, 24}, {4, 12}};
  static constexpr unsigned MaxScreenRounds = 15;
  static constexpr unsigned MaxConfirmRounds = 12;
  /// The limit if the held-out rounds do not show whether the best variant wins.
  static constexpr unsigned MaxUndecidedRounds = 36;

  /// The times of one variant in one round in ns. WarmNs is 0 if it is not measured.
  struct Times {
    double ColdNs = 0, WarmNs = 0;
    double sum() const { return ColdNs + WarmNs; }
  };

  /// Schedules the variants \p Allowed. Number 0 (the default) and 1 (its control copy) always take
  /// part; if there are no others, nothing is scheduled. Variants in \p Measured do not compete;
  /// they are in every round to the end.
  ReplaySchedule(const std::vector<size_t> &Allowed, uint64_t Seed,
                 const std::set<size_t> &Measured = {},
                 LeastRounds Least = PlannedShape().leastRounds());

  Phase phase() const { return Now; }
  /// Returns the number of the round within the phase, from 0.
  unsigned round() const { return Round; }
  /// Returns the variants of the next round, in the order in which they run.
  std::vector<size_t> order();

  /// Takes the times of a round, in the order that order() returned. \p LeftNs is what remains of
  /// the time for this launch; \p RoundNs is the elapsed time of the round. The screening ends
  /// early if it would leave no time for the held-out rounds. If there is no time for the fewest
  /// screening rounds of all, the best go on. Until the fewest rounds are made, \p OverdraftNs more
  /// may be used, because fewer would tell nothing.
  void finish(const std::vector<Times> &Round, double RoundNs, double LeftNs,
              double OverdraftNs = 0);

  /// Returns the variants that may still win, with the default and the control first.
  const std::vector<size_t> &active() const { return Active; }
  /// Returns whether both phases had their minimum of rounds. If not, nothing can be decided from
  /// them.
  bool complete() const { return Complete; }

private:
  bool competes(size_t Variant) const;
  double meanOf(size_t Variant) const;
  void keepBest(size_t Count);
  void giveUpBeyond(double Limit);
  void race();
  void keepWhatHasTime(double PerRunNs, double LeftNs);
  void rejectLosers();
  bool screened(double NextNs, double LeftNs) const;
  unsigned confirmTarget() const;
  void startConfirming();
  /// Returns how many active variants compete, including the default and the control.
  size_t competing() const;

  Phase Now = Phase::Screen;
  unsigned Round = 0;
  bool Complete = false;
  LeastRounds Least;
  std::set<size_t> Measured;
  std::vector<size_t> Active, Order;
  /// The ratios of each variant to the default of the same round.
  std::vector<std::vector<double>> Ratios;
  std::mt19937_64 Random;
};

} // namespace carve::probe
