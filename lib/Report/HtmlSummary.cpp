#include "Report/HtmlSummary.h"

#include "Report/HtmlKernel.h"
#include "Report/HtmlText.h"
#include "Report/HtmlVariant.h"
#include "Report/ReportWords.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace carve;

namespace {

constexpr char Dash[] = "<span class=\"none\">\xE2\x80\x93</span>";

/// Returns the program's GPU time in the traced run, or 0 if the report does not tell it.
double gpuNsBefore(const TuningReport &R) {
  double Ns = 0, Share = 0;
  for (const KernelReport &K : R.Kernels) {
    Ns += K.MeanNs * double(K.Launches);
    Share += K.MeanNs > 0 ? K.Share : 0;
  }
  return Share > 0.5 ? Ns / Share : 0;
}

bool isTimed(const TuningReport &R) { return R.Note.empty() && R.Pairs > 0; }

std::string headline(const TuningReport &R) {
  if (!R.Note.empty())
    return "Not tuned: " + markupText(R.Note);
  size_t Tuned = R.tunedKernels();
  if (!Tuned)
    return "No kernel gains from another variant; nvcc\xE2\x80\x99s build is kept";
  return "<strong class=\"gain\">" + fixedText(1 / R.Program.Median, 3) +
         "\xC3\x97</strong> as fast on the GPU";
}

/// Returns \p Ratio as `0.970 [0.950, 1.010] of the default's`.
std::string ofDefault(const RatioInterval &Ratio) {
  return markupText(ratioText(Ratio)) + " of the default\xE2\x80\x99s";
}

/// One bar of a small chart, with its name and value.
class BarRow {
public:
  BarRow(llvm::StringRef Name, RatioInterval Ratio, std::string Value)
      : Name(Name), Ratio(Ratio), Value(std::move(Value)) {}
  /// \p Most is the ratio at the right end of the chart.
  std::string print(double Most, llvm::StringRef Class) const {
    auto Percent = [&](double X) { return 100 * X / Most; };
    std::string Whisker;
    if (Ratio.High > Ratio.Low)
      Whisker = llvm::formatv("<line class=\"whisker\" x1=\"{0:F2}%\" y1=\"9\" x2=\"{1:F2}%\" "
                              "y2=\"9\"/>",
                              Percent(Ratio.Low), Percent(Ratio.High))
                    .str();
    return llvm::formatv("<div class=\"bar-row\"><span class=\"bar-name\">{0}</span><svg "
                         "height=\"18\" aria-hidden=\"true\" focusable=\"false\"><rect "
                         "class=\"{1}\" width=\"{2:F2}%\" height=\"18\"/>{3}</svg><span "
                         "class=\"bar-value\">{4}</span></div>\n",
                         Name, Class, Percent(Ratio.Median), Whisker, Value)
        .str();
  }

private:
  llvm::StringRef Name;
  RatioInterval Ratio;
  std::string Value;
};

std::string printBars(const TuningReport &R) {
  if (!isTimed(R))
    return "";
  double Ns = gpuNsBefore(R), Most = std::max(1.0, R.Program.High);
  std::string Before = Ns > 0 ? durationText(Ns) : "1";
  std::string After = ratioText(R.Program);
  if (Ns > 0)
    After = durationText(R.Program.Median * Ns) + " <span class=\"interval\">[" +
            durationText(R.Program.Low * Ns) + ", " + durationText(R.Program.High * Ns) +
            "]</span>";
  return "<div class=\"bars\" role=\"group\" aria-label=\"GPU time before and after\">\n" +
         BarRow("before", {1, 1, 1}, Before).print(Most, "before") +
         BarRow("after", R.Program, After).print(Most, "after") + "</div>\n";
}

/// A list of names and values.
class Facts {
public:
  explicit Facts(llvm::StringRef Class) { OS << "<dl class=\"" << Class << "\">\n"; }
  void add(llvm::StringRef Name, const std::string &Html) {
    if (!Html.empty())
      OS << "<div><dt>" << Name << "</dt><dd>" << Html << "</dd></div>\n";
  }
  std::string print() {
    OS << "</dl>\n";
    return std::move(Text);
  }

private:
  std::string Text;
  llvm::raw_string_ostream OS{Text};
};

std::string amountText(uint64_t Count, llvm::StringRef What, llvm::StringRef Plural = "s") {
  return countText(Count) + " " + What.str() + (Count == 1 ? "" : Plural.str());
}

std::string secondsText(double Seconds) { return durationText(1e9 * Seconds); }

std::vector<std::string> notes(const TuningReport &R) {
  std::vector<std::string> All = gpuTexts(R);
  for (const GpuUser &U : R.OtherUsers)
    All.push_back(U.text());
  for (const std::string &Why : R.Reruns)
    All.push_back("timed again: " + Why);
  if (R.Unordered)
    All.push_back("the order of the output's lines varies from run to run, and was not compared");
  if (R.UnstableLines)
    All.push_back(std::to_string(R.UnstableLines) +
                  " line(s) of the output differ between runs of the default or depend on time, "
                  "and were not compared");
  return All;
}

/// Converts ISO 8601 to `2026-11-20 12:00:00 UTC`.
std::string dateText(std::string Date) {
  std::replace(Date.begin(), Date.end(), 'T', ' ');
  if (!Date.empty() && Date.back() == 'Z')
    Date = Date.substr(0, Date.size() - 1) + " UTC";
  return Date;
}

} // namespace

