#include "Report/ExplainReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace carve;

namespace {

/// A variant as a line of the table.
struct Line {
  std::string Name, Regs, Occupancy, Spills, Efficiency, Utilization, Result;
};

std::string numberOrDash(const char *Format, double Value) {
  return Value > 0 ? llvm::formatv(Format, Value).str() : "-";
}

std::string resultOf(const KernelReport &K, const VariantReport &V) {
  if (!V.Carved.empty())
    return "carved: " + V.Carved;
  std::string Text = V.Ratio > 0 ? llvm::formatv("{0:f3} of the default's time", V.Ratio).str()
                                 : std::string("not timed");
  if (!V.Fault.empty())
    return "rejected: " + V.Fault;
  if (V.Name == K.Variant && K.Tuned)
    Text += ", chosen";
  return Text;
}

Line lineOf(const KernelReport &K, const VariantReport &V) {
  return {V.Name,
          std::to_string(V.Regs),
          llvm::formatv("{0:f0}%", 100 * V.Occupancy),
          std::to_string(V.SpillBytes),
          numberOrDash("{0:e2}", V.Efficiency),
          numberOrDash("{0:f1}", V.Utilization),
          resultOf(K, V)};
}

/// The fastest first, then what was not timed.
std::vector<VariantReport> byTime(std::vector<VariantReport> Variants) {
  llvm::stable_sort(Variants, [](const VariantReport &A, const VariantReport &B) {
    auto Key = [](const VariantReport &V) { return V.Ratio > 0 ? V.Ratio : 1e300; };
    return Key(A) < Key(B);
  });
  return Variants;
}

void printTable(const std::vector<Line> &Lines, llvm::raw_ostream &OS) {
  static constexpr std::string Line::*Columns[] = {&Line::Name,       &Line::Regs,
                                                   &Line::Occupancy,  &Line::Spills,
                                                   &Line::Efficiency, &Line::Utilization};
  std::vector<size_t> Widths;
  for (auto Column : Columns) {
    size_t Width = 0;
    for (const Line &L : Lines)
      Width = std::max(Width, (L.*Column).size());
    Widths.push_back(Width);
  }
  for (const Line &L : Lines) {
    OS << "  " << llvm::left_justify(L.Name, Widths[0]);
    for (size_t C = 1; C < std::size(Columns); ++C)
      OS << "  " << llvm::right_justify(L.*Columns[C], Widths[C]);
    OS << "  " << L.Result << "\n";
  }
}

void printKernel(const KernelReport &K, llvm::raw_ostream &OS) {
  OS << K.Kernel << llvm::formatv(", {0:f1}% of GPU time: ", 100 * K.Share);
  if (K.Tuned)
    OS << K.Variant
       << llvm::formatv(", {0:f3} [{1:f3},{2:f3}] times as fast\n", 1 / K.Ratio.Median,
                        1 / K.Ratio.High, 1 / K.Ratio.Low);
  else
    OS << "stays as it is" << (K.Reason.empty() ? "" : ": " + K.Reason) << "\n";
  OS << "  " << K.Compiled << " variants compiled, " << K.Variants.size() << " timed, "
     << K.Carved.size() << " carved away\n";
  std::vector<Line> Lines{
      {"variant", "registers", "occupancy", "spill bytes", "efficiency", "utilization", ""}};
  Lines.push_back({"default", std::to_string(K.RegsBefore),
                   llvm::formatv("{0:f0}%", 100 * K.OccupancyBefore), std::to_string(K.SpillBefore),
                   "-", "-", K.Tuned ? "" : "chosen"});
  for (const VariantReport &V : byTime(K.Variants))
    Lines.push_back(lineOf(K, V));
  for (const VariantReport &V : K.Carved)
    Lines.push_back(lineOf(K, V));
  printTable(Lines, OS);
  for (const std::string &Dropped : K.Dropped)
    OS << "  " << Dropped << "\n";
}

} // namespace

std::string carve::printExplanation(const TuningReport &R, llvm::StringRef Kernel) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  for (const KernelReport &K : R.Kernels) {
    bool Asked = Kernel.empty() ? K.Compiled > 0 || !K.Variants.empty()
                                : llvm::StringRef(K.Kernel).contains(Kernel) ||
                                      llvm::StringRef(K.Mangled).contains(Kernel);
    if (!Asked)
      continue;
    if (!Text.empty())
      OS << "\n";
    printKernel(K, OS);
  }
  return Text;
}
