/// \file
/// What a person sees on a terminal: a progress line that rewrites itself, and the summary.
#pragma once

#include "Tune/TuningReport.h"

#include <string>

namespace carve {

/// Shows progress on standard error; nothing where it is \p Enabled = false.
class TerminalProgress {
public:
  explicit TerminalProgress(bool Enabled) : Enabled(Enabled) {}
  ~TerminalProgress() { clear(); }
  /// \p Expected 0: not known yet.
  void show(unsigned Done, unsigned Expected, double Seconds);
  /// Shows \p Text, cut to the terminal, in its place; nothing removes the line.
  void say(llvm::StringRef Text);
  /// Removes the line.
  void clear();

private:
  void print(const std::string &Line);

  bool Enabled, Shown = false;
};

/// The line itself: runs done and expected, time left.
std::string progressText(unsigned Done, unsigned Expected, double Seconds);

/// The report as the driver prints it on a terminal: one line where nothing was tuned.
std::string terminalSummary(const TuningReport &R);

} // namespace carve
