/// \file
/// Checks whether a variant computes what the default computes: learns the output of the default
/// from several runs, and compares each variant's output on the same inputs with it.
#pragma once

#include "Probe/Memory/Snapshot.h"
#include "Probe/Process/Failure.h"
#include "Probe/Replay/ReplayRuns.h"
#include "Protocol/TimingRecords.h"

#include <set>
#include <string>
#include <vector>

namespace carve::probe {

/// How far the default's own outputs differ from each other.
struct OutputSpread {
  uint64_t Words = 0;
  double RelativeF32 = 0, RelativeF64 = 0;
  bool SameMultiset = true; ///< Set while every run has left the same words, in any order.
  uint64_t Multiset = 0;

  /// Takes the difference of one more run of the default.
  void widen(const OutputDifference &D);
  /// Returns whether an output may be one of the default's: the number of differing words and the
  /// size of the differences are as between the default's own runs, with a margin for runs that
  /// were not made.
  bool holds(const OutputDifference &D) const;
};

/// Adds \p More to \p Spans, which are sorted and do not touch. Returns whether \p Spans contained
/// all of it before.
bool cover(std::vector<Span> &Spans, const std::vector<Span> &More);

/// The result for one variant.
struct Judgement {
  Verdict Output = Verdict::Differs;
  std::string Detail; ///< The detail for the record.
};

/// The verification of one replayed launch.
class Verification {
public:
  /// The variants in \p Measured are expected to compute something else. With \p MayDoubt, an
  /// output that was always the same may turn out to vary while variants are verified.
  Verification(ReplayRuns &Runs, Snapshot &Memory, const std::set<size_t> &Measured, bool MayDoubt)
      : Runs(Runs), Memory(Memory), Measured(Measured), MayDoubt(MayDoubt) {}

  /// Runs the default until its output is known. Fails if it cannot be determined.
  Failure learnDefault();

  /// Runs \p Variant and compares its output. Before the first variant is blamed for what may be
  /// rounding, the default runs some more times: the output of its first runs may have been the
  /// same by chance. The clock takes the variant's runs if they are \p Timed.
  ///
  /// A measured variant may have changed bytes that the default does not change. The reason may be
  /// that the default writes there the value that was there before. Therefore the default runs
  /// after the variant: if it restores these bytes, they count as dirty(), otherwise the verdict is
  /// Stray.
  Failure verify(size_t Variant, const DriverApi &Driver, bool Timed, Judgement &Found);

  bool deterministic() const { return Deterministic; }
  bool idempotent() const { return Idempotent; }
  /// Returns where the default, and the measured variants that were verified, write.
  const std::vector<Span> &dirty() const { return Dirty; }

private:
  Failure runDefault();
  Failure learnOnce(bool &Settled);
  Failure learnRepeat();
  Failure learnSpread(bool &Settled);
  Failure doubt();
  /// Makes one comparison. \p Stray says that something was written where the default does not
  /// write.
  Failure compare(size_t Variant, OutputDifference &Difference, bool &Stray);
  Failure compareBehindDefault(const std::vector<Span> &Written, bool &Stray);

  ReplayRuns &Runs;
  Snapshot &Memory;
  const std::set<size_t> &Measured;
  std::vector<Span> Dirty;
  bool MayDoubt;
  bool Deterministic = true, Idempotent = false;
  OutputSpread Spread;
};

} // namespace carve::probe
