/// \file
/// `carve evaluate` without its output: what a search finds on a table of measurements as if its
/// rows were timed, against what else could be done with the table.
#pragma once

#include "Evaluate/SweptProgram.h"

namespace carve {

/// Speedups over nvcc's default: the default's GPU time over that of what is chosen, summed over
/// the kernels of a program.
struct Speedups {
  double PerFile = 1; ///< One cap for all kernels, in the front end and in ptxas.
  /// For each kernel the best critical point, in ptxas alone.
  double CriticalPoints = 1;
  double Carved = 1; ///< For each kernel what the search has found, at one register-usage level.
  /// For each kernel its best row, of whichever level, small kernels too: no choice is better.
  double Everything = 1;
  /// For each kernel the expected best of as many rows as the search has timed of it, of whichever
  /// level.
  double Random = 1;
};

struct ProgramEvaluation {
  std::string Name;
  Speedups Found;
  unsigned MaxTimed = 0; ///< Rows looked at, of the kernel with most; the default is not counted.
  unsigned Timed = 0;    ///< Of all kernels together.
  unsigned HotKernels = 0;
};

struct SweepEvaluation {
  std::vector<ProgramEvaluation> Programs; ///< In the order of the table.
  Speedups Geomean;
  std::vector<std::string> LeftOut; ///< Programs without a time of the default.
};

/// Evaluates all programs of \p Rows on device \p D. Kernels below 1 % of a program's time stay as
/// they are. A register-usage level is of a whole unit, and the table does not know units: `carved`
/// takes one for the program, the best for the sum of its kernels, among those of which a row was
/// timed of every hot kernel. `everything` and `random`, which it is compared with, need not. Fails
/// where no program has a time of the default.
llvm::Expected<SweepEvaluation> evaluateSweep(llvm::ArrayRef<SweepRow> Rows, const DeviceModel &D,
                                              const SearchLimits &Limits,
                                              const ModelScale &Scale = {});

/// Expectation of the smallest of \p Count values drawn from \p Values without putting back: the
/// I-th smallest of N is it with the probability C(N - I, Count - 1) / C(N, Count). All of them
/// where \p Count is larger; \p Values must not be empty, nor \p Count 0.
double expectedMinimum(std::vector<double> Values, size_t Count);

} // namespace carve
