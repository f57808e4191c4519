#include "Probe/Replay/ReplaySchedule.h"

#include "Probe/Replay/Rotation.h"
#include "Protocol/OrderStatistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

using namespace carve::probe;

/// The number of the default and the control, which no screening removes.
static constexpr size_t References = 2;
/// The confidence of the interval by which a variant is given up. A variant that is wrongly given
/// up costs a possible gain and nothing else.
static constexpr double Confidence = 0.95;
/// Ratios to the default. The median of a winner is below LeastWin. A variant whose interval ends
/// below SureWin wins, however much the distance of the control copy takes off.
static constexpr double LeastWin = 0.99, SureWin = 0.97;
/// If the control copy's median ratio is further from 1 than this, more rounds are needed.
static constexpr double MostControlDistance = 0.01;

ReplaySchedule::ReplaySchedule(const std::vector<size_t> &Allowed, uint64_t Seed,
                               const std::set<size_t> &Measured, LeastRounds Least)
    : Least(Least), Measured(Measured), Random(Seed) {
  Active = {0, 1};
  size_t Last = 1;
  for (size_t V : Allowed)
    if (V >= References) {
      Active.push_back(V);
      Last = std::max(Last, V);
    }
  Ratios.resize(Last + 1);
  if (Active.size() == References)
    Now = Phase::Done;
}

std::vector<size_t> ReplaySchedule::order() {
  Order = Active;
  permute(Order, Random);
  return Order;
}

void ReplaySchedule::finish(const std::vector<Times> &Taken, double RoundNs, double LeftNs,
                            double OverdraftNs) {
  double Default = 0;
  for (size_t I = 0; I < Order.size(); ++I)
    if (Order[I] == 0)
      Default = Taken[I].sum();
  // A time of 0 is below the resolution of the clock, and every round must give a ratio.
  Default = std::max(Default, 1.0);
  for (size_t I = 0; I < Order.size(); ++I)
    Ratios[Order[I]].push_back(Taken[I].sum() / Default);
  ++Round;
  if (Now == Phase::Confirm) {
    Complete = Round >= Least.HeldOut;
    if (Round >= confirmTarget() || LeftNs + (Complete ? 0 : OverdraftNs) < RoundNs)
      Now = Phase::Done;
    return;
  }
  const double PerRunNs = RoundNs / double(Order.size());
  race();
  keepWhatHasTime(PerRunNs, LeftNs);
  if (Round >= Least.Choosing)
    rejectLosers();
  double NextNs = PerRunNs * double(Active.size());
  if (Round >= Least.Choosing && screened(NextNs, LeftNs)) {
    startConfirming();
  } else if (LeftNs + OverdraftNs < NextNs) {
    Now = Phase::Done;
  }
}

namespace {
struct Interval {
  double Low = 1, High = 1;
};
} // namespace

static Interval intervalOf(std::vector<double> Values) {
  std::sort(Values.begin(), Values.end());
  size_t Trim = carve::orderStatisticTrim(Values.size(), Confidence);
  return {Values[Trim], Values[Values.size() - 1 - Trim]};
}

bool ReplaySchedule::competes(size_t Variant) const {
  return Variant >= References && !Measured.count(Variant);
}

double ReplaySchedule::meanOf(size_t Variant) const {
  const std::vector<double> &R = Ratios[Variant];
  return std::accumulate(R.begin(), R.end(), 0.0) / double(R.size());
}

/// Gives up all but the best \p Count of the variants that compete, and those that are as good as
/// the last of these.
void ReplaySchedule::keepBest(size_t Count) {
  std::vector<double> Means;
  for (size_t V : Active)
    if (competes(V))
      Means.push_back(meanOf(V));
  if (Means.size() <= Count)
    return;
  std::nth_element(Means.begin(), Means.begin() + Count - 1, Means.end());
  giveUpBeyond(Means[Count - 1]);
}

void ReplaySchedule::giveUpBeyond(double Limit) {
  std::erase_if(Active, [&](size_t V) { return competes(V) && meanOf(V) > Limit; });
}

