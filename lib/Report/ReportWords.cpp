#include "Report/ReportWords.h"

#include "llvm/Support/FormatVariadic.h"

using namespace carve;

std::string carve::speedupText(const RatioInterval &R) {
  return llvm::formatv("{0:F3} [{1:F3},{2:F3}]", 1 / R.Median, 1 / R.High, 1 / R.Low).str();
}

std::string carve::reasonText(llvm::StringRef Reason) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Words[] = {
      {"budget", "the time budget (--budget) ended before it was decided"},
      {"below-share", "less than 0.1 % of GPU time"},
      {"in-no-unit", "not compiled by carve-nvcc, or its unit is no longer in the store"},
      {"relocatable-device-code", "-rdc=true: cannot be tuned with scope 'file'"},
      {"no-device-link", "-rdc=true: the device link was not made by carve-nvcc"},
      {"changed-inputs", "-rdc=true: an object or archive has changed since the device link"},
      {"device-link-failed", "-rdc=true: nvlink refuses the variants, or drops them"},
      {"ambiguous-name", "several different kernels of this name are loaded"},
      {"setmaxnreg", "moves registers between its warps itself (setmaxnreg)"},
      {"unknown-stack", "recursion or indirect calls: stack of unknown size"},
      {"external-call", "calls a function of another file"},
      {"shared-callee", "-rdc=true: shares a function with other kernels"},
  };
  for (const auto &[Id, Text] : Words)
    if (Reason == Id)
      return Text.str();
  return Reason.str();
}

std::string carve::inRunText(const InRunFinding &R) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Words[] = {
      {"fixed", "timed by whole runs"},
      {"replay", "replayed"},
      {"rotate", "rotated"},
      {"verify-rotate", "rotated, compared by replaying"},
  };
  std::string Text = R.Mode;
  for (const auto &[Mode, Word] : Words)
    if (R.Mode == Mode)
      Text = Word.str();
  if (!R.Reason.empty())
    Text += " (" + R.Reason + ")";
  if (R.Verified == "bitwise")
    Text += ", output equal bit by bit";
  else if (R.Verified == "within-spread")
    Text += ", output within the spread of the default's own runs";
  else if (R.Verified == "output")
    Text += ", the program's output equal";
  if (R.Rounds && !R.Verified.empty())
    Text += ", " + speedupText(R.Ratio) + " over " + std::to_string(R.Rounds) + " rounds";
  return Text;
}
