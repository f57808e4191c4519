#include "Report/ReportWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace carve;

std::string carve::speedupText(const RatioInterval &R) {
  return llvm::formatv("{0:F3} [{1:F3},{2:F3}]", 1 / R.Median, 1 / R.High, 1 / R.Low).str();
}

std::string carve::pairsText(unsigned Pairs) {
  return std::to_string(Pairs) + (Pairs == 1 ? " pair" : " pairs");
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
  if (!R.Gpu.empty())
    Text += " on " + R.Gpu;
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

std::vector<std::string> carve::gpuTexts(const TuningReport &R) {
  std::vector<std::string> Texts;
  if (R.TimedOn.size() > 1)
    Texts.push_back("kernels timed at once on " + llvm::join(R.TimedOn, ", ") + "; " +
                    R.TimedOn.front() + " confirmed");
  for (const LeftGpu &L : R.LeftGpus)
    Texts.push_back(L.Gpu + " was left out: " + L.Why);
  if (!R.GpuNote.empty())
    Texts.push_back(R.GpuNote);
  return Texts;
}

std::vector<std::string> carve::entryTexts(const KernelReport &K) {
  std::vector<std::string> Texts;
  // What a composed variant is composed of.
  bool Different = llvm::any_of(
      K.Entries, [&](const EntryHold &E) { return E.Variant != K.Entries.front().Variant; });
  for (const EntryHold &E : K.Entries)
    Texts.push_back("a further entry" + (Different ? " (" + E.Variant + ")" : std::string()) +
                    ", for launches with " + E.When + ": its guard " + holdText(E.Now));
  for (const EntryHold &E : K.Earlier) {
    if (std::string Warning = holdWarning(E.When, E.Tuned, E.Now); !Warning.empty())
      Texts.push_back("warning: " + Warning);
    else if (llvm::none_of(K.Entries, [&](const EntryHold &New) { return New.When == E.When; }))
      Texts.push_back("before, a further entry for launches with " + E.When + ": its guard " +
                      holdText(E.Now));
  }
  return Texts;
}

std::string carve::confirmationText(const TuningReport &R) {
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Words[] = {
      {"decided", "the times of each candidate decided"},
      {"sum", "the program gained what was predicted for all candidates together"},
      {"pair-limit", "some candidates were undecided after the most that are made"},
      {"run-limit", "the limit on runs (--max-runs) allowed no more"},
      {"budget", "the time budget (--budget) allowed no more"},
      {"fault", "a run failed, or its output was wrong"},
  };
  for (const auto &[Id, Text] : Words) {
    if (R.Ended != Id)
      continue;
    std::string All = pairsText(R.PairsMade) + " of runs, " + Text.str();
    if (R.Pairs && R.Pairs < R.PairsMade)
      All += " (the last " + std::to_string(R.Pairs) + " without those that had failed before)";
    return All;
  }
  return "";
}
