/// \file
/// Shows a progress line that rewrites itself on a terminal, and the summary of a tuning.
/// carve-nvcc and the commands of carve use it while they work.
#pragma once

#include "Support/Clock.h"
#include "Support/ProgressDisplay.h"
#include "Tune/Outcome/TuningReport.h"

#include <functional>
#include <string>

namespace carve {

/// What TerminalProgress shows.
struct TerminalParts {
  std::string Program = "carve-nvcc"; ///< Printed before each text.
  bool Line = false;                  ///< The line of runs, steps and waits.
  bool Notes = false;                 ///< Notes, each on a line that stays.
};

/// Shows progress on standard error.
class TerminalProgress : public ProgressDisplay {
public:
  /// \p Now returns seconds on a clock that never goes back.
  explicit TerminalProgress(TerminalParts Parts, std::function<double()> Now = steadySeconds)
      : Parts(std::move(Parts)), Now(std::move(Now)) {}
  ~TerminalProgress() override { clear(); }
  void runs(unsigned Done, unsigned Expected, double Seconds) override;
  /// Updates the line at most ten times a second, and when all pieces are done. Takes the first
  /// call for \p What as the beginning of the work.
  void step(llvm::StringRef What, size_t Done, size_t Of) override;
  /// Cuts \p Text to the terminal's width. If it is empty, removes the line.
  void waiting(llvm::StringRef Text) override;
  void note(llvm::StringRef Text) override;
  /// Removes the line.
  void clear();

private:
  void print(const std::string &Line);

  TerminalParts Parts;
  bool Shown = false;
  std::function<double()> Now;
  std::string Doing; ///< What step() currently shows.
  double Began = 0, LastShown = 0;
};

/// Returns the line of a tuning: runs done and expected, and the time left.
std::string progressText(unsigned Done, unsigned Expected, double Seconds);
/// Returns the line of other work, for example `timing, 12 of 40, 0:35 left`.
std::string stepText(llvm::StringRef What, size_t Done, size_t Of, double Seconds);

/// Returns the report as carve-nvcc prints it on a terminal. It is one line if nothing was tuned.
std::string terminalSummary(const TuningReport &R);

} // namespace carve