std::string carve::printResult(const TuningReport &R) {
  std::string Text = "<section class=\"summary\" aria-labelledby=\"result\">\n<h2 "
                     "id=\"result\">Result</h2>\n<p class=\"headline\">" +
                     headline(R) + "</p>\n" + printBars(R);
  Facts F("facts");
  if (isTimed(R)) {
    F.add("GPU time", ofDefault(R.Program));
    F.add("Wall time of the program", ofDefault(R.ProgramWall));
    if (R.ProgramSpan.Median > 0)
      F.add("From its first kernel to the end of the last", ofDefault(R.ProgramSpan));
    F.add("Confirmed over", pairsText(R.Pairs) + " of runs");
  }
  F.add("Confirmation", markupText(confirmationText(R)));
  if (R.Note.empty())
    F.add("Kernels tuned", llvm::formatv("{0} of {1}", R.tunedKernels(), R.Kernels.size()).str());
  std::string Variants;
  if (R.VariantsCompiled)
    Variants = countText(R.VariantsCompiled) + " compiled, ";
  if (R.VariantsCompiled || R.VariantsTimed)
    F.add("Variants", Variants + countText(R.VariantsTimed) + " timed");
  if (R.VariantsCompared)
    F.add("Outputs of variants compared", countText(R.VariantsCompared));
  std::string Runs = amountText(R.Runs, "run");
  if (R.RunsBeforeConfirmation)
    Runs += llvm::formatv(", {0} before the confirmation", R.RunsBeforeConfirmation).str();
  F.add("Runs of the program", Runs);
  if (R.WallS > 0)
    F.add("The tuning took",
          secondsText(R.WallS) +
              (R.PlainWallS > 0 ? ", one traced run " + secondsText(R.PlainWallS) : ""));
  return Text + F.print() + "</section>\n";
}

std::string carve::printCircumstances(const TuningReport &R) {
  Facts F("facts");
  std::string Device = markupText(R.Device);
  if (R.Gpus > 1)
    Device = std::to_string(R.Gpus) + " \xC3\x97 " + Device;
  F.add("Device", Device);
  F.add("Driver", markupText(R.Driver));
  F.add("nvcc", markupText(R.NvccVersion));
  if (!R.Date.empty())
    F.add("Date", "<time datetime=\"" + markupText(R.Date) + "\">" + markupText(dateText(R.Date)) +
                      "</time>");
  F.add("Workload", "<code>" + markupText(R.Workload) + "</code>");
  if (!R.Scope.empty())
    F.add("Decided", R.Scope == "file" ? "one cap per file" : "per kernel");
  if (R.Processes > 1)
    F.add("Processes on the GPU", std::to_string(R.Processes));
  if (R.GraphShare > 0)
    F.add("Launched from graphs",
          llvm::formatv("{0:f1} % of the GPU time", 100 * R.GraphShare).str());
  std::string Text = "<section class=\"environment\" aria-labelledby=\"environment\">\n<h2 "
                     "id=\"environment\">Environment</h2>\n" +
                     F.print();
  if (std::vector<std::string> Notes = notes(R); !Notes.empty()) {
    Text += "<h3>Notes</h3>\n<ul class=\"notes\">\n";
    for (const std::string &N : Notes)
      Text += "<li>" + markupText(N) + "</li>\n";
    Text += "</ul>\n";
  }
  return Text + "</section>\n";
}

