#include "Tune/Selection/SelectionRuns.h"

#include "Support/Log.h"
#include "Tune/Selection/PairedTimes.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cstdio>

using namespace carve;

std::string carve::numbersText(const char *Format, double A, double B, double C) {
  char Buffer[200];
  std::snprintf(Buffer, sizeof(Buffer), Format, A, B, C);
  return Buffer;
}

unsigned carve::leastPairs(const std::vector<SubjectSpace> &Subjects) {
  unsigned Least = ConfirmationLooks[0].Pairs;
  for (const SubjectSpace &S : Subjects)
    if (S.EarlierNs.size() < LeastDefaultRuns && S.Stays.empty())
      Least = std::max<unsigned>(Least, LeastDefaultRuns - S.EarlierNs.size());
  return Least;
}

bool carve::mayLeaveVarying(const std::vector<SubjectSpace> &Subjects) {
  auto Any = [&](bool Varies) {
    return llvm::any_of(Subjects,
                        [&](const SubjectSpace &S) { return S.Nominee && S.Varies == Varies; });
  };
  return Any(true) && Any(false);
}

SelectionRuns::SelectionRuns(const std::vector<SubjectSpace> &Subjects,
                             const SelectionLimits &Limits, RunFunction Run,
                             ProgressDisplay &Progress)
    : Subjects(Subjects), Limits(Limits), Active(Subjects.size()), Run(Run), Progress(Progress),
      StartS(Limits.ElapsedS()) {
  Outcome.Subjects.resize(Subjects.size());
  for (size_t S = 0; S < Subjects.size(); ++S) {
    const SubjectSpace &Space = Subjects[S];
    bool Screens = Space.Nominee == 0 && Space.Stays.empty();
    Outcome.Subjects[S].Candidate = Space.Nominee;
    Outcome.Subjects[S].Reason = Space.Stays;
    for (size_t V = 0; V < Space.Variants; ++V) {
      auto Out = Space.Excluded.find(V);
      if (V >= FirstPlace)
        Outcome.Subjects[S].Screened.push_back({V, {}, std::nullopt});
      if (V >= FirstPlace && Out != Space.Excluded.end())
        Outcome.Subjects[S].Screened.back().Fault = Out->second;
      else if (V <= 1 || Screens)
        Active[S].push_back(V);
    }
  }
}

/// Seconds that one run takes. What was estimated before counts as three runs: a single one may
/// have needed a second to check its output.
double SelectionRuns::meanRunS() const {
  constexpr double EstimateRuns = 3;
  return (Limits.ElapsedS() - StartS + EstimateRuns * Limits.RunS) / (Outcome.Runs + EstimateRuns);
}

bool SelectionRuns::timeFor(unsigned More, double EachS) const {
  return Limits.BudgetS <= 0 || Limits.ElapsedS() + More * EachS <= Limits.BudgetS;
}

bool SelectionRuns::timeFor(unsigned More) const { return timeFor(More, meanRunS()); }

bool SelectionRuns::surelyTimeFor(unsigned More) const {
  return timeFor(More, std::max(LongestS, meanRunS()));
}

/// Tells the display that this selection will have made \p InAll runs.
void SelectionRuns::tell(unsigned InAll) const {
  Progress.runs(Limits.RunsBefore + Outcome.Runs, Limits.RunsBefore + InAll, Limits.ElapsedS());
}

llvm::Expected<RunSample> SelectionRuns::runOnce(const Assignment &A) {
  Expected = std::max(Expected, Outcome.Runs + 1);
  tell(Expected);
  ++Outcome.Runs;
  const double BeforeS = Limits.ElapsedS();
  llvm::Expected<RunSample> Sample = Run(A);
  // To check its output may have taken other runs, which its own wall time does not have.
  if (Sample && !Sample->Fault)
    LongestS = std::max(LongestS, std::min(Sample->WallS, Limits.ElapsedS() - BeforeS));
  return Sample;
}

