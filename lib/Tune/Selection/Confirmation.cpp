// The runs of screening do not count again, because the best of many variants is partly the
// luckiest.

#include "Tune/Selection/Confirmation.h"

#include "Tune/Selection/ConfirmationPair.h"
#include "Tune/Selection/ConfirmedSum.h"
#include "Tune/Selection/HurriedConfirmation.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <optional>
#include <utility>

using namespace carve;

namespace {

/// The probability that all winners are lost because the wall time seems to have grown by chance.
constexpr double WallLevel = 0.005;

/// A single pair speaks against the winners if its wall time and span have grown by this factor.
/// Smaller growth is often chance on a host with other work: the start of a process alone takes
/// from half to twice as long, and so may what the host does between two launches.
constexpr double LoneGrowth = 1.2;

/// So many pairs are made at most because the wall time alone is against the winners.
constexpr unsigned MorePairsForWallTime = 4;

class Confirmation {
public:
  explicit Confirmation(SelectionRuns &Runs)
      : Runs(Runs), Subjects(Runs.Subjects), Limits(Runs.Limits), Outcome(Runs.Outcome),
        Sum(Pairs, Subjects, Limits, Outcome.Subjects),
        Haste(Subjects, Limits, Pairs, Sum, Outcome) {}

  llvm::Error confirmAll();

private:
  llvm::Expected<bool> confirm(std::vector<size_t> &Standing);
  bool mayConfirmAgain() const { return !limitReached(leastPairs(Subjects)); }
  std::optional<ConfirmedPair> defaultToShare(llvm::ArrayRef<size_t> Standing) const;
  llvm::Expected<bool> addPairs(std::vector<size_t> &Standing, unsigned Target);
  bool mayBegin(std::vector<size_t> &Standing);
  void dropFaulty(std::vector<size_t> &Standing);
  void dropAll(std::vector<size_t> &Standing, const std::string &Reason);
  bool look(std::vector<size_t> &Standing, const ConfirmationLook &Look);
  PairedVerdict judge(size_t S, double Level);
  bool timeForPairs(unsigned More) const;
  std::optional<ConfirmationEnd> limitReached(unsigned MorePairs) const;
  void giveUp(size_t S, ConfirmationEnd Limit);
  void giveUpAll(std::vector<size_t> &Standing, const std::vector<size_t> &Open,
                 ConfirmationEnd Limit);
  void giveUpAll(std::vector<size_t> &Standing, ConfirmationEnd Limit) {
    giveUpAll(Standing, std::vector(Standing), Limit);
  }
  bool winsInHaste(std::vector<size_t> &Standing);
  std::vector<size_t> provenInHaste(llvm::ArrayRef<size_t> Standing);
  bool winsByLastPairs(std::vector<size_t> &Standing);
  PairedTimes timesOf(size_t S) const { return Pairs.timesOf(S, Subjects[S].EarlierNs); }
  double highBound(size_t S) const { return Limits.highBound(Outcome.Subjects[S].ControlDistance); }
  void compareProgram(llvm::ArrayRef<size_t> Standing);
  bool isSlowerInWallTime() const;
  bool isEachRunSlower() const;
  llvm::Error judgeProgram(std::vector<size_t> &Standing);

  SelectionRuns &Runs;
  const std::vector<SubjectSpace> &Subjects;
  const SelectionLimits &Limits;
  SelectionOutcome &Outcome;

