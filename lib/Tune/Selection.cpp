#include "Tune/Selection.h"

#include "Support/Log.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>

using namespace carve;

namespace {

/// A subject and a variant of it.
using Choice = std::pair<size_t, size_t>;

std::string percentText(const char *Format, double A, double B, double C) {
  char Buffer[160];
  std::snprintf(Buffer, sizeof(Buffer), Format, A, B, C);
  return Buffer;
}

class Selector {
public:
  Selector(const std::vector<SubjectSpace> &Subjects, const SelectionLimits &Limits,
           RunFunction Run, ProgressFunction Progress)
      : Subjects(Subjects), Limits(Limits), Run(Run), Progress(Progress), Random(Limits.Seed),
        Active(Subjects.size()) {
    Outcome.Subjects.resize(Subjects.size());
    for (size_t S = 0; S < Subjects.size(); ++S)
      for (size_t V = 0; V < Subjects[S].Variants; ++V) {
        Active[S].push_back(V);
        if (V > 1)
          Outcome.Subjects[S].Screened.push_back({V, {}, std::nullopt});
      }
  }

  llvm::Expected<SelectionOutcome> select();

private:
  llvm::Expected<RunSample> runOnce(const Assignment &A);
  llvm::Expected<std::vector<Choice>> findFaults(const Assignment &A, std::vector<size_t> Suspects);
  llvm::Expected<std::optional<RunSample>> runWithoutFaults(Assignment &A);
  void exclude(Choice C, const std::string &Fault);

  size_t roundLength() const;
  std::vector<Assignment> planRound();
  llvm::Error screenOnce();
  void dropClearlyWorse();
  void nameCandidates();

  llvm::Error confirmAll();
  llvm::Expected<bool> confirm(std::vector<size_t> &Standing);
  llvm::Expected<bool> addPair(const std::vector<size_t> &Standing, size_t Pair);
  bool judge(std::vector<size_t> &Standing, bool Last);
  void judgeProgram(std::vector<size_t> &Standing);

  ScreenedVariant &screened(Choice C) { return Outcome.Subjects[C.first].Screened[C.second - 2]; }

  const std::vector<SubjectSpace> &Subjects;
  const SelectionLimits &Limits;
  RunFunction Run;
  ProgressFunction Progress;
  std::mt19937_64 Random;
  std::vector<std::vector<size_t>> Active; ///< Variants still in play, default and control first.
  SelectionOutcome Outcome;
  unsigned Expected = 0;

