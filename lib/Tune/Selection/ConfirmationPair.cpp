#include "Tune/Selection/ConfirmationPair.h"

#include "Support/Log.h"

using namespace carve;

/// Runs \p A and puts its times into \p Times, as those of the candidates or of the default. If it
/// has a fault, takes the variants that cause it out of \p A. Returns false if no run was right.
static llvm::Expected<bool> runInPair(SelectionRuns &Runs, Assignment &A, bool IsTuned,
                                      ConfirmedPair &Times) {
  auto Sample = Runs.runWithoutFaults(A);
  if (!Sample)
    return Sample.takeError();
  if (!*Sample)
    return false;
  (IsTuned ? Times.Tuned : Times.Default) = (*Sample)->SubjectNs;
  (IsTuned ? Times.ProgramTuned : Times.ProgramDefault) = (*Sample)->ProgramNs;
  (IsTuned ? Times.WallTuned : Times.WallDefault) = (*Sample)->WallS;
  (IsTuned ? Times.SpanTuned : Times.SpanDefault) = (*Sample)->SpanNs;
  return true;
}

/// Keeps \p Times, in which the candidates of \p A have run without others that had a fault.
static void keepWithout(const Assignment &A, ConfirmedPair Times, ConfirmedPairs &Pairs) {
  std::vector<size_t> Left;
  for (size_t S = 0; S < A.size(); ++S)
    if (A[S] >= FirstPlace)
      Left.push_back(S);
  Pairs.keep(std::move(Times), std::move(Left));
}

llvm::Expected<bool> carve::makePair(SelectionRuns &Runs, const std::vector<size_t> &Standing,
                                     const std::optional<ConfirmedPair> &Before,
                                     ConfirmedPairs &Pairs) {
  const size_t Pair = Pairs.size();
  ConfirmedPair Times;
  if (Before)
    Times = *Before;
  else
    Times.WithControl = Pair % 2;
  Times.SharesDefault = Before && Pair > 0;
  Assignment Tuned(Runs.Subjects.size(), 0), Default;
  for (size_t S : Standing)
    Tuned[S] = Runs.Outcome.Subjects[S].Candidate;
  if (Times.WithControl) {
    Default.assign(Runs.Subjects.size(), 0);
    for (size_t S : Standing)
      Default[S] = 1;
  }
  for (bool RunTuned : {Pair % 4 >= 2, Pair % 4 < 2}) {
    if (Before && !RunTuned)
      continue;
    const Assignment &Wanted = RunTuned ? Tuned : Default;
    Assignment A = Wanted;
    llvm::Expected<bool> Sound = runInPair(Runs, A, RunTuned, Times);
    if (!Sound || !*Sound)
      return Sound;
    if (A == Wanted)
      continue;
    // A confirmation begins with the untouched program.
    if (RunTuned && !Times.Default.empty() && !Times.WithControl)
      keepWithout(A, std::move(Times), Pairs);
    return false;
  }
  logLine(numbersText("pair %.0f of the confirmation: GPU time %.4f ms, default %.4f ms",
                      double(Pair + 1), Times.ProgramTuned / 1e6, Times.ProgramDefault / 1e6));
  Pairs.add(std::move(Times));
  ++Runs.Outcome.PairsMade;
  return true;
}
