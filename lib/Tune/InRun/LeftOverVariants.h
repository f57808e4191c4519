/// \file
/// The variants of each kernel that were in a timing run and were not timed, because the time for
/// their kernel was used up. They are compiled already, so the next run takes them before new ones.
#pragma once

#include "Tune/InRun/InRunSelection.h"

#include <cstddef>
#include <map>
#include <vector>

namespace carve {

class LeftOverVariants {
public:
  explicit LeftOverVariants(size_t Kernels) : RunsOf(Kernels) {}

  /// Takes note that \p Variant of kernel number \p Kernel is in the next run. If it could not be
  /// \p Assembled, it is not, and never comes again.
  void noteRun(size_t Kernel, size_t Variant, bool Assembled) {
    RunsOf[Kernel][Variant] += Assembled ? 1 : MostRuns;
  }
  /// The variants of kernel number \p Kernel that were in one run and were not timed, as its \p
  /// Outcome after all runs says. None if the probe refused to replay the kernel.
  std::vector<size_t> of(size_t Kernel, const InRunOutcome &Outcome) const;
  /// Takes note that no run times kernel number \p Kernel any more, so that none of its variants
  /// comes again. Without this, rounds without a run would follow each other until the budget is
  /// used up.
  void giveUp(size_t Kernel);
  /// Takes note that the next run has time for the first \p Most of of() only. The others do not
  /// come again.
  void giveUpBeyond(size_t Most, size_t Kernel, const InRunOutcome &Outcome);

private:
  static constexpr unsigned MostRuns = 2;
  /// By kernel and variant: in how many runs it was.
  std::vector<std::map<size_t, unsigned>> RunsOf;
};

} // namespace carve
