#include "Report/ReportWords.h"

#include "llvm/Support/FormatVariadic.h"

using namespace carve;

std::string carve::speedupText(const RatioInterval &R) {
  return llvm::formatv("{0:F3} [{1:F3},{2:F3}]", 1 / R.Median, 1 / R.High, 1 / R.Low).str();
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