/// Gives up what the rounds so far show to be out of reach of the best, so that hundreds of
/// variants take little more than one round.
void ReplaySchedule::race() {
  double Best = 1;
  for (size_t V : Active)
    if (competes(V))
      Best = std::min(Best, meanOf(V));
  if (Round <= std::size(Reach))
    giveUpBeyond(Best * Reach[Round - 1]);
  for (const Cut &C : Cuts)
    if (Round >= C.Rounds)
      keepBest(C.Stay);
}

/// Gives up what the fewest rounds have no time for, where each run takes \p PerRunNs: behind the
/// first round, only so many variants were reckoned with (LeastRounds::WithinReach).
void ReplaySchedule::keepWhatHasTime(double PerRunNs, double LeftNs) {
  if (Round >= Least.Choosing)
    return;
  const double HeldOut = double(Least.HeldOut) * (References + Least.Finalists);
  const double Runs = std::max(0.0, LeftNs / std::max(PerRunNs, 1.0) - HeldOut);
  // The rounds behind the next one have no more variants than it has, nor than the first cut
  // leaves.
  const double Behind = Least.Choosing - Round - 1, Stay = double(Cuts[0].Stay);
  const double Always = double(References + Measured.size());
  double Most = Runs / (Behind + 1) - Always;
  if (Most > Stay)
    Most = Runs - Behind * (Stay + Always) - Always;
  keepBest(size_t(std::clamp(Most, double(Least.WithinReach - References), 1e6)));
}

void ReplaySchedule::rejectLosers() {
  double Bound = 1;
  double Best = 1;
  for (size_t V : Active)
    if (V != 0 && !Measured.count(V) && !Ratios[V].empty() && median(Ratios[V]) < Best) {
      Best = median(Ratios[V]);
      Bound = intervalOf(Ratios[V]).High;
    }
  // If the best variant is not surely faster than the default, that is no reason to keep variants
  // that are slower than the default.
  Bound = std::min(Bound, 1.0);
  std::erase_if(Active, [&](size_t V) {
    return competes(V) && !Ratios[V].empty() && intervalOf(Ratios[V]).Low > Bound;
  });
}

size_t ReplaySchedule::competing() const {
  return std::count_if(Active.begin(), Active.end(), [&](size_t V) { return !Measured.count(V); });
}

/// If no more variants are left than the held-out rounds have, there is nothing to choose. More
/// rounds must leave time for the held-out ones.
bool ReplaySchedule::screened(double NextNs, double LeftNs) const {
  if (competing() <= References + Least.Finalists || Round >= MaxScreenRounds)
    return true;
  double PerRun = NextNs / double(Active.size());
  return LeftNs - NextNs < PerRun * double(References + Least.Finalists) * MaxConfirmRounds;
}

/// If nothing is faster than the default, the rounds show how far two identical copies differ.
/// Otherwise they go on while the interval of the best variant contains the ratio that a winner
/// needs, or while the two copies differ too much to tell a gain.
unsigned ReplaySchedule::confirmTarget() const {
  if (Active.size() == References)
    return Least.HeldOut;
  if (Round < MaxConfirmRounds)
    return MaxConfirmRounds;
  if (std::abs(median(Ratios[1]) - 1) > MostControlDistance)
    return MaxUndecidedRounds;
  for (size_t I = References; I < Active.size(); ++I) {
    Interval R = intervalOf(Ratios[Active[I]]);
    if (!Measured.count(Active[I]) && R.Low < LeastWin && R.High > SureWin)
      return MaxUndecidedRounds;
  }
  return MaxConfirmRounds;
}

void ReplaySchedule::startConfirming() {
  std::stable_sort(Active.begin() + References, Active.end(),
                   [&](size_t A, size_t B) { return median(Ratios[A]) < median(Ratios[B]); });
  size_t Taken = 0;
  std::erase_if(Active, [&](size_t V) { return competes(V) && ++Taken > Least.Finalists; });
  Now = Phase::Confirm;
  Round = 0;
  for (std::vector<double> &R : Ratios)
    R.clear();
}
