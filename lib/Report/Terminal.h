/// \file
/// Shows a progress line that rewrites itself on a terminal, and the summary of a tuning.
/// carve-nvcc and the commands of carve use it while they work.
#pragma once

#include "Support/Clock.h"
#include "Tune/Outcome/TuningReport.h"

#include <functional>
#include <string>

namespace carve {

/// Shows progress on standard error. Shows nothing if it is constructed with \p Enabled = false.
class TerminalProgress {
public:
  /// \p Program is printed before each text. \p Now returns seconds on a clock that never goes
  /// back.
  explicit TerminalProgress(bool Enabled, llvm::StringRef Program = "carve-nvcc",
                            std::function<double()> Now = steadySeconds)
      : Enabled(Enabled), Program(Program), Now(std::move(Now)) {}
  ~TerminalProgress() { clear(); }
  /// Shows the runs of a tuning. \p Expected is 0 if it is not known yet. \p Seconds is the time
  /// since the start.
  void show(unsigned Done, unsigned Expected, double Seconds);
  /// Shows work that consists of \p Of equal pieces and began with the first call for \p What.
  /// Updates the line at most ten times a second, and when all pieces are done.
  void step(llvm::StringRef What, size_t Done, size_t Of);
  /// Shows \p Text, cut to the terminal's width, instead of the present line. An empty \p Text
  /// removes the line.
  void say(llvm::StringRef Text);
  /// Removes the line.
  void clear();

private:
  void print(const std::string &Line);

  bool Enabled, Shown = false;
  std::string Program;
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
