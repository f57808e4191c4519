#include "Report/Terminal.h"

#include "Report/TextReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cmath>

using namespace carve;

/// Returns `, 1:00 left`, if \p Done of \p Of pieces took \p Seconds.
static std::string timeLeft(size_t Done, size_t Of, double Seconds) {
  std::string Text;
  auto Left = unsigned(std::lround(Seconds / double(Done) * double(Of - Done)));
  llvm::raw_string_ostream(Text) << ", " << Left / 60 << ":" << llvm::format("%02u", Left % 60)
                                 << " left";
  return Text;
}

std::string carve::progressText(unsigned Done, unsigned Expected, double Seconds) {
  std::string Text = "tuning, run " + std::to_string(Done + 1);
  if (Expected > Done && Done > 0)
    Text += " of about " + std::to_string(Expected) + timeLeft(Done, Expected, Seconds);
  return Text;
}

std::string carve::stepText(llvm::StringRef What, size_t Done, size_t Of, double Seconds) {
  std::string Text = What.str() + ", " + std::to_string(Done) + " of " + std::to_string(Of);
  // In the first second, the time left cannot be estimated.
  if (Done > 0 && Done < Of && Seconds >= 1)
    Text += timeLeft(Done, Of, Seconds);
  return Text;
}

void TerminalProgress::runs(unsigned Done, unsigned Expected, double Seconds) {
  print(progressText(Done, Expected, Seconds));
}

void TerminalProgress::step(llvm::StringRef What, size_t Done, size_t Of) {
  const double Time = Now();
  bool First = Doing != What || Done == 0;
  if (First) {
    Doing = What.str();
    Began = Time;
  }
  if (!First && Done < Of && Time - LastShown < 0.1)
    return;
  LastShown = Time;
  print(stepText(What, Done, Of, Time - Began));
}

void TerminalProgress::waiting(llvm::StringRef Text) {
  unsigned Columns = llvm::sys::Process::StandardErrColumns();
  if (Text.empty())
    clear();
  else
    print(Text.take_front(Columns > 20 ? Columns - 14 : 66).str());
}

void TerminalProgress::note(llvm::StringRef Text) {
  if (!Parts.Notes)
    return;
  clear();
  llvm::errs() << Parts.Program << ": note: " << Text << "\n";
}

void TerminalProgress::print(const std::string &Line) {
  if (!Parts.Line)
    return;
  llvm::errs() << "\r\033[K" << Parts.Program << ": " << Line;
  llvm::errs().flush();
  Shown = true;
}

void TerminalProgress::clear() {
  if (Shown)
    llvm::errs() << "\r\033[K";
  Shown = false;
}

std::string carve::terminalSummary(const TuningReport &R) {
  if (!R.Note.empty())
    return "carve-nvcc: note: " + R.Workload + " was not tuned: " + R.Note + "\n";
  unsigned Columns = llvm::sys::Process::StandardErrColumns();
  return printTextReport(R, Columns ? Columns : 100);
}
