/// \file
/// Checks whether a run printed what the default prints. If this is unclear, the default is run
/// again to see how its own output varies. All runs of a tuning share one check, so that what one
/// run shows about the output helps the next.
#pragma once

#include "Workload/Workload.h"

#include <functional>
#include <map>
#include <mutex>
#include <vector>

namespace carve {

/// How what the kernels of a run write compares with what those of the default write, in memory.
enum class MemoryOfRun {
  NotCompared,
  WithinSpread, ///< It is no further off than the default's own runs are from each other.
  Same,
};

/// The check of one tuning.
class OutputCheck {
public:
  /// Runs the untouched program with its time stretched by \p Stretch.
  using DefaultRun = std::function<llvm::Expected<RunRecord>(const probe::TimeStretch &Stretch)>;
  /// Why the default may not run again, as text for a person; nothing if it may. \p Stretched tells
  /// whether its time would be stretched.
  using NoRunReason = std::function<std::optional<std::string>(bool Stretched)>;

  explicit OutputCheck(
      DefaultRun RunDefault,
      NoRunReason WhyNoRun = [](bool) { return std::optional<std::string>(); })
      : RunDefault(std::move(RunDefault)), WhyNoRun(std::move(WhyNoRun)) {}

  /// What is known of the default's output so far.
  OutputReference &reference() { return Reference; }
  const OutputReference &reference() const { return Reference; }

  /// Stretches the time of the first default run after a difference by \p By, so that lines that
  /// depend on time change (revealingStretch()). With no stretch, there is no such run.
  void stretchTimeBy(const probe::TimeStretch &By) { Stretch = By; }

  /// Returns what differs between \p Output and the default's output, as text for a person, or
  /// nothing if they are the same. Before it reports a difference, the default runs again to show
  /// what changes by itself: five times at most in the whole tuning, the first of them with its
  /// time stretched. If one may not be made, the difference is reported with the reason.
  ///
  /// Times may differ by what is known of the run in \p Memory. If that is the same, they may in
  /// lines of a form that the default changes (OutputReference::OtherTimes). If it is that or
  /// within the spread, any times may where the budget does not even allow a run that is not
  /// stretched, although fewer than five were made. If a run fails, the difference is reported.
  /// Runs that are made at once may ask at once. Fails if the tuning was interrupted.
  llvm::Expected<std::optional<std::string>>
  difference(const ProgramOutput &Output, MemoryOfRun Memory = MemoryOfRun::NotCompared);

  /// Whether \p Output differs from the default's in times alone, as far as that is known now, and
  /// difference() would run the default to tell whether that is a fault.
  bool asksForTimes(const ProgramOutput &Output);

  /// Keeps \p Output of a run of which \p Memory is known for differenceOfKept(), if it is not the
  /// same as the default's output as far as that is known now. Later runs of the default may show
  /// that the lines that differ change by themselves, so that no run has to be made for that alone.
  void keep(const ProgramOutput &Output, MemoryOfRun Memory);

  /// Returns what difference() returns for the outputs that keep() was given with \p Memory, or for
  /// the first of them that differs. Unless \p MayRun, it makes no run, and any difference from
  /// what is known of the default counts. Fails as difference() does.
  llvm::Expected<std::optional<std::string>> differenceOfKept(MemoryOfRun Memory,
                                                              bool MayRun = true);

  /// The number of default runs that were made for checks.
  unsigned runs() const { return Runs; }

private:
  bool mayAsk() const;

  std::mutex Mutex; ///< One at a time learns from runs of the default.
  DefaultRun RunDefault;
  NoRunReason WhyNoRun;
  OutputReference Reference;
  std::map<MemoryOfRun, std::vector<ProgramOutput>> Kept;
  probe::TimeStretch Stretch;
  unsigned Runs = 0, Plain = 0;
};

} // namespace carve
