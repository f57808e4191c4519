#include "Tune/Selection/ConfirmationPair.h"

using namespace carve;

/// Runs \p Wanted and puts its times into \p Times, as those of the candidates or of the default.
/// Returns false if the run has a fault.
static llvm::Expected<bool> runInPair(SelectionRuns &Runs, const Assignment &Wanted, bool IsTuned,
                                      ConfirmedPair &Times) {
  Assignment A = Wanted;
  auto Sample = Runs.runWithoutFaults(A);
  if (!Sample)
    return Sample.takeError();
  if (!*Sample || A != Wanted)
    return false;
  (IsTuned ? Times.Tuned : Times.Default) = (*Sample)->SubjectNs;
  (IsTuned ? Times.ProgramTuned : Times.ProgramDefault) = (*Sample)->ProgramNs;
  (IsTuned ? Times.WallTuned : Times.WallDefault) = (*Sample)->WallS;
  (IsTuned ? Times.SpanTuned : Times.SpanDefault) = (*Sample)->SpanNs;
  return true;
}

llvm::Expected<bool> carve::makePair(SelectionRuns &Runs, const std::vector<size_t> &Standing,
                                     bool Shares, ConfirmedPairs &Pairs) {
  const size_t Pair = Pairs.size();
  ConfirmedPair Times;
  if (Shares)
    Times = Pairs.last();
  else
    Times.WithControl = Pair % 2;
  Times.SharesDefault = Shares;
  Assignment Tuned(Runs.Subjects.size(), 0), Default;
  for (size_t S : Standing)
    Tuned[S] = Runs.Outcome.Subjects[S].Candidate;
  if (Times.WithControl) {
    Default.assign(Runs.Subjects.size(), 0);
    for (size_t S : Standing)
      Default[S] = 1;
  }
  for (bool RunTuned : {Pair % 4 >= 2, Pair % 4 < 2}) {
    if (Shares && !RunTuned)
      continue;
    llvm::Expected<bool> Sound = runInPair(Runs, RunTuned ? Tuned : Default, RunTuned, Times);
    if (!Sound || !*Sound)
      return Sound;
  }
  Pairs.add(std::move(Times));
  ++Runs.Outcome.PairsMade;
  return true;
}
