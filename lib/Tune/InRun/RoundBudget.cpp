#include "Tune/InRun/RoundBudget.h"

#include "Protocol/PlanRecords.h"
#include "Search/KernelSearch.h"
#include "Tune/Selection/PairedTimes.h"

#include <algorithm>
#include <iterator>

using namespace carve;

/// The budget of a default tuning: as long as so many plain runs, but at least so many seconds.
static constexpr double BudgetRuns = 8, LeastBudgetS = 20;
/// By effort, the share of it that is used.
static constexpr double EffortShare[] = {0.5, 0.75, 1, 3};
/// The runs of three pairs, which confirm a clear gain, and of two, which may do if time is short.
static constexpr double ConfirmingRuns = 6, HurriedRuns = 2 * HurriedLook.Pairs;
/// After the first round so much of the budget is set aside for three pairs in any case, if they
/// take it. Where runs are short it costs little, and one slow start is a large part of a pair.
static constexpr double ConfirmingShare = 0.15;
/// The share of the budget that is kept for what neither times nor confirms: the last module is
/// assembled, and decisions are stored.
static constexpr double MarginShare = 0.05;
/// The least that the first round may take: so many seconds, or this share of a plain run.
static constexpr double FirstRoundS = 1, FirstRoundShare = 0.5;
/// A later round that may take less than this share of a plain run, which it takes as well, is not
/// worth it.
static constexpr double LeastRoundShare = 0.25;

double RoundBudget::defaultS(double PlainS, unsigned Effort) {
  size_t Place = std::min<size_t>(Effort, std::size(EffortShare) - 1);
  return EffortShare[Place] * std::max(LeastBudgetS, BudgetRuns * PlainS);
}

GainProspect GainProspect::next(double Nominated, double ByModel, double ByRunsNow,
                                bool RunsHaveTime) const {
  // A model that was wrong so far may still be right about something.
  constexpr double LeastCredit = 0.1;
  GainProspect Next;
  Next.ByRuns = RunsHaveTime || Nominated <= 0 ? ByRunsNow : 0;
  Next.InHand = Nominated + Next.ByRuns;
  const double Added = Asked > 0 ? std::max(0.0, Nominated - nominated()) : 0;
  Next.Kept = Kept + Added;
  Next.Idle = Asked > 0 && Added < LeastPromise ? Idle + 1 : 0;
  double Credit = Asked > 0 ? std::clamp(Next.Kept / Asked, LeastCredit, 1.0) : 1;
  Next.Promised = Credit * ByModel;
  Next.Asked = Asked + ByModel;
  Next.Rounds = Rounds + 1;
  return Next;
}

bool GainProspect::favoursSearch() const {
  // Two pairs seldom lose what is in hand, so a promise of several times as much is worth it,
  // although models are often wrong.
  constexpr double Little = 0.01, TimesInHand = 5, Clear = 0.02, WorthARun = 0.005;
  constexpr unsigned MostIdle = 2;
  if (InHand >= Clear && ByRuns < LeastPromise && Promised >= WorthARun && Idle < MostIdle)
    return true;
  return Promised >= LeastPromise && Promised > (InHand < Little ? 1 : TimesInHand) * InHand;
}

bool GainProspect::needsOnePair() const {
  return favoursSearch() && ByOnePair >= GainForOnePair && Promised > InHand - ByOnePair;
}

double RoundBudget::confirmationS(const GainProspect &Prospect) const {
  // Beside three pairs there are the traced run, two rounds with their runs, and as much time again
  // for what these compile and replay.
  constexpr double OtherRuns = 5;
  const bool IsLong = (1 - MarginShare) * BudgetS < (ConfirmingRuns + OtherRuns) * PlainS;
  const bool IsFirst = Prospect.Rounds == 0;
  const double ThreePairsS = ConfirmingRuns * PlainS;
  if (!IsLong && !IsFirst && !Prospect.favoursSearch())
    return ThreePairsS;
  const bool HasNothing = !IsFirst && Prospect.InHand < LeastPromise;
  double Runs = HurriedRuns;
  if (Prospect.needsOnePair())
    Runs = 2 * LoneLook.Pairs;
  else if (HasNothing || Prospect.nominated() >= GainForFewestRuns)
    Runs = FewestRuns;
  const double LeastS = IsFirst ? 0 : std::min(ThreePairsS, ConfirmingShare * BudgetS);
  return std::max(Runs * PlainS, LeastS);
}

/// What is left of the budget without the confirmation, the margin and the plain part of one run.
double RoundBudget::spareS(double SpentS, const GainProspect &Prospect) const {
  return BudgetS - SpentS - MarginShare * BudgetS - confirmationS(Prospect) - PlainS;
}

double RoundBudget::forRound(double SpentS, bool First, const GainProspect &Prospect) const {
  double Spare = spareS(SpentS, Prospect);
  if (!First && Spare < LeastRoundShare * PlainS)
    return 0;
  // One more round would take a plain run out of the other half.
  double Round = std::max(0.0, Spare / 2 > PlainS ? Spare / 2 : Spare);
  return First ? std::max({Round, FirstRoundS, FirstRoundShare * PlainS}) : Round;
}

double RoundBudget::forReplays(double SpentS, bool First, double PlannedS,
                               const GainProspect &Prospect) const {
  return std::max(RoundReplayShare * forRound(SpentS, First, Prospect),
                  std::min(PlannedS, spareS(SpentS, Prospect)));
}

double RoundBudget::forLongReplays(double SpentS, bool First, const GainProspect &Prospect) const {
  double Round = forRound(SpentS, First, Prospect);
  double Spare = spareS(SpentS, Prospect);
  if (First)
    Spare += confirmationS(Prospect) - PlainS;
  return std::max(RoundReplayShare * Round, Spare - RoundCompileShare * Round);
}

double carve::patienceS(double CompileS, double AssemblyS) {
  constexpr double AssemblyShare = 1 - RoundCompileShare - RoundReplayShare;
  return std::max(0.0, CompileS * AssemblyShare / RoundCompileShare - AssemblyS);
}

size_t carve::settingsFor(double CompileS, double AssemblyS) {
  constexpr double Least = 4, Most = 1e6;
  return size_t(AssemblyS > 0 ? std::clamp(CompileS / AssemblyS, Least, Most) : Most);
}

double carve::comparisonS(size_t Variants, double MeanNs, const ReplayCosts &Costs) {
  double Runs = double(Costs.DefaultRuns + Variants * Costs.ComparedRuns);
  return (Costs.SaveNs + Runs * (MeanNs + Costs.CompareNs)) / 1e9;
}

double carve::shortestReplayS(size_t Variants, double MeanNs, const ReplayCosts &Costs) {
  PlannedShape Planned = PlannedShape::ofMean(MeanNs);
  // A round runs a variant cold, and where it is timed warm, the default and the variant again.
  double Runs = double(Planned.leastRuns(Variants)) * (Planned.hasWarmTimes() ? 3 : 1);
  return comparisonS(Variants, MeanNs, Costs) + Runs * (MeanNs + Costs.RestoreNs) / 1e9;
}