  ConfirmedPairs Pairs; ///< Of the current confirmation.
  ConfirmedSum Sum;     ///< Of these pairs.
  HurriedConfirmation Haste;
  bool Began = false;   ///< Whether a confirmation was begun.
  double LastLevel = 0; ///< The level of the last look.
  bool InHaste = false; ///< Whether some have won by what HurriedConfirmation tells.
};

/// Judges subject \p S by the pairs so far, and gives it a reason if it loses.
PairedVerdict Confirmation::judge(size_t S, double Level) {
  SubjectOutcome &O = Outcome.Subjects[S];
  PairedTimes Times = timesOf(S);
  if (Times.count() < ConfirmationLooks[0].Pairs) {
    O.Reason = "it was not launched in every run";
    return PairedVerdict::Loses;
  }
  O.Ratio = pairedInterval(Times, Level);
  O.Pairs = Times.count();
  O.ControlDistance = Pairs.controlDistance(S);
  PairedVerdict Verdict =
      judgePairs(Times, Level, {Limits.WinningRatio, highBound(S), 1 - Limits.LeastMargin},
                 Limits.MaxConfirmationPairs);
  if (Verdict != PairedVerdict::Loses)
    return Verdict;
  if (O.Ratio.Median > Limits.WinningRatio)
    O.Reason = numbersText("not confirmed: %.4f of the default's time, needed at most %.3f",
                           O.Ratio.Median, Limits.WinningRatio);
  else
    O.Reason = numbersText("not confirmed: %.4f of the default's time, which varies too much for "
                           "%.0f pairs of runs",
                           O.Ratio.Median, Limits.MaxConfirmationPairs);
  return Verdict;
}

/// Gives subject \p S, which is undecided at the \p Limit, a reason.
void Confirmation::giveUp(size_t S, ConfirmationEnd Limit) {
  SubjectOutcome &O = Outcome.Subjects[S];
  if (Limit == ConfirmationEnd::Budget)
    O.Reason = BudgetReason;
  else if (O.Ratio.Median > Limits.WinningRatio)
    O.Reason = numbersText("not confirmed: %.4f of the default's time, needed at most %.3f",
                           O.Ratio.Median, Limits.WinningRatio);
  else
    O.Reason = numbersText("not confirmed: %.4f of the default's time, upper end %.4f, needed "
                           "below %.4f",
                           O.Ratio.Median, O.Ratio.High, highBound(S));
}

/// The subjects of \p Standing that are not among \p Winners.
std::vector<size_t> without(llvm::ArrayRef<size_t> Winners, const std::vector<size_t> &Standing) {
  std::vector<size_t> Others;
  llvm::copy_if(Standing, std::back_inserter(Others),
                [&](size_t S) { return !llvm::is_contained(Winners, S); });
  return Others;
}

/// Looks at the pairs so far if there is no time for more (HurriedConfirmation). Returns whether
/// those of \p Standing that are sure have won, and gives up the others; if not, nothing is
/// decided.
bool Confirmation::winsInHaste(std::vector<size_t> &Standing) {
  if (Haste.isLone() ? Limits.EarlierProgramNs.empty()
                     : !Pairs.last().SharesDefault && timeForPairs(1))
    return false;
  const HurriedWinners Winners = Haste.winners(Standing);
  if (Winners.Subjects.empty())
    return false;
  Outcome.End = ConfirmationEnd::Decided;
  if (std::vector<size_t> Open = without(Winners.Subjects, Standing); !Open.empty())
    giveUpAll(Standing, Open, ConfirmationEnd::Budget);
  if (Winners.BySum)
    Outcome.End = ConfirmationEnd::Sum;
  LastLevel = Haste.look().Level;
  InHaste = true;
  return true;
}

/// Those of \p Standing that two pairs or more prove in haste.
std::vector<size_t> Confirmation::provenInHaste(llvm::ArrayRef<size_t> Standing) {
  std::vector<size_t> Winners = Haste.proven(Standing);
  InHaste |= !Winners.empty();
  return Winners;
}

/// Decides about \p Standing if there is no time to confirm it. In the last pairs, others ran their
/// candidates too, and were dropped after that. A subject wins if its own times in these pairs
/// prove that it is faster; all others are given up. A single pair proves nothing here: the next
/// one had a fault. Returns whether some have won.
bool Confirmation::winsByLastPairs(std::vector<size_t> &Standing) {
  std::vector<size_t> Winners;
  if (Pairs.size() >= HurriedLook.Pairs)
    Winners = provenInHaste(Standing);
  LastLevel = HurriedLook.Level;
  giveUpAll(Standing, without(Winners, Standing), ConfirmationEnd::Budget);
  return !Standing.empty();
}

/// Whether there is time for \p More pairs. Where two have been made, they may decide, so that the
/// budget is only spent on others if these will surely end in time.
bool Confirmation::timeForPairs(unsigned More) const {
  return Pairs.size() < HurriedLook.Pairs ? Runs.timeFor(2 * More) : Runs.surelyTimeFor(2 * More);
}

/// Why \p MorePairs cannot be made, if something prevents it.
std::optional<ConfirmationEnd> Confirmation::limitReached(unsigned MorePairs) const {
  if (!timeForPairs(MorePairs))
    return ConfirmationEnd::Budget;
  if (!Runs.mayRun(2 * MorePairs))
    return ConfirmationEnd::RunLimit;
  return std::nullopt;
}

/// Gives up the subjects \p Open of \p Standing, which are undecided at the \p Limit.
void Confirmation::giveUpAll(std::vector<size_t> &Standing, const std::vector<size_t> &Open,
                             ConfirmationEnd Limit) {
  Outcome.End = Limit;
  Outcome.OutOfTime |= Limit == ConfirmationEnd::Budget;
  Outcome.OutOfRuns |= Limit == ConfirmationEnd::RunLimit;
  for (size_t S : Open)
    giveUp(S, Limit);
  llvm::erase_if(Standing, [&](size_t S) { return llvm::is_contained(Open, S); });
}

/// Looks at the pairs so far. Removes from \p Standing the subjects that cannot win any more, and
/// at a limit also those that have not won. Returns whether all that remain have won.
bool Confirmation::look(std::vector<size_t> &Standing, const ConfirmationLook &Look) {
  std::vector<size_t> Open;
  size_t Before = Standing.size();
  llvm::erase_if(Standing, [&](size_t S) {
    PairedVerdict Verdict = judge(S, Look.Level);
    if (Verdict == PairedVerdict::Open)
      Open.push_back(S);
    return Verdict == PairedVerdict::Loses;
  });
  LastLevel = Look.Level;
  Outcome.End = ConfirmationEnd::Decided;
  if (Open.empty())
    return true;
  bool SomeLost = Standing.size() != Before;
  if (!SomeLost && Sum.isConfirmed(Standing, Open, Look.Level)) {
    Outcome.End = ConfirmationEnd::Sum;
    return true;
  }
  // Where some have lost, the others are confirmed again without them.
  std::optional<ConfirmationEnd> Limit = limitReached(SomeLost ? leastPairs(Subjects) : 1);
  if (!Limit && !SomeLost && Pairs.size() >= Limits.MaxConfirmationPairs)
    Limit = ConfirmationEnd::PairLimit;
  if (!Limit)
    return false;
  // The hurried look comes late then.
  if (*Limit == ConfirmationEnd::Budget)
    Open = without(provenInHaste(Open), Open);
  giveUpAll(Standing, Open, *Limit);
  return true;
}

/// Removes the subjects whose candidate caused a fault from \p Standing. If none of them did, all
/// are removed, because the runs themselves cannot be trusted.
void Confirmation::dropFaulty(std::vector<size_t> &Standing) {
  Outcome.End = ConfirmationEnd::Fault;
  size_t Count = Standing.size();
  llvm::erase_if(Standing, [&](size_t S) {
    SubjectOutcome &O = Outcome.Subjects[S];
    const std::optional<std::string> &Fault = O.Screened[O.Candidate - FirstPlace].Fault;
    if (Fault)
      O.Reason = "its variant was rejected: " + *Fault;
    return Fault.has_value();
  });
  if (Standing.size() == Count)
    dropAll(Standing, Runs.Unexplained.empty()
                          ? "the runs were not sound: the output changes by itself"
                          : "the budget left no time to find which variant caused a fault: " +
                                Runs.Unexplained);
}

void Confirmation::dropAll(std::vector<size_t> &Standing, const std::string &Reason) {
  for (size_t S : Standing)
    Outcome.Subjects[S].Reason = Reason;
  Standing.clear();
}

/// The pair whose run of the default the next one uses again if there is no time for two runs: the
/// one before it, or the traced run if one run of the candidates may do.
std::optional<ConfirmedPair> Confirmation::defaultToShare(llvm::ArrayRef<size_t> Standing) const {
  if (Pairs.size() >= HurriedLook.Pairs || timeForPairs(1))
    return std::nullopt;
  if (Pairs.size() > 0)
    return Pairs.last();
  if (!Haste.ableByOneRun(Standing).empty())
    return Haste.tracedDefault();
  return std::nullopt;
}

/// Adds pairs up to \p Target, or fewer if there is no time for more than those of the hurried or
/// the lone look, or if another limit is reached and the least number is made. Returns false if a
/// subject had to be removed from \p Standing.
llvm::Expected<bool> Confirmation::addPairs(std::vector<size_t> &Standing, unsigned Target) {
  while (Pairs.size() < Target) {
    if (Pairs.size() >= HurriedLook.Pairs && !timeForPairs(1))
      return true;
    std::optional<ConfirmedPair> Before = defaultToShare(Standing);
    if (Before && Pairs.size() > 0 && !Runs.timeFor(1))
      return true;
    if (Pairs.size() >= leastPairs(Subjects) && limitReached(1))
      return true;
    if (!Runs.mayRun(Before ? 1 : 2)) {
      Outcome.OutOfRuns = true;
      Outcome.End = ConfirmationEnd::RunLimit;
      dropAll(Standing, "not confirmed within " + std::to_string(Limits.MaxRuns) + " runs");
      return false;
    }
    llvm::Expected<bool> Sound = makePair(Runs, Standing, Before, Pairs);
    if (!Sound)
      return Sound.takeError();
    if (*Sound)
      continue;
    dropFaulty(Standing);
    return false;
  }
  return true;
}

/// Whether there is time for a confirmation of \p Standing. The first one begins if there is time
/// for one pair, because what a run takes is only estimated before it, or for one run if that may
/// do: then those that it cannot confirm are given up, so that they cause no fault in it. One that
/// is made again needs time for two pairs: otherwise the pairs that there are tell more. If these
/// are fewer than two, a kept pair may begin it.
bool Confirmation::mayBegin(std::vector<size_t> &Standing) {
  if (!std::exchange(Began, true)) {
    if (Runs.timeFor(2))
      return true;
    if (!Runs.timeFor(1))
      return false;
    giveUpAll(Standing, without(Haste.ableByOneRun(Standing), Standing), ConfirmationEnd::Budget);
    return !Standing.empty();
  }
  return Runs.timeFor(2 * HurriedLook.Pairs) ||
         (Pairs.size() < HurriedLook.Pairs && Pairs.keptOf(Standing));
}

/// Confirms the candidates of \p Standing on fresh pairs. Returns whether those that are left in \p
/// Standing have won, and need not be confirmed again: the times belong to all that were confirmed
/// together, so if some have lost, the others are confirmed without them as long as there is time.
llvm::Expected<bool> Confirmation::confirm(std::vector<size_t> &Standing) {
  if (!mayBegin(Standing))
    return winsByLastPairs(Standing);
  Pairs.begin(Standing);
  Outcome.PairsMade += Pairs.size();
  size_t Before = Standing.size();
  bool Won = false;
  Runs.expect(2 * HurriedLook.Pairs);
  llvm::Expected<bool> Begun = addPairs(Standing, HurriedLook.Pairs);
  if (!Begun || !*Begun)
    return Begun;
  if (winsInHaste(Standing))
    return true;
  if (Haste.isLone() || Pairs.last().SharesDefault) {
    giveUpAll(Standing, ConfirmationEnd::Budget);
    return false;
  }
  for (const ConfirmationLook &Look : ConfirmationLooks) {
    if (Look.Pairs < leastPairs(Subjects))
      continue;
    unsigned Target = std::min(Look.Pairs, Limits.MaxConfirmationPairs);
    Runs.expect(2 * (Target - Pairs.size()));
    llvm::Expected<bool> Sound = addPairs(Standing, Target);
    if (!Sound || !*Sound)
      return Sound;
    if (Pairs.size() < leastPairs(Subjects)) {
      giveUpAll(Standing, ConfirmationEnd::Budget);
      return false;
    }
    Won = look(Standing, Look);
    if (Won || Standing.size() != Before)
      break;
  }
  return Won && !Standing.empty() && (Standing.size() == Before || !mayConfirmAgain());
}

/// The interval of the ratio of wall times or spans. A single pair tells none: then it reaches from
/// the ratio to 1.
RatioInterval wallInterval(const PairedTimes &Times) {
  if (Times.count() > 1)
    return pairedInterval(Times, WallLevel);
  double Ratio = Times.ratios().front();
  return {Ratio, std::min(Ratio, 1.0), std::max(Ratio, 1.0)};
}

/// Computes the ratios of the program with the candidates of \p Standing from all pairs. The wall
/// time is that of all that were tried.
void Confirmation::compareProgram(llvm::ArrayRef<size_t> Standing) {
  Outcome.Program = InHaste ? Haste.programRatio(Standing, LastLevel)
                            : pairedInterval(Sum.programTimes(Standing), LastLevel);
  Outcome.Wall = wallInterval(Pairs.wallTimes());
  std::optional<PairedTimes> Spans = Pairs.spans();
  Outcome.Span = Spans ? std::optional(wallInterval(*Spans)) : std::nullopt;
  Outcome.Pairs = Pairs.size();
}

/// Whether each run with candidates took longer than each run of the untouched program.
bool Confirmation::isEachRunSlower() const {
  const PairedTimes Times = Pairs.wallTimes();
  return *llvm::min_element(Times.Tuned) >
         std::max(Limits.PlainWallS, *llvm::max_element(Times.Default));
}

/// Whether the program's wall time surely rose, and so did the span of its kernels if that is
/// known. The wall time alone says little, because the start of a program may take several times as
/// long in some runs as in others. The interval of a few pairs does not know that.
bool Confirmation::isSlowerInWallTime() const {
  if (Haste.isLone())
    return Outcome.Wall.Median > LoneGrowth && (!Outcome.Span || Outcome.Span->Median > LoneGrowth);
  return Outcome.Wall.Low > 1 && (!Outcome.Span || Outcome.Span->Low > 1) &&
         (Pairs.size() >= RankedPairs || isEachRunSlower());
}

/// Drops all subjects if the program was slower as a whole. Where its GPU time does not say so,
/// more pairs are asked.
llvm::Error Confirmation::judgeProgram(std::vector<size_t> &Standing) {
  const size_t Most = Pairs.size() + MorePairsForWallTime;

  compareProgram(Standing);
  while (Outcome.Program.Median <= 1 && isSlowerInWallTime() && Pairs.size() < Most &&
         !limitReached(1)) {
    llvm::Expected<bool> Sound = addPairs(Standing, Pairs.size() + 1);
    if (!Sound)
      return Sound.takeError();
    if (!*Sound) { // They were right in all runs before, and are not trusted any more.
      dropAll(Standing, "a run that was to tell the wall time was not sound");
      return llvm::Error::success();
    }
    compareProgram(Standing);
  }
  if (Outcome.Program.Median > 1 || isSlowerInWallTime())
    dropAll(Standing,
            numbersText("the program as a whole was slower: GPU time %.3f, wall time %.3f",
                        Outcome.Program.Median, Outcome.Wall.Median));
  return llvm::Error::success();
}

llvm::Error Confirmation::confirmAll() {
  std::vector<size_t> Standing;
  for (size_t S = 0; S < Subjects.size(); ++S)
    if (Outcome.Subjects[S].Candidate)
      Standing.push_back(S);
  while (!Standing.empty()) {
    llvm::Expected<bool> Won = confirm(Standing);
    if (!Won)
      return Won.takeError();
    if (!*Won)
      continue;
    if (llvm::Error E = judgeProgram(Standing))
      return E;
    for (size_t S : Standing)
      Outcome.Subjects[S].Chosen = Outcome.Subjects[S].Candidate;
    break;
  }
  return llvm::Error::success();
}

} // namespace

llvm::Error carve::confirmCandidates(SelectionRuns &Runs) {
  Runs.Outcome.ScreeningRuns = Runs.Outcome.Runs;
  return Confirmation(Runs).confirmAll();
}
