/// \file
/// What a person sees on a terminal: a progress line that rewrites itself, and the summary.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include <functional>
#include <string>

namespace carve {

/// Seconds on the steady clock.
double steadySeconds();

/// Shows progress on standard error; nothing where it is \p Enabled = false.
class TerminalProgress {
public:
  /// \p Program stands before the text. \p Now: seconds on some clock that never goes back.
  explicit TerminalProgress(bool Enabled, llvm::StringRef Program = "carve-nvcc",
                            std::function<double()> Now = steadySeconds)
      : Enabled(Enabled), Program(Program), Now(std::move(Now)) {}
  ~TerminalProgress() { clear(); }
  /// Of a tuning, its runs. \p Expected 0: not known yet.
  void show(unsigned Done, unsigned Expected, double Seconds);
  /// Of work of \p Of equal pieces, which began with the first call for \p What. Shown ten times a
  /// second at most, and when all is done.
  void step(llvm::StringRef What, size_t Done, size_t Of);
  /// Shows \p Text, cut to the terminal, in its place; nothing removes the line.
  void say(llvm::StringRef Text);
  /// Removes the line.
  void clear();

private:
  void print(const std::string &Line);

  bool Enabled, Shown = false;
  std::string Program;
  std::function<double()> Now;
  std::string Doing; ///< What step() tells of.
  double Began = 0, LastShown = 0;
};

/// The line of a tuning: runs done and expected, time left.
std::string progressText(unsigned Done, unsigned Expected, double Seconds);
/// The line of other work: `timing, 12 of 40, 0:35 left`.
std::string stepText(llvm::StringRef What, size_t Done, size_t Of, double Seconds);

/// The report as the driver prints it on a terminal: one line where nothing was tuned.
std::string terminalSummary(const TuningReport &R);

} // namespace carve
