#include "Tune/Selection/HurriedConfirmation.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

using namespace carve;

double carve::highBound(const SelectionLimits &Limits, double ControlDistance) {
  return 1 - std::max(Limits.LeastMargin, 2 * ControlDistance);
}

bool HurriedConfirmation::mayDoWithOneRun(llvm::ArrayRef<size_t> Standing) const {
  return !Limits.EarlierProgramNs.empty() && Limits.PlainWallS > 0 &&
         llvm::any_of(Standing, [&](size_t S) {
           const SubjectSpace &Subject = Subjects[S];
           return Subject.Compared && !Subject.EarlierNs.empty() && Subject.Predicted > 0 &&
                  Subject.Predicted <= 1 - GainForOneRun;
         });
}

ConfirmedPair HurriedConfirmation::tracedDefault() const {
  ConfirmedPair Traced;
  Traced.IsTraced = true;
  for (const SubjectSpace &Subject : Subjects)
    Traced.Default.push_back(Subject.EarlierNs.empty() ? 0 : Subject.EarlierNs.front());
  Traced.ProgramDefault = Limits.EarlierProgramNs.front();
  Traced.WallDefault = Limits.PlainWallS;
  Traced.SpanDefault = Limits.EarlierSpanNs;
  return Traced;
}

/// The interval from what one run has \p Measured to what was \p Predicted.
static RatioInterval intervalOfOneRun(double Measured, double Predicted) {
  return {Measured, std::min(Measured, Predicted), std::max(Measured, Predicted)};
}

/// Whether the run of the candidates, over the traced one, tells what a timing run has predicted of
/// subject \p S.
bool HurriedConfirmation::isSureByOneRun(size_t S) {
  const double Predicted = Subjects[S].Predicted;
  std::vector<double> Ratios = Pairs.timesOf(S, {}).ratios();
  if (Ratios.empty())
    return false;
  SubjectOutcome &O = Outcome.Subjects[S];
  O.Ratio = intervalOfOneRun(Ratios.front(), Predicted);
  O.Pairs = 1;
  O.ControlDistance = 0;
  double Distance = std::abs(std::log(O.Ratio.Median / Predicted));
  return O.Ratio.High <= 1 - GainForOneRun &&
         Distance <= Limits.SumTolerance * std::abs(std::log(Predicted));
}

/// Whether the pairs support what was predicted of subject \p S. A single pair has to prove the
/// gain of each subject by itself. So have pairs whose times scatter too much: then it is proven by
/// runs that are apart.
bool HurriedConfirmation::isSureByPairs(size_t S) {
  const SubjectSpace &Subject = Subjects[S];
  PairedTimes Times = Pairs.timesOf(S, Subject.EarlierNs);
  if (Times.count() < HurriedLook.Pairs)
    return false;
  SubjectOutcome &O = Outcome.Subjects[S];
  O.Ratio = pairedInterval(Times, look().Level);
  O.Pairs = std::min<unsigned>(Times.count(), Pairs.size());
  O.ControlDistance = Pairs.controlDistance(S);
  auto IsProven = [&] { return O.Ratio.High < highBound(Limits, O.ControlDistance); };
  bool Supported = supports(Times, Subject.Predicted);
  if ((!Supported || !IsProven()) && areApart(Times, Subject.Predicted)) {
    O.Ratio = unpairedInterval(Times);
    O.ControlDistance = 0; // All runs with the control are among those that it is apart from.
    Supported = SomeAreApart = true;
  }
  return Supported && O.Ratio.Median <= Limits.WinningRatio && (!isLone() || IsProven());
}

/// Whether the pairs confirm subject \p S in haste. If its candidate has run only once in them,
/// what that writes must have been compared before.
bool HurriedConfirmation::isSure(size_t S) {
  const SubjectSpace &Subject = Subjects[S];
  if (Subject.Predicted <= 0 || Subject.EarlierNs.empty() || (isLone() && !Subject.Compared))
    return false;
  return isByOneRun() ? isSureByOneRun(S) : isSureByPairs(S);
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
    return O.Ratio.High >= highBound(Limits, O.ControlDistance);
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
    Winners.Subjects = isByOneRun() ? std::vector<size_t>() : provenOf(std::move(Winners.Subjects));
  return Winners;
}

RatioInterval HurriedConfirmation::programRatio(llvm::ArrayRef<size_t> Standing,
                                                double Level) const {
  const PairedTimes Times = Sum.programTimes(Standing);
  if (isByOneRun())
    return intervalOfOneRun(Times.ratios().front(), Sum.predicted(Standing));
  return SomeAreApart ? unpairedInterval(Times) : pairedInterval(Times, Level);
}
