#include "Explain/ExplainReport.h"

#include "Explain/LimitsReport.h"
#include "Report/JsonReport.h"
#include "Report/ReportWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace carve;

namespace {

/// A variant as one line of the table.
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

/// Returns the timed variants with the fastest first, then those that were not timed.
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
    OS << "stays as it is" << (K.Reason.empty() ? "" : ": " + K.Reason.text()) << "\n";
  for (const std::string &Entry : entryTexts(K))
    OS << "  " << Entry << "\n";
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
  for (const Finding &F : reportFindings(K))
    OS << "  " << F.Topic << ": " << F.Text << "\n";
}

/// True if \p K matches \p Name, a part of its name. An empty name matches every kernel that had
/// variants.
bool isAsked(const KernelReport &K, llvm::StringRef Name) {
  if (Name.empty())
    return K.Compiled > 0 || !K.Variants.empty();
  return llvm::StringRef(K.Kernel).contains(Name) || llvm::StringRef(K.Mangled).contains(Name);
}

llvm::json::Value toJson(const VariantReport &V) {
  llvm::json::Object O{{"name", V.Name},
                       {"regs", V.Regs},
                       {"spill-bytes", V.SpillBytes},
                       {"occupancy", V.Occupancy},
                       {"ratio", V.Ratio > 0 ? llvm::json::Value(V.Ratio) : nullptr}};
  if (!V.Carved.empty())
    O["carved"] = V.Carved;
  if (!V.Fault.empty())
    O["fault"] = llvm::json::fixUTF8(V.Fault);
  return O;
}

llvm::json::Value toJson(const KernelReport &K) {
  llvm::json::Array Variants, Findings, Dropped;
  for (const VariantReport &V : byTime(K.Variants))
    Variants.push_back(toJson(V));
  for (const VariantReport &V : K.Carved)
    Variants.push_back(toJson(V));
  for (const Finding &F : reportFindings(K))
    Findings.push_back(llvm::json::Object{{"topic", F.Topic},
                                          {"text", F.Text},
                                          {"tried", llvm::json::fixUTF8(F.Tried)},
                                          {"author", F.Author}});
  for (const std::string &Text : K.Dropped)
    Dropped.push_back(llvm::json::fixUTF8(Text));
  llvm::json::Array Entries, Earlier;
  for (const EntryHold &E : K.Entries)
    Entries.push_back(entryHoldJson(E));
  for (const EntryHold &E : K.Earlier)
    Earlier.push_back(entryHoldJson(E));
  return llvm::json::Object{{"kernel", llvm::json::fixUTF8(K.Kernel)},
                            {"mangled", llvm::json::fixUTF8(K.Mangled)},
                            {"share", K.Share},
                            {"launches", static_cast<int64_t>(K.Launches)},
                            {"mean-ns", K.MeanNs},
                            {"regs", K.RegsBefore},
                            {"spill-bytes", K.SpillBefore},
                            {"occupancy", K.OccupancyBefore},
                            {"limiter", nullptr},
                            {"findings", std::move(Findings)},
                            {"compiled", K.Compiled},
                            {"variants", std::move(Variants)},
                            {"dropped", std::move(Dropped)},
                            {"entries", std::move(Entries)},
                            {"earlier-entries", std::move(Earlier)},
                            {"chosen", K.Tuned ? K.Variant : "default"},
                            {"ratio", K.Tuned ? llvm::json::Value(K.Ratio.Median) : nullptr},
                            {"reason", llvm::json::fixUTF8(K.Reason.text())}};
}

} // namespace

std::string carve::printExplanation(const TuningReport &R, llvm::StringRef Kernel) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  for (const KernelReport &K : R.Kernels) {
    if (!isAsked(K, Kernel))
      continue;
    if (!Text.empty())
      OS << "\n";
    printKernel(K, OS);
  }
  return Text;
}

std::string carve::printExplanationJson(const TuningReport &R, llvm::StringRef Kernel) {
  llvm::json::Array Kernels;
  for (const KernelReport &K : R.Kernels)
    if (isAsked(K, Kernel))
      Kernels.push_back(toJson(K));
  if (Kernels.empty() && !Kernel.empty())
    return "";
  llvm::json::Object O{{"carve-explain", 1},
                       {"workload", llvm::json::fixUTF8(R.Workload)},
                       {"tuned-on", R.Date},
                       {"device", llvm::json::Object{{"name", llvm::json::fixUTF8(R.Device)}}},
                       {"kernels", std::move(Kernels)}};
  return llvm::formatv("{0:2}\n", llvm::json::Value(std::move(O))).str();
}