namespace {

/// Prints one row of the table of kernels.
void printKernelRow(const TuningReport &R, const KernelReport &K, size_t Number,
                    llvm::raw_ostream &OS) {
  auto Cell = [&](double SortBy, const std::string &Html) {
    OS << "<td class=\"number\" data-v=\"" << shortNumber(SortBy) << "\">" << Html << "</td>";
  };
  std::string Link = hasVariants(K) ? "#k" + std::to_string(Number) : "";
  OS << "<tr" << (K.Tuned ? " class=\"tuned\"" : "") << "><th scope=\"row\">"
     << kernelNameHtml(K.Kernel, 160, Link);
  if (!K.Tuned && !K.Reason.empty() && K.Reason != KnownReason::BelowShare)
    OS << "<span class=\"why\">" << markupText(K.Reason.words()) << "</span>";
  OS << "</th>";
  Cell(K.Share, llvm::formatv("<svg class=\"share\" width=\"48\" height=\"8\" aria-hidden=\"true\" "
                              "focusable=\"false\"><rect width=\"{0:F1}%\" "
                              "height=\"8\"/></svg><span class=\"percent\">{1}</span>",
                              100 * K.Share, percentHtml(K.Share, 1))
                    .str());
  bool Confirmed = K.Tuned && K.Pairs;
  Cell(Confirmed ? 1 / K.Ratio.Median : 1,
       Confirmed ? "<strong>" + fixedText(1 / K.Ratio.Median, 3) +
                       "</strong> <span class=\"interval\">[" + fixedText(1 / K.Ratio.High, 3) +
                       ", " + fixedText(1 / K.Ratio.Low, 3) + "]</span>"
                 : Dash);
  OS << "<td class=\"text\">" << markupText(K.Variant) << "</td>";
  Cell(K.RegsAfter, changeHtml(std::to_string(K.RegsBefore), std::to_string(K.RegsAfter)));
  Cell(K.OccupancyAfter, K.OccupancyBefore > 0 ? changeHtml(occupancyText(K.OccupancyBefore),
                                                            occupancyText(K.OccupancyAfter))
                                               : Dash);
  Cell(K.SpillAfter, R.Scope == "file"
                         ? Dash
                         : changeHtml(std::to_string(K.SpillBefore), std::to_string(K.SpillAfter)));
  std::string Launch = K.MeanNs <= 0
                           ? ""
                           : changeHtml(durationText(K.MeanNs),
                                        durationText(K.MeanNs * (Confirmed ? K.Ratio.Median : 1)));
  Cell(K.MeanNs,
       Launch + "<span class=\"interval\">" + amountText(K.Launches, "launch", "es") + "</span>");
  OS << "</tr>\n";
}

void openTable(llvm::StringRef Id, llvm::StringRef Caption, llvm::raw_ostream &OS) {
  OS << "<div class=\"scroller\" role=\"region\" tabindex=\"0\" aria-labelledby=\"" << Id
     << "-c\"><table class=\"sortable kernels\" id=\"" << Id << "\"><caption id=\"" << Id << "-c\">"
     << Caption << "</caption>\n<thead><tr>";
  static constexpr std::pair<llvm::StringLiteral, llvm::StringLiteral> Headings[] = {
      {"Kernel", "text"},        {"GPU time", "number"},  {"Speedup", "number"},
      {"Variant", "text"},       {"Registers", "number"}, {"Occupancy", "number"},
      {"Spill bytes", "number"}, {"A launch", "number"}};
  for (const auto &[Words, Class] : Headings)
    OS << "<th scope=\"col\" class=\"" << Class << "\">" << Words << "</th>";
  OS << "</tr></thead>\n<tbody>\n";
}

} // namespace

std::string carve::printKernelTable(const TuningReport &R) {
  if (R.Kernels.empty())
    return "";
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  auto IsSmall = [](const KernelReport &K) {
    return K.Reason == KnownReason::BelowShare && !hasVariants(K);
  };
  OS << "<section class=\"table\" aria-labelledby=\"kernels-h\">\n<h2 "
        "id=\"kernels-h\">Kernels</h2>\n";
  openTable("kernels", "Kernels by GPU time", OS);
  double SmallShare = 0;
  size_t Small = 0;
  for (size_t I = 0; I < R.Kernels.size(); ++I) {
    if (!IsSmall(R.Kernels[I])) {
      printKernelRow(R, R.Kernels[I], I, OS);
      continue;
    }
    ++Small;
    SmallShare += R.Kernels[I].Share;
  }
  OS << "</tbody></table></div>\n";
  if (Small) {
    OS << "<details><summary>" << amountText(Small, "more kernel")
       << ", each less than 0.1&#160;% of "
       << "GPU time, together " << percentHtml(SmallShare, 1) << "</summary>\n";
    openTable("small", "Kernels of less than 0.1&#160;% of GPU time each", OS);
    for (size_t I = 0; I < R.Kernels.size(); ++I)
      if (IsSmall(R.Kernels[I]))
        printKernelRow(R, R.Kernels[I], I, OS);
    OS << "</tbody></table></div>\n</details>\n";
  }
  OS << "</section>\n";
  return Text;
}
