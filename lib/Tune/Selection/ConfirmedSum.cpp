#include "Tune/Selection/ConfirmedSum.h"

#include <algorithm>
#include <cmath>

using namespace carve;

/// The program's ratio if every subject of \p Standing has the ratio \p RatioOf.
template <class Function>
double ConfirmedSum::programRatio(llvm::ArrayRef<size_t> Standing, Function RatioOf) const {
  std::vector<double> Ratios;
  for (size_t S : Standing)
    Ratios.push_back(RatioOf(Subjects[S].Predicted, Measured[S].Ratio.Median));
  return Pairs.programRatio(Standing, Ratios);
}

double ConfirmedSum::predicted(llvm::ArrayRef<size_t> Standing) const {
  return programRatio(Standing, [](double Predicted, double Measured) {
    return Predicted > 0 ? Predicted : Measured;
  });
}

bool ConfirmedSum::isAsPredicted(llvm::ArrayRef<size_t> Standing, double Level, double High,
                                 double Tolerance) const {
  RatioInterval Program = pairedInterval(programTimes(Standing), Level);
  double Predicted = std::log(predicted(Standing));
  return Program.High < High &&
         std::abs(std::log(Program.Median) - Predicted) <= Tolerance * std::abs(Predicted);
}

bool ConfirmedSum::isContradicted(llvm::ArrayRef<size_t> Standing, double Level) const {
  double Weaker = programRatio(
      Standing, [](double Predicted, double Measured) { return std::max(Predicted, Measured); });
  return pairedInterval(programTimes(Standing), Level).Low > Weaker;
}

bool ConfirmedSum::isConfirmed(llvm::ArrayRef<size_t> Standing, llvm::ArrayRef<size_t> Open,
                               double Level) const {
  PairedTimes Program = programTimes(Standing);
  if (Program.Default.size() + Program.Earlier.size() < LeastDefaultRuns)
    return false;
  for (size_t S : Open)
    if (Subjects[S].Predicted <= 0 || Measured[S].Ratio.Median > Limits.WinningRatio ||
        !supports(Pairs.timesOf(S, Subjects[S].EarlierNs), Subjects[S].Predicted))
      return false;
  return isAsPredicted(Standing, Level, 1, Limits.SumTolerance);
}
