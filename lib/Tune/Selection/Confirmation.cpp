// Each pair compares a run with all candidates with a run of the defaults. The runs of screening do
// not count again, because the best of many variants is partly the luckiest.

#include "Tune/Selection/Confirmation.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace carve;

namespace {

class Confirmation {
public:
  explicit Confirmation(SelectionRuns &Runs)
      : Runs(Runs), Subjects(Runs.Subjects), Limits(Runs.Limits), Outcome(Runs.Outcome) {}

  llvm::Error confirmAll();

private:
  llvm::Expected<bool> confirm(std::vector<size_t> &Standing);
  llvm::Expected<bool> addPairs(std::vector<size_t> &Standing, unsigned Target);
  llvm::Expected<bool> addPair(const std::vector<size_t> &Standing, size_t Pair);
  void dropFaulty(std::vector<size_t> &Standing);
  void dropAll(std::vector<size_t> &Standing, const std::string &Reason);
  bool judge(std::vector<size_t> &Standing, bool Last, bool OutOfTime);
  void judgeProgram(std::vector<size_t> &Standing);

  SelectionRuns &Runs;
  const std::vector<SubjectSpace> &Subjects;
  const SelectionLimits &Limits;
  SelectionOutcome &Outcome;

  /// The times of one pair in the current confirmation.
  struct PairTimes {
    std::vector<double> Tuned, Default; ///< GPU time of each subject.
    bool WithControl = false;
    double ProgramTuned = 0, ProgramDefault = 0, WallTuned = 0, WallDefault = 0;
  };
  std::vector<PairTimes> Pairs;
};

/// Makes one pair: a run with all candidates and a run of the default. The order alternates, and
/// every second default run has the control copies in place. Returns false if a run has a fault.
llvm::Expected<bool> Confirmation::addPair(const std::vector<size_t> &Standing, size_t Pair) {
  Assignment Tuned(Subjects.size(), 0), Default;
  for (size_t S : Standing)
    Tuned[S] = Outcome.Subjects[S].Candidate;
  PairTimes Times;
  Times.WithControl = Pair % 2;
  if (Times.WithControl) {
    Default.assign(Subjects.size(), 0);
    for (size_t S : Standing)
      Default[S] = 1;
  }
  for (bool RunTuned : {Pair % 4 < 2, Pair % 4 >= 2}) {
    Assignment &A = RunTuned ? Tuned : Default;
    Assignment Before = A;
    auto Sample = Runs.runWithoutFaults(A);
    if (!Sample)
      return Sample.takeError();
    if (!*Sample || A != Before)
      return false;
    (RunTuned ? Times.Tuned : Times.Default) = (*Sample)->SubjectNs;
    (RunTuned ? Times.ProgramTuned : Times.ProgramDefault) = (*Sample)->ProgramNs;
    (RunTuned ? Times.WallTuned : Times.WallDefault) = (*Sample)->WallS;
  }
  Pairs.push_back(std::move(Times));
  return true;
}

/// Judges the pairs so far. Removes from \p Standing the subjects that cannot win any more. If this
/// is the \p Last look (\p OutOfTime: because the budget is spent), also removes those that have
/// not won. Returns whether all that remain have won.
bool Confirmation::judge(std::vector<size_t> &Standing, bool Last, bool OutOfTime) {
  bool Decided = true;
  llvm::erase_if(Standing, [&](size_t S) {
    SubjectOutcome &O = Outcome.Subjects[S];
    std::vector<double> Ratios, Control, Untouched;
    for (const PairTimes &P : Pairs) {
      if (P.Tuned[S] <= 0 || P.Default[S] <= 0)
        continue;
      Ratios.push_back(P.Tuned[S] / P.Default[S]);
      (P.WithControl ? Control : Untouched).push_back(P.Default[S]);
    }
    if (Ratios.empty() || Control.empty() || Untouched.empty()) {
      O.Reason = "it was not launched in every run";
      return true;
    }
    O.Ratio = ratioInterval(Ratios);
    O.Pairs = Ratios.size();
    O.ControlDistance = std::abs(median(Control) / median(Untouched) - 1);
    double Bound = 1 - std::max(Limits.LeastMargin, 2 * O.ControlDistance);
    if (O.Ratio.Median <= Limits.WinningRatio && O.Ratio.High < Bound)
      return false;
    bool Hopeless = O.Ratio.Median > Limits.WinningRatio;
    if (!Hopeless && !Last) {
      Decided = false;
      return false;
    }
    Outcome.OutOfTime |= OutOfTime && !Hopeless;
    if (Hopeless)
      O.Reason = numbersText("not confirmed: %.4f of the default's time, needed at most %.3f",
                             O.Ratio.Median, Limits.WinningRatio);
    else if (OutOfTime)
      O.Reason = BudgetReason;
    else
      O.Reason = numbersText("not confirmed: %.4f of the default's time, upper end %.4f, needed "
                             "below %.4f",
                             O.Ratio.Median, O.Ratio.High, Bound);
    return true;
  });
  return Decided;
}

/// Removes the subjects whose candidate caused a fault from \p Standing. If none of them did, all
/// are removed, because the runs themselves cannot be trusted.
void Confirmation::dropFaulty(std::vector<size_t> &Standing) {
  size_t Count = Standing.size();
  llvm::erase_if(Standing, [&](size_t S) {
    SubjectOutcome &O = Outcome.Subjects[S];
    const std::optional<std::string> &Fault = O.Screened[O.Candidate - 2].Fault;
    if (Fault)
      O.Reason = "its variant was rejected: " + *Fault;
    return Fault.has_value();
  });
  if (Standing.size() == Count)
    dropAll(Standing, "the runs were not sound: the output changes by itself");
}

void Confirmation::dropAll(std::vector<size_t> &Standing, const std::string &Reason) {
  for (size_t S : Standing)
    Outcome.Subjects[S].Reason = Reason;
  Standing.clear();
}

/// Adds pairs up to \p Target, or fewer if the budget is spent and the least number is made.
/// Returns false if a subject had to be removed from \p Standing.
llvm::Expected<bool> Confirmation::addPairs(std::vector<size_t> &Standing, unsigned Target) {
  while (Pairs.size() < Target) {
    if (Pairs.size() >= leastPairs(Limits) && !Runs.timeFor(2))
      return true;
    if (!Runs.mayRun(2)) {
      Outcome.OutOfRuns = true;
      dropAll(Standing, "not confirmed within " + std::to_string(Limits.MaxRuns) + " runs");
      return false;
    }
    llvm::Expected<bool> Sound = addPair(Standing, Pairs.size());
    if (!Sound)
      return Sound.takeError();
    if (*Sound)
      continue;
    dropFaulty(Standing);
    return false;
  }
  return true;
}

/// Confirms the candidates of \p Standing on fresh pairs. Returns whether all of them won. If not,
/// \p Standing holds the subjects to confirm again.
llvm::Expected<bool> Confirmation::confirm(std::vector<size_t> &Standing) {
  Pairs.clear();
  size_t Before = Standing.size();
  if (!Runs.timeFor(0)) {
    Outcome.OutOfTime = true;
    dropAll(Standing, BudgetReason);
    return false;
  }
  unsigned Target = Limits.ConfirmationPairs;
  if (!Runs.timeFor(2 * Target))
    Target = leastPairs(Limits);
  Runs.expect(2 * Target);
  while (true) {
    llvm::Expected<bool> Sound = addPairs(Standing, Target);
    if (!Sound || !*Sound)
      return Sound;
    bool OutOfTime = !Runs.timeFor(2);
    bool Last = OutOfTime || Target >= Limits.MaxConfirmationPairs || !Runs.mayRun(1);
    bool Decided = judge(Standing, Last, OutOfTime);
    if (Standing.size() != Before)
      return false; // The times so far belong to another set of candidates.
    if (Decided)
      return true;
    Target = std::min(Target + 4, Limits.MaxConfirmationPairs);
  }
}

void Confirmation::judgeProgram(std::vector<size_t> &Standing) {
  std::vector<double> Gpu, Wall;
  for (const PairTimes &P : Pairs) {
    Gpu.push_back(P.ProgramTuned / P.ProgramDefault);
    Wall.push_back(P.WallTuned / P.WallDefault);
  }
  Outcome.Program = ratioInterval(Gpu);
  Outcome.Wall = ratioInterval(Wall);
  Outcome.Pairs = Pairs.size();
  if (Outcome.Program.Median <= 1 && Outcome.Wall.Low <= 1)
    return;
  dropAll(Standing, numbersText("the program as a whole was slower: GPU time %.3f, wall time %.3f",
                                Outcome.Program.Median, Outcome.Wall.Median));
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
    judgeProgram(Standing);
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