void SelectionRuns::exclude(Choice C, const std::string &Fault) {
  llvm::erase(Active[C.first], C.second);
  if (C.second > 1)
    screened(C).Fault = Fault;
  logLine("excluded " + Subjects[C.first].Name + " variant " + llvm::Twine(C.second) + ": " +
          Fault);
}

/// Finds which of the subjects \p Suspects cause the fault of \p A, as far as there is time. Halves
/// them until one is left; all other subjects run their default.
llvm::Expected<std::vector<Choice>> SelectionRuns::findFaults(const Assignment &A,
                                                              std::vector<size_t> Suspects) {
  if (!timeFor(1)) {
    FoundInTime = false;
    return std::vector<Choice>();
  }
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

/// Why a variant of \p S is suspected first; empty if it is not.
static llvm::StringRef suspicionOf(const SubjectSpace &S) {
  return S.Varies        ? "whose output varies by itself"
         : S.MayMoveBits ? "whose knob may move last bits"
                         : "";
}

/// \p A had the \p Fault. Runs it without the variants that are suspected first. If that has no
/// fault, it is theirs: excludes those that cause it when they run alone, or all of them, because
/// such a fault may come only now and then, and takes them out of \p A. Then returns the sound run
/// of \p A, if one was made. Changes nothing if the cause is still to be looked for.
llvm::Expected<std::optional<RunSample>> SelectionRuns::leaveSuspects(Assignment &A,
                                                                      const std::string &Fault) {
  std::vector<size_t> Suspects;
  Assignment Steady = A;
  for (size_t S = 0; S < A.size(); ++S)
    if (A[S] >= FirstPlace && !suspicionOf(Subjects[S]).empty()) {
      Suspects.push_back(S);
      Steady[S] = 0;
    }
  if (Suspects.empty() || Steady == Assignment(A.size(), 0) || !timeFor(1))
    return std::optional<RunSample>();
  llvm::Expected<RunSample> Sample = runOnce(Steady);
  if (!Sample)
    return Sample.takeError();
  if (Sample->Fault)
    return std::optional<RunSample>();
  if (Suspects.size() > 1) {
    llvm::Expected<std::vector<Choice>> Found = findFaults(A, Suspects);
    if (!Found)
      return Found.takeError();
    for (Choice C : *Found)
      A[C.first] = 0;
    if (!Found->empty())
      return std::optional<RunSample>();
  }
  for (size_t S : Suspects)
    exclude({S, A[S]},
            Fault + " (without it, " + suspicionOf(Subjects[S]).str() + ", a run was right)");
  A = std::move(Steady);
  return std::optional<RunSample>(std::move(*Sample));
}

llvm::Expected<std::optional<RunSample>> SelectionRuns::runWithoutFaults(Assignment &A) {
  for (int Try = 0; Try < 3; ++Try) {
    llvm::Expected<RunSample> Sample = runOnce(A);
    if (!Sample)
      return Sample.takeError();
    if (!Sample->Fault)
      return std::optional<RunSample>(std::move(*Sample));
    logLine("fault: " + *Sample->Fault);
    const Assignment Before = A;
    auto Without = leaveSuspects(A, *Sample->Fault);
    if (!Without || *Without)
      return Without;
    if (A != Before) {
      if (timeFor(1))
        continue;
      break;
    }
    std::vector<size_t> Suspects;
    for (size_t S = 0; S < A.size(); ++S)
      if (A[S] != 0)
        Suspects.push_back(S);
    FoundInTime = true;
    auto Faults = findFaults(A, Suspects);
    if (!Faults)
      return Faults.takeError();
    for (Choice C : *Faults)
      A[C.first] = 0;
    if (!FoundInTime)
      Unexplained = *Sample->Fault;
    if (!timeFor(1))
      break;
  }
  return std::optional<RunSample>();
}
