/// \file
/// Whether a variant computes what the default computes: the default's output learnt from several
/// runs, and each variant's compared with it, on the same inputs.
#pragma once

#include "Probe/Memory/Snapshot.h"
#include "Probe/Process/Failure.h"
#include "Probe/Replay/ReplayRuns.h"
#include "Protocol/TimingRecords.h"

#include <set>
#include <string>
#include <vector>

namespace carve::probe {

/// How far apart the default's own outputs are.
struct OutputSpread {
  uint64_t Words = 0;
  double RelativeF32 = 0, RelativeF64 = 0;
  bool SameMultiset = true; ///< Every run left the same words, in whatever order.
  uint64_t Multiset = 0;

  /// \p D is of one more run of the default.
  void widen(const OutputDifference &D);
  /// Whether an output may be one of the default's: as many words differ and by as much as they
  /// do between its own runs, with room for the runs that were not made.
  bool holds(const OutputDifference &D) const;
};

/// Adds \p More to \p Spans, which are sorted and apart. Whether it was all in there.
bool cover(std::vector<Span> &Spans, const std::vector<Span> &More);

struct Judgement {
  Verdict Output = Verdict::Differs;
  std::string Detail; ///< Of the record.
};

class Verification {
public:
  /// Variants in \p Measured compute something else.
  Verification(ReplayRuns &Runs, Snapshot &Memory, const std::set<size_t> &Measured)
      : Runs(Runs), Memory(Memory), Measured(Measured) {}

  /// Runs the default until its output is known.
  Failure learnDefault();

  /// Runs \p Variant and compares. Where a measured variant has written what the default leaves as
  /// it is, that may be because the default writes there what was there before: it is Stray where
  /// the default, run behind it, does not put that right, and else counts to dirty().
  Failure verify(size_t Variant, const DriverApi &Driver, Judgement &Found);

  bool deterministic() const { return Deterministic; }
  bool idempotent() const { return Idempotent; }
  /// Where the default writes, and measured variants that were verified.
  const std::vector<Span> &dirty() const { return Dirty; }

private:
  Failure runDefault();
  Failure learnOnce(bool &Settled);
  Failure learnSpread(bool &Settled);
  /// One comparison; \p Stray: something was written where the default does not write.
  Failure compare(size_t Variant, OutputDifference &Difference, bool &Stray);
  Failure compareBehindDefault(const std::vector<Span> &Written, bool &Stray);

  ReplayRuns &Runs;
  Snapshot &Memory;
  const std::set<size_t> &Measured;
  std::vector<Span> Dirty;
  bool Deterministic = true, Idempotent = false;
  OutputSpread Spread;
};

} // namespace carve::probe
