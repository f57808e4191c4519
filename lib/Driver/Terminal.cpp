#include "Driver/Terminal.h"

#include "Report/TextReport.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

std::string carve::progressText(unsigned Done, unsigned Expected, double Seconds) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << "carve-nvcc: tuning, run " << Done + 1;
  if (Expected > Done && Done > 0) {
    unsigned Left = Seconds / Done * (Expected - Done) + 0.5;
    OS << " of about " << Expected << ", " << Left / 60 << ":" << llvm::format("%02u", Left % 60)
       << " left";
  }
  return Text;
}

void TerminalProgress::show(unsigned Done, unsigned Expected, double Seconds) {
  print(progressText(Done, Expected, Seconds));
}

void TerminalProgress::say(llvm::StringRef Text) {
  unsigned Columns = llvm::sys::Process::StandardErrColumns();
  if (Text.empty())
    clear();
  else
    print("carve-nvcc: " + Text.take_front(Columns > 20 ? Columns - 14 : 66).str());
}

void TerminalProgress::print(const std::string &Line) {
  if (!Enabled)
    return;
  llvm::errs() << "\r\033[K" << Line;
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
