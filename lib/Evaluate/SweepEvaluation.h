/// \file
/// Evaluates the search on a table of measurements: finds what it would choose if it timed the
/// rows, and compares that with other ways to choose from the table. EvaluationReport.h prints the
/// result.
#pragma once

#include "Evaluate/SweptProgram.h"

namespace carve {

/// Speedups over nvcc's default: the GPU time of the default divided by that of the chosen rows,
/// each summed over the kernels of a program.
struct Speedups {
  double PerFile = 1; ///< One cap for all kernels, for cicc and for ptxas.
  /// For each kernel its best critical point, as a cap for ptxas alone.
  double CriticalPoints = 1;
  double Carved = 1; ///< For each kernel what the search finds.
  /// For each kernel its best row at any level, including small kernels. No choice can be better.
  double Everything = 1;
  /// For each kernel the expected best of randomly drawn rows at any level, as many as the search
  /// timed of that kernel.
  double Random = 1;
};

/// What the evaluated search may do.
struct EvaluationLimits {
  unsigned Effort = 3; ///< As of KernelSearch: all knobs, since the table has them.
  /// Seconds for the tuning of one program; 0 for what tuning takes by default.
  double BudgetS = 0;
  /// Seconds of one plain run of each program; 0 for the GPU time of the default, since a table
  /// knows no other. More shows what the search finds in programs that work on the host for long.
  double RunS = 0;

  /// Returns the seconds of one plain run of a program whose kernels take \p GpuNs.
  double plainS(double GpuNs) const { return RunS > 0 ? RunS : GpuNs / 1e9; }
};

/// The evaluation of one program.
struct ProgramEvaluation {
  std::string Name;
  Speedups Found;
  /// Rows that the search timed of the kernel of which it timed most, without the default.
  unsigned MaxTimed = 0;
  unsigned Timed = 0;      ///< Rows that it timed of all kernels.
  unsigned HotKernels = 0; ///< Kernels with at least 0.1 % of the program's time.
  double Seconds = 0; ///< What the tuning would take, with three pairs of runs that confirm it.
};

/// What the search finds in a part of its budget.
struct CurvePoint {
  double Part = 0;    ///< Of the budget, 0 to 1.
  double Seconds = 0; ///< Mean of ProgramEvaluation::Seconds.
  double Carved = 0;  ///< Geometric mean of Speedups::Carved.
};

/// The evaluation of a table.
struct SweepEvaluation {
  std::vector<ProgramEvaluation> Programs; ///< In the order of the table.
  Speedups Geomean;                        ///< Geometric means over the programs.
  std::vector<CurvePoint> Curve;           ///< By growing part; the whole budget is the last.
  std::vector<std::string> LeftOut;        ///< Programs without a time of the default.
};

/// Evaluates all programs of \p Rows for device \p D. Kernels below 0.1 % of a program's time keep
/// the default. Rounds have the time that tuning gives them (Tune/InRun/RoundBudget.h), compiling
/// takes what it takes on 16 cores, and a replay what it takes at least.
///
/// Fails if no program has a time of the default.
llvm::Expected<SweepEvaluation> evaluateSweep(llvm::ArrayRef<SweepRow> Rows, const DeviceModel &D,
                                              const EvaluationLimits &Limits,
                                              const ModelScale &Scale = {});

/// Returns the expected smallest of \p Count values drawn from \p Values without replacement. The
/// I-th smallest of N values is the smallest drawn with probability C(N - I, Count - 1) / C(N,
/// Count). If \p Count is larger than N, all are drawn. \p Values must not be empty, and \p Count
/// must not be 0.
double expectedMinimum(std::vector<double> Values, size_t Count);

} // namespace carve