  /// Times of the confirmation under way, by pair.
  struct PairTimes {
    std::vector<double> Tuned, Default; ///< Per subject.
    bool WithControl = false;
    double ProgramTuned = 0, ProgramDefault = 0, WallTuned = 0, WallDefault = 0;
  };
  std::vector<PairTimes> Pairs;
};

llvm::Expected<RunSample> Selector::runOnce(const Assignment &A) {
  Expected = std::max(Expected, Outcome.Runs + 1);
  Progress(Outcome.Runs, Expected);
  ++Outcome.Runs;
  return Run(A);
}

void Selector::exclude(Choice C, const std::string &Fault) {
  llvm::erase(Active[C.first], C.second);
  if (C.second > 1)
    screened(C).Fault = Fault;
  logLine("excluded " + Subjects[C.first].Name + " variant " + llvm::Twine(C.second) + ": " +
          Fault);
}

/// Which of \p Suspects (subjects) bring the fault of \p A, by halving: the others run their
/// default.
llvm::Expected<std::vector<Choice>> Selector::findFaults(const Assignment &A,
                                                         std::vector<size_t> Suspects) {
  Assignment Reduced(Subjects.size(), 0);
  for (size_t S : Suspects)
    Reduced[S] = A[S];
  llvm::Expected<RunSample> Sample = runOnce(Reduced);
  if (!Sample)
    return Sample.takeError();
  if (!Sample->Fault || Suspects.empty())
    return std::vector<Choice>();
  if (Suspects.size() == 1) {
    exclude({Suspects[0], A[Suspects[0]]}, *Sample->Fault);
    return std::vector<Choice>{{Suspects[0], A[Suspects[0]]}};
  }
  std::vector<Choice> Found;
  auto Middle = Suspects.begin() + Suspects.size() / 2;
  for (const std::vector<size_t> &Half : {std::vector<size_t>(Suspects.begin(), Middle),
                                          std::vector<size_t>(Middle, Suspects.end())}) {
    auto Part = findFaults(A, Half);
    if (!Part)
      return Part.takeError();
    llvm::append_range(Found, *Part);
  }
  return Found;
}

/// Runs \p A; where the run has a fault, finds and excludes the variants that bring it, puts their
/// default into \p A and runs again. Nothing where the run is faulty without a culprit.
llvm::Expected<std::optional<RunSample>> Selector::runWithoutFaults(Assignment &A) {
  for (int Try = 0; Try < 3; ++Try) {
    llvm::Expected<RunSample> Sample = runOnce(A);
    if (!Sample)
      return Sample.takeError();
    if (!Sample->Fault)
      return std::optional<RunSample>(std::move(*Sample));
    logLine("fault: " + *Sample->Fault);
    std::vector<size_t> Suspects;
    for (size_t S = 0; S < A.size(); ++S)
      if (A[S] != 0)
        Suspects.push_back(S);
    auto Faults = findFaults(A, Suspects);
    if (!Faults)
      return Faults.takeError();
    for (Choice C : *Faults)
      A[C.first] = 0;
  }
  return std::optional<RunSample>();
}

/// Whether something else than default and control is left. \p Active is ascending.
bool hasCandidates(const std::vector<size_t> &Active) {
  return !Active.empty() && Active.back() > 1;
}

size_t Selector::roundLength() const {
  size_t Length = 0;
  for (const std::vector<size_t> &A : Active)
    if (hasCandidates(A)) // A subject with nothing left to try needs no runs.
      Length = std::max(Length, A.size());
  return Length;
}

std::vector<Assignment> Selector::planRound() {
  std::vector<Assignment> Plan(roundLength(), Assignment(Subjects.size(), 0));
  for (size_t S = 0; S < Subjects.size(); ++S) {
    if (!hasCandidates(Active[S]))
      continue;
    std::vector<size_t> Order;
    while (Order.size() < Plan.size()) {
      std::vector<size_t> Permutation = Active[S];
      std::shuffle(Permutation.begin(), Permutation.end(), Random);
      llvm::append_range(Order, Permutation);
    }
    for (size_t I = 0; I < Plan.size(); ++I)
      Plan[I][S] = Order[I];
  }
  return Plan;
}

llvm::Error Selector::screenOnce() {
  std::map<Choice, std::vector<double>> Times;
  for (Assignment &A : planRound()) {
    if (Outcome.Runs >= Limits.MaxRuns) {
      Outcome.OutOfRuns = true;
      break;
    }
    auto Sample = runWithoutFaults(A);
    if (!Sample)
      return Sample.takeError();
    if (!*Sample)
      continue;
    for (size_t S = 0; S < A.size(); ++S)
      if ((*Sample)->SubjectNs[S] > 0)
        Times[{S, A[S]}].push_back((*Sample)->SubjectNs[S]);
  }
  for (const auto &[C, Samples] : Times) {
    auto Default = Times.find({C.first, 0});
    if (C.second > 1 && Default != Times.end())
      screened(C).Ratios.push_back(median(Samples) / median(Default->second));
  }
  return llvm::Error::success();
}

void Selector::dropClearlyWorse() {
  for (size_t S = 0; S < Subjects.size(); ++S)
    llvm::erase_if(Active[S], [&](size_t V) {
      if (V <= 1)
        return false;
      const std::vector<double> &Ratios = screened({S, V}).Ratios;
      return !Ratios.empty() && median(Ratios) > Limits.ClearlyWorse;
    });
}

void Selector::nameCandidates() {
  for (size_t S = 0; S < Subjects.size(); ++S) {
    SubjectOutcome &O = Outcome.Subjects[S];
    double Best = Limits.ScreeningRatio, Least = 1e300;
    for (const ScreenedVariant &V : O.Screened) {
      if (V.Fault || V.Ratios.empty())
        continue;
      double Ratio = median(V.Ratios);
      Least = std::min(Least, Ratio);
      if (Ratio < Best) {
        Best = Ratio;
        O.Candidate = V.Variant;
      }
    }
    if (O.Candidate == 0 && Least < 1e300)
      O.Reason = percentText("no variant was faster: the best took %.3f of the default's time",
                             Least, 0, 0);
    else if (O.Candidate == 0)
      O.Reason = "no variant could be timed";
  }
}

/// One pair: candidates together, and the default; alternating in order, and every second default
/// with the control copies in place. Returns false where the candidates have a fault.
llvm::Expected<bool> Selector::addPair(const std::vector<size_t> &Standing, size_t Pair) {
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
    auto Sample = runWithoutFaults(A);
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

/// Judges the pairs so far. Removes from \p Standing whoever cannot win any more, everybody who
/// has not won where this is the \p Last look. Returns whether all that stand have won.
bool Selector::judge(std::vector<size_t> &Standing, bool Last) {
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
    if (Hopeless)
      O.Reason = percentText("not confirmed: %.4f of the default's time, needed at most %.3f",
                             O.Ratio.Median, Limits.WinningRatio, 0);
    else
      O.Reason = percentText("not confirmed: %.4f of the default's time, upper end %.4f, needed "
                             "below %.4f",
                             O.Ratio.Median, O.Ratio.High, Bound);
    return true;
  });
  return Decided;
}

