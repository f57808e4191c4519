#include "Report/TextReport.h"

#include "Report/ReportWords.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace carve;

namespace {

std::string formatted(const char *Format, double Value) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format(Format, Value);
  return Text;
}

std::string change(unsigned Before, unsigned After) {
  if (Before == After)
    return std::to_string(Before);
  return std::to_string(Before) + " > " + std::to_string(After);
}

std::string percentCell(double Fraction) { return formatted("%.0f%%", Fraction * 100); }

std::string occupancyChange(const KernelReport &K) {
  if (K.OccupancyBefore <= 0)
    return "-";
  std::string Before = percentCell(K.OccupancyBefore), After = percentCell(K.OccupancyAfter);
  return Before == After ? Before : Before + " > " + After;
}

std::string shortened(llvm::StringRef Name, size_t Width) {
  if (Name.size() <= Width)
    return Name.str();
  return (Name.take_front(Width - 3) + "...").str();
}

/// `40 variants compiled, 28 carved away, 12 timed; 9 more promise up to 0.7 %`
std::string countsText(const KernelReport &K) {
  std::string Text = std::to_string(K.Compiled) + " variants compiled, " +
                     std::to_string(K.Carved.size()) + " carved away, " +
                     std::to_string(K.Variants.size()) + " timed";
  if (K.End.Untried)
    Text += "; " + std::to_string(K.End.Untried) + " more promise up to " +
            formatted("%.1f %%", 100 * K.End.Promise);
  return Text;
}

/// `80 registers promise 2.1 %, but the launch domain forbids them`
std::string forbiddenText(const KernelReport &K) {
  return std::to_string(K.End.ForbiddenCap) + " registers promise " +
         formatted("%.1f %%", 100 * K.End.ForbiddenPromise) +
         ", but the largest block could not be launched (--launch-domain)";
}

void printHead(const TuningReport &R, llvm::raw_ostream &OS) {
  OS << R.Workload << " on " << (R.Gpus > 1 ? std::to_string(R.Gpus) + " x " : "") << R.Device
     << (R.Processes > 1 ? " in " + std::to_string(R.Processes) + " processes" : "") << ": ";
  if (!R.Note.empty()) {
    OS << "not tuned: " << R.Note << "\n";
    return;
  }
  size_t Tuned = R.tunedKernels();
  if (Tuned == 0)
    OS << "no kernel gains from another variant; nvcc's build is kept\n";
  else
    OS << Tuned << (Tuned == 1 ? " kernel" : " kernels") << " tuned, GPU time "
       << speedupText(R.Program) << " times as fast\n";
  if (R.VariantsCompiled)
    OS << R.VariantsCompiled << " variants compiled, ";
  OS << R.VariantsTimed << (R.VariantsCompiled ? " timed in " : " variants timed in ") << R.Runs
     << " runs, " << formatted("%.1f", R.WallS)
     << " s (one run: " << formatted("%.2f", R.PlainWallS) << " s";
  if (R.RunsBeforeConfirmation)
    OS << "; " << R.RunsBeforeConfirmation << " before the confirmation";
  OS << ")\n";
  if (std::string Confirmed = confirmationText(R); !Confirmed.empty())
    OS << "confirmation: " << Confirmed << "\n";
  if (R.TimingWallS > 0)
    OS << "timing within the program: " << formatted("%.2f", R.TimingWallS) << " s, "
       << R.VariantsCompared << " output(s) of variants compared with the default's\n";
  if (R.GraphShare > 0)
    OS << "launched from graphs: " << formatted("%.1f %%", 100 * R.GraphShare)
       << " of the GPU time\n";
  for (const std::string &Why : R.Reruns)
    OS << "timed again: " << Why << "\n";
  for (const std::string &Text : gpuTexts(R))
    OS << Text << "\n";
  for (const GpuUser &U : R.OtherUsers)
    OS << U.text() << "\n";
  if (R.Unordered)
    OS << "the order of the output's lines varies from run to run, and was not compared\n";
  if (R.UnstableLines)
    OS << R.UnstableLines << " line(s) of the output differ between runs of the default or depend "
       << "on time, and were not compared\n";
}

} // namespace

std::string carve::printTextReport(const TuningReport &R, unsigned Width) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printHead(R, OS);
  if (R.Kernels.empty())
    return Text;
  size_t Longest = 6, VariantWidth = 7;
  for (const KernelReport &K : R.Kernels) {
    Longest = std::max(Longest, K.Kernel.size());
    VariantWidth = std::max(VariantWidth, K.Variant.size());
  }
  size_t FixedColumns = 70 + VariantWidth;
  size_t NameWidth = Width > FixedColumns + 20 ? Width - FixedColumns : 20;
  NameWidth = std::min(NameWidth, Longest);
  OS << "\n"
     << llvm::left_justify("kernel", NameWidth) << "  share  "
     << llvm::left_justify("variant", VariantWidth)
     << " registers  occupancy   spill bytes  speedup [interval]\n";
  size_t Small = 0;
  double SmallShare = 0;
  for (const KernelReport &K : R.Kernels) {
    if (K.Reason == KnownReason::BelowShare) {
      ++Small;
      SmallShare += K.Share;
      continue;
    }
    OS << llvm::left_justify(shortened(K.Kernel, NameWidth), NameWidth) << "  "
       << llvm::right_justify(formatted("%.1f%%", K.Share * 100), 6) << " "
       << llvm::left_justify(K.Variant, VariantWidth) << " "
       << llvm::left_justify(change(K.RegsBefore, K.RegsAfter), 10) << " "
       << llvm::left_justify(occupancyChange(K), 11) << " "
       << llvm::left_justify(change(K.SpillBefore, K.SpillAfter), 12) << " "
       << (K.Tuned ? speedupText(K.Ratio) : "stays") << "\n";
    if (!K.Tuned && !K.Reason.empty())
      OS << "    " << K.Reason.words() << "\n";
    for (const std::string &Line : entryTexts(K))
      OS << "    " << Line << "\n";
    if (!K.InRun.Mode.empty())
      OS << "    " << inRunText(K.InRun) << "\n";
    if (K.Compiled)
      OS << "    " << countsText(K) << "\n";
    if (K.End.ForbiddenCap)
      OS << "    " << forbiddenText(K) << "\n";
  }
  if (Small)
    OS << Small << " other kernel(s), " << formatted("%.1f%%", SmallShare * 100)
       << " of GPU time together, each less than 0.1 %\n";
  return Text;
}
