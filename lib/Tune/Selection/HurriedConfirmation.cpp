#include "Tune/Selection/HurriedConfirmation.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

using namespace carve;

std::vector<size_t> HurriedConfirmation::ableByOneRun(llvm::ArrayRef<size_t> Standing) const {
  std::vector<size_t> Able;
  if (Limits.EarlierProgramNs.empty() || Limits.PlainWallS <= 0)
    return Able;
  llvm::copy_if(Standing, std::back_inserter(Able), [&](size_t S) {
    const SubjectSpace &Subject = Subjects[S];
    return Subject.Compared && !Subject.EarlierNs.empty() && Subject.Predicted > 0 &&
           Subject.Predicted <= 1 - GainForOneRun;
  });
  return Able;
}

ConfirmedPair HurriedConfirmation::tracedDefault() const {
  ConfirmedPair Traced;
  Traced.IsTraced = true;
  for (const SubjectSpace &Subject : Subjects)
    Traced.Default.push_back(Subject.EarlierNs.empty() ? 0 : Subject.EarlierNs.front());
  Traced.ProgramDefault = Limits.EarlierProgramNs.front();
  // The first run of a program may take longer than others: it finds no file in memory.
  Traced.WallDefault =
      Limits.RunS > 0 ? std::min(Limits.PlainWallS, Limits.RunS) : Limits.PlainWallS;
  Traced.SpanDefault = Limits.EarlierSpanNs;
  return Traced;
}

/// The median of the ratios \p Measured by runs beside the traced one, and the interval that has
/// them and what was \p Predicted.
static RatioInterval besideTraced(const std::vector<double> &Measured, double Predicted) {
  auto [Least, Most] = std::minmax_element(Measured.begin(), Measured.end());
  return {median(Measured), std::min(*Least, Predicted), std::max(*Most, Predicted)};
}

/// Whether each run of the candidates, over the traced one, tells what a timing run has predicted
/// of subject \p S.
bool HurriedConfirmation::isSureBesideTraced(size_t S) {
  const double Predicted = Subjects[S].Predicted;
  std::vector<double> Ratios = Pairs.timesOf(S, {}).ratios();
  if (Ratios.size() < Pairs.size())
    return false;
  const RatioInterval Ratio = besideTraced(Ratios, Predicted);
  auto Agrees = [&](double Measured) {
    return std::abs(std::log(Measured / Predicted)) <=
           Limits.SumTolerance * std::abs(std::log(Predicted));
  };
  if (Ratio.High > 1 - GainForOneRun || !Agrees(Ratio.Low) || !Agrees(Ratio.High))
    return false;
  SubjectOutcome &O = Outcome.Subjects[S];
  O.Ratio = Ratio;
  O.Pairs = Pairs.size();
  O.ControlDistance = 0;
  return true;
}

/// Whether the pairs support what was predicted of subject \p S, or prove a large gain by
/// themselves where even more was predicted: a replay sees one launch of many that change. A single
/// pair has to prove the gain of each subject by itself. So have pairs whose times scatter too
/// much: then it is proven by runs that are apart.
bool HurriedConfirmation::isSureByPairs(size_t S) {
  const SubjectSpace &Subject = Subjects[S];
  PairedTimes Times = Pairs.timesOf(S, Subject.EarlierNs);
  if (Times.count() < HurriedLook.Pairs)
    return false;
  RatioInterval Ratio = pairedInterval(Times, look().Level);
  double ControlDistance = Pairs.controlDistance(S);
  auto IsProven = [&] { return Ratio.High < Limits.highBound(ControlDistance); };
  bool Supported =
      supports(Times, Subject.Predicted) ||
      (!isLone() && Subject.Predicted < 1 && Ratio.High <= 1 - GainForFewestRuns && IsProven());
  if ((!Supported || !IsProven()) && areApart(Times, Subject.Predicted)) {
    Ratio = unpairedInterval(Times);
    ControlDistance = 0; // All runs with the control are among those that it is apart from.
    Supported = SomeAreApart = true;
  }
  if (!Supported)
    return false;
  SubjectOutcome &O = Outcome.Subjects[S];
  O.Ratio = Ratio;
  O.Pairs = std::min<unsigned>(Times.count(), Pairs.size());
  O.ControlDistance = ControlDistance;
  return Ratio.Median <= Limits.WinningRatio && (!isLone() || IsProven());
}

/// Whether the pairs confirm subject \p S in haste. What its candidate writes must have been
/// compared before if that has run only once in them, or beside the traced run alone.
bool HurriedConfirmation::isSure(size_t S) {
  const SubjectSpace &Subject = Subjects[S];
  if (Subject.Predicted <= 0 || Subject.EarlierNs.empty() ||
      ((isLone() || isBesideTraced()) && !Subject.Compared))
    return false;
  return isBesideTraced() ? isSureBesideTraced(S) : isSureByPairs(S);
}

std::vector<size_t> HurriedConfirmation::sure(llvm::ArrayRef<size_t> Standing) {
  SomeAreApart = false;
  std::vector<size_t> Sure;
  llvm::copy_if(Standing, std::back_inserter(Sure), [&](size_t S) { return isSure(S); });
  return Sure;
}

/// Those of the subjects \p Sure whose own times prove a gain; none if the program's times
/// contradict it.
std::vector<size_t> HurriedConfirmation::provenOf(std::vector<size_t> Sure) const {
  llvm::erase_if(Sure, [&](size_t S) {
    const SubjectOutcome &O = Outcome.Subjects[S];
    return O.Ratio.High >= Limits.highBound(O.ControlDistance);
  });
  if (!Sure.empty() && Sum.isContradicted(Sure, look().Level))
    Sure.clear();
  return Sure;
}

std::vector<size_t> HurriedConfirmation::proven(llvm::ArrayRef<size_t> Standing) {
  return provenOf(sure(Standing));
}

HurriedWinners HurriedConfirmation::winners(llvm::ArrayRef<size_t> Standing) {
  // The gain of each candidate may be half of what was predicted. No more is asked of their sum.
  constexpr double Tolerance = 0.5;
  HurriedWinners Winners{sure(Standing)};
  Winners.BySum = !Winners.Subjects.empty() && Sum.isAsPredicted(Winners.Subjects, look().Level,
                                                                 1 - Limits.LeastMargin, Tolerance);
  if (!Winners.BySum)
    Winners.Subjects =
        isBesideTraced() ? std::vector<size_t>() : provenOf(std::move(Winners.Subjects));
  return Winners;
}

RatioInterval HurriedConfirmation::programRatio(llvm::ArrayRef<size_t> Standing,
                                                double Level) const {
  const PairedTimes Times = Sum.programTimes(Standing);
  if (isBesideTraced())
    return besideTraced(Times.ratios(), Sum.predicted(Standing));
  return SomeAreApart ? unpairedInterval(Times) : pairedInterval(Times, Level);
}