/// Confirms the candidates of \p Standing on fresh pairs. Returns whether all of them won and the
/// set may stand; else \p Standing is what is left to confirm again.
llvm::Expected<bool> Selector::confirm(std::vector<size_t> &Standing) {
  Pairs.clear();
  size_t Before = Standing.size();
  unsigned Target = Limits.ConfirmationPairs;
  Expected = std::max(Expected, Outcome.Runs + 2 * Target);
  while (true) {
    while (Pairs.size() < Target) {
      if (Outcome.Runs + 2 > Limits.MaxRuns) {
        Outcome.OutOfRuns = true;
        for (size_t S : Standing)
          Outcome.Subjects[S].Reason =
              "not confirmed within " + std::to_string(Limits.MaxRuns) + " runs";
        Standing.clear();
        return false;
      }
      llvm::Expected<bool> Sound = addPair(Standing, Pairs.size());
      if (!Sound)
        return Sound.takeError();
      if (*Sound)
        continue;
      // Whoever brought the fault is out; without a culprit nobody can be trusted.
      size_t Count = Standing.size();
      llvm::erase_if(Standing, [&](size_t S) {
        SubjectOutcome &O = Outcome.Subjects[S];
        const std::optional<std::string> &Fault = O.Screened[O.Candidate - 2].Fault;
        if (Fault)
          O.Reason = "its variant was rejected: " + *Fault;
        return Fault.has_value();
      });
      if (Standing.size() == Count) {
        for (size_t S : Standing)
          Outcome.Subjects[S].Reason = "the runs were not sound: the output changes by itself";
        Standing.clear();
      }
      return false;
    }
    bool Last = Target >= Limits.MaxConfirmationPairs || Outcome.Runs >= Limits.MaxRuns;
    bool Decided = judge(Standing, Last);
    if (Standing.size() != Before)
      return false; // The times so far are of another set.
    if (Decided)
      return true;
    Target = std::min(Target + 4, Limits.MaxConfirmationPairs);
  }
}

void Selector::judgeProgram(std::vector<size_t> &Standing) {
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
  for (size_t S : Standing)
    Outcome.Subjects[S].Reason =
        percentText("the program as a whole was slower: GPU time %.3f, wall time %.3f",
                    Outcome.Program.Median, Outcome.Wall.Median, 0);
  Standing.clear();
}

llvm::Error Selector::confirmAll() {
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

llvm::Expected<SelectionOutcome> Selector::select() {
  Expected = roundLength() * 2 + 2 * Limits.ConfirmationPairs;
  for (unsigned Round = 0; Round < Limits.ScreeningRounds && roundLength() > 0; ++Round) {
    if (llvm::Error E = screenOnce())
      return E;
    dropClearlyWorse();
  }
  nameCandidates();
  if (llvm::Error E = confirmAll())
    return E;
  Progress(Outcome.Runs, Outcome.Runs);
  return std::move(Outcome);
}

} // namespace

llvm::Expected<SelectionOutcome> carve::selectVariants(const std::vector<SubjectSpace> &Subjects,
                                                       const SelectionLimits &Limits,
                                                       RunFunction Run, ProgressFunction Progress) {
  return Selector(Subjects, Limits, Run, Progress).select();
}
