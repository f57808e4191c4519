/// \file
/// The ratios of one kernel's variants in a timing run, summed over its launch shapes. InRunRounds
/// sorts the records into rounds before, and InRunSelection judges by these ratios after.
#pragma once

#include "Protocol/PlanRecords.h"
#include "Tune/InRun/InRunRounds.h"
#include "Tune/InRun/InRunSelection.h"
#include "Tune/Selection/Statistics.h"
#include "Workload/InRunRecord.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace carve {

/// The ratios of one subject. Each is a variant's time over the default's in the same rounds.
/// Shapes have the weight of their traced time; what is not covered counts as if no variant changed
/// it.
class InRunRatios {
public:
  /// Keeps references to \p Subject and \p Limits.
  InRunRatios(const InRunSubject &Subject, const InRunRecord &Record, const InRunLimits &Limits);

  /// In the order of InRunSubject::Shapes.
  const std::vector<InRunShape> &shapes() const { return Shapes; }
  /// The traced time of all shapes.
  double totalNs() const { return TotalNs; }
  /// Whether \p S, one of shapes(), has the fewest rounds that tell something.
  bool covered(const InRunShape &S) const;
  /// Whether launches of the covered shape \p S run the default in the place of \p Variant, because
  /// it is not for them.
  bool leavesDefault(const InRunShape &S, size_t Variant) const;

  /// The weighted sum, over shapes, of \p Variant 's median ratios in the choosing rounds. It is 0
  /// if a covered shape whose launches run the variant has no such ratio, or if there is no such
  /// shape.
  RatioInterval choosing(size_t Variant) const;
  /// Whether \p Variant was in at least half of the choosing rounds of each covered shape whose
  /// launches run it. One that was not has left the race of a replay, because others were faster in
  /// the same rounds. Its few times may be faster than all others by chance.
  bool stayedInTheRace(size_t Variant) const;
  /// The same sum for the control copy, over all rounds: how far apart two identical copies are.
  /// Nothing if it was not timed in some covered shape.
  std::optional<RatioInterval> control() const;
  /// The ratios of \p Variant summed over shapes: as many as the shape with the fewest held-out
  /// rounds has rounds. The probe makes held-out rounds of the best variants of each shape only. If
  /// \p Variant was not among them, the upper end of its interval in the choosing rounds counts, so
  /// that it gains no advantage. Empty if some shape tells nothing of it.
  std::vector<double> heldOut(size_t Variant) const;
  /// What each shape's rounds say of the variants, whether they choose or are held out.
  std::vector<InRunShapeTimes> byShape() const;

private:
  LeastRounds leastRounds(const InRunShape &S) const;

  const InRunSubject &Subject;
  const InRunLimits &Limits;
  std::vector<InRunShape> Shapes;
  double TotalNs = 0;
};

} // namespace carve
