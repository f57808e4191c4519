/// \file
/// Judges decisions that were timed again: whether each is still faster than nvcc's code. `carve
/// recheck` prints it.
#pragma once

#include "Tune/TunePipeline.h"

#include "llvm/Support/JSON.h"

namespace carve {

/// What became of a decision.
enum class RecheckVerdict {
  Holds,     ///< It won again, as a new tuning would have it.
  Uncertain, ///< Its median is below the default's, but that was not confirmed.
  Lost,      ///< It is not faster than the default, or its output differs.
  Untimed,   ///< It was not timed: it is not possible any more, or there was no time left.
};

/// A decision and its times, then and now.
struct RecheckedKernel {
  std::string Kernel, Mangled;
  double Share = 0; ///< Share of the GPU time of this run, 0 to 1.
  EarlierDecision Earlier;
  RecheckVerdict Verdict = RecheckVerdict::Untimed;
  /// Its time over the default's in this run; absent if it was not timed.
  std::optional<RatioInterval> Now;
  std::string Why; ///< Empty if it holds.
};

/// Judges one decision by what a tuning with PointSet::Decided says of its kernel.
RecheckedKernel recheckedKernel(const KernelReport &Kernel, const EarlierDecision &Earlier);

/// A recheck of one workload. Kernels without a decision are left out.
struct RecheckOutcome {
  std::string Date, Workload, Device, Driver, Toolkit, Note; ///< As in TuningReport.
  unsigned Runs = 0;
  double WallS = 0;
  std::vector<RecheckedKernel> Kernels; ///< By falling share.
  /// In a recheck of a whole store: where the workload ran, and how its program differs from the
  /// one that was tuned, empty if it does not.
  std::string Directory = {}, ProgramChange = {};

  size_t count(RecheckVerdict V) const;
};

RecheckOutcome recheckOutcome(const TuneResult &Result);

/// Returns `holds`, `uncertain`, `lost` or `untimed`.
llvm::StringRef nameOf(RecheckVerdict V);

/// Returns the outcome as text: a line that sums up, and one for each kernel.
std::string printRecheckText(const RecheckOutcome &Outcome);
/// Returns the outcome as JSON; share/doc/formats.md describes it.
llvm::json::Value recheckValue(const RecheckOutcome &Outcome);
/// Returns the same as text.
std::string printRecheckJson(const RecheckOutcome &Outcome);

} // namespace carve
