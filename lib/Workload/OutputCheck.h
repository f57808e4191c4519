/// \file
/// Whether a run printed what the default prints, with the default run again where that is open.
/// Shared by all runs of a tuning, so that what one has learnt of the output serves the next.
#pragma once

#include "Workload/Workload.h"

#include <functional>

namespace carve {

class OutputCheck {
public:
  /// Runs the untouched program, every launch held back by so many ns.
  using DefaultRun = std::function<llvm::Expected<RunRecord>(uint64_t LaunchDelayNs)>;

  explicit OutputCheck(DefaultRun RunDefault) : RunDefault(std::move(RunDefault)) {}

  OutputReference &reference() { return Reference; }
  const OutputReference &reference() const { return Reference; }

  /// The first default that a difference asks for is held back at every launch by \p DelayNs, so
  /// that lines that depend on time show themselves (revealingDelayNs()). 0: no such run is needed.
  void revealTimeBy(uint64_t DelayNs) { RevealingNs = DelayNs; }

  /// Nothing where \p Output is the default's; else what differs, for a person. Before it says so,
  /// the default runs again until it has shown what changes by itself: five times at most in all.
  /// A default that fails teaches nothing. Fails where we were interrupted.
  llvm::Expected<std::optional<std::string>> difference(const ProgramOutput &Output);

  /// Runs of the default made for it.
  unsigned runs() const { return Runs; }

private:
  DefaultRun RunDefault;
  OutputReference Reference;
  uint64_t RevealingNs = 0;
  unsigned Runs = 0, Plain = 0;
};

} // namespace carve
