#include "Report/HtmlKernel.h"

#include "Report/HtmlPlanePlot.h"
#include "Report/HtmlText.h"
#include "Report/HtmlTimePlot.h"
#include "Report/ReportWords.h"
#include "Search/Variant.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

bool carve::hasVariants(const KernelReport &K) {
  return !K.Variants.empty() || !K.Carved.empty() || !K.Dropped.empty();
}

std::string carve::changeHtml(const std::string &Before, const std::string &After) {
  if (Before == After)
    return Before;
  return "<span class=\"was\">" + Before + "</span> \xE2\x86\x92 " + After;
}

namespace {

/// The section of one kernel while it is printed.
class KernelSection {
public:
  KernelSection(const TuningReport &R, const KernelReport &K, size_t Number)
      : K(K), Id("k" + std::to_string(Number)), Variants(shownVariants(K)),
        Measure(spillMeasure(Variants, R.Scope)) {}

  std::string print();

private:
  void printHead();
  void printFacts();
  void fact(llvm::StringRef Name, const std::string &Html);
  void printPictures();
  void printTable();
  void printHeadings();
  void printRow(const ShownVariant &V);
  void cell(double Value, const std::string &Text, bool Known = true);
  void printLevels();
  void printDropped();

  const KernelReport &K;
  std::string Id;
  std::vector<ShownVariant> Variants;
  SpillMeasure Measure;
  std::string Text;
  llvm::raw_string_ostream OS{Text};
};

void KernelSection::printHead() {
  OS << "<header><h3 id=\"" << Id << "-h\">" << kernelNameHtml(K.Kernel, 240) << "</h3>\n";
  OS << "<p class=\"verdict\"><strong class=\"chip " << (K.Tuned ? "tuned" : "stays") << "\">"
     << (K.Tuned ? markupText(K.Variant) : "stays") << "</strong> ";
  if (!K.Entries.empty())
    OS << (K.Entries.size() == 1 ? "as a further entry: " : "as further entries: ");
  if (K.Tuned && K.Pairs)
    OS << markupText(speedupText(K.Ratio)) << " times as fast, confirmed over "
       << pairsText(K.Pairs) << " of runs";
  else if (!K.Reason.empty())
    OS << markupText(K.Reason.words());
  OS << "</p></header>\n";
  for (const std::string &Entry : entryTexts(K))
    OS << "<p>" << markupText(Entry) << "</p>\n";
}

void KernelSection::fact(llvm::StringRef Name, const std::string &Html) {
  OS << "<div><dt>" << Name << "</dt><dd>" << Html << "</dd></div>\n";
}

void KernelSection::printFacts() {
  OS << "<dl class=\"facts\">\n";
  fact("GPU time", percentHtml(K.Share, 1));
  std::string Launches = countText(K.Launches);
  if (K.MeanNs > 0)
    Launches += " of " + durationText(K.MeanNs);
  fact("Launches", Launches);
  fact("Registers", changeHtml(std::to_string(K.RegsBefore), std::to_string(K.RegsAfter)));
  if (K.OccupancyBefore > 0)
    fact("Occupancy",
         changeHtml(occupancyText(K.OccupancyBefore), occupancyText(K.OccupancyAfter)));
  if (Measure != SpillMeasure::Unknown)
    fact("Spill bytes", changeHtml(std::to_string(K.SpillBefore), std::to_string(K.SpillAfter)));
  if (K.MostRegs)
    fact("Register region", std::to_string(K.LeastRegs) + " to " + std::to_string(K.MostRegs));
  if (K.Compiled)
    fact("Variants", llvm::formatv("{0} compiled, {1} carved away, {2} timed", K.Compiled,
                                   K.Carved.size(), K.Variants.size())
                         .str());
  if (!K.Shapes.empty())
    fact(
        K.Shapes.size() == 1 ? "Launch shape" : "Launch shapes, the heaviest first",
        markupText(K.Shapes.front()) +
            (K.Shapes.size() > 1 ? llvm::formatv(" and {0} more", K.Shapes.size() - 1).str() : ""));
  if (!K.InRun.Mode.empty())
    fact("Timed", markupText(inRunText(K.InRun)));
  if (!K.Source.empty())
    fact("Source", markupText(K.Source));
  OS << "</dl>\n";
}

void KernelSection::printPictures() {
  std::string Plane = printPlanePlot(Variants, Measure, Id + "-plane");
  OS << "<div class=\"pictures" << (Plane.empty() ? " alone" : "") << "\">\n<figure>\n"
     << "<figcaption>Time, occupancy and spills against registers</figcaption>\n"
     << printTimePlot(K, Variants, Measure, Id + "-time");
  OS << "<p class=\"key\">Lower is faster; bars are 95&#160;% intervals. Shaded steps: occupancy, "
        "right axis";
  if (K.Levels.empty())
    OS << ", if the report knows it from a variant";
  else
    OS << ". Triangles: critical points, the most registers with so many blocks per SM";
  OS << ".</p>\n</figure>\n";
  if (!Plane.empty())
    OS << "<div>\n<figure>\n<figcaption>Efficiency and utilization</figcaption>\n"
       << Plane
       << "<p class=\"key\">Static metrics, better to the right and up. The line is the Pareto "
          "front.</p>\n</figure>\n"
       << printLegend(Variants) << "</div>\n";
  OS << "</div>\n";
  if (Plane.empty())
    OS << printLegend(Variants);
}

void KernelSection::printHeadings() {
  auto Heading = [&](llvm::StringRef Words, llvm::StringRef Class = "number") {
    OS << "<th scope=\"col\" class=\"" << Class << "\">" << Words << "</th>";
  };
  OS << "<thead><tr>";
  Heading("Variant", "text");
  Heading("Time / default", "number rising");
  Heading("Registers");
  Heading("Occupancy");
  if (Measure != SpillMeasure::Unknown)
    Heading("Spill bytes");
  if (Measure == SpillMeasure::LocalBytes)
    Heading("Local bytes a thread");
  Heading("Efficiency");
  Heading("Utilization");
  Heading("Outcome", "text");
  OS << "</tr></thead>\n";
}

/// Prints a cell. If the value is not known, the cell is sorted to the end.
void KernelSection::cell(double Value, const std::string &Said, bool Known) {
  OS << "<td class=\"number\" data-v=\"" << (Known ? shortNumber(Value) : "unknown") << "\">"
     << (Known ? Said : "<span class=\"none\">\xE2\x80\x93</span>") << "</td>";
}

void KernelSection::printRow(const ShownVariant &V) {
  OS << "<tr class=\"" << markClasses(V) << "\"><th scope=\"row\">" << markupText(V.Name)
     << "</th>";
  cell(V.Ratio.Median, V.Fate == VariantFate::Default ? "1" : markupText(ratioText(V.Ratio)),
       V.hasTime());
  cell(V.Regs, std::to_string(V.Regs));
  cell(V.Occupancy, occupancyText(V.Occupancy), V.Occupancy > 0);
  if (Measure != SpillMeasure::Unknown)
    cell(V.SpillBytes, std::to_string(V.SpillBytes));
  if (Measure == SpillMeasure::LocalBytes)
    cell(V.LocalBytes, shortNumber(V.LocalBytes));
  cell(V.Efficiency, shortNumber(V.Efficiency), V.Efficiency > 0);
  cell(V.Utilization, shortNumber(V.Utilization), V.Utilization > 0);
  OS << "<td class=\"text\">" << markupText(fateText(V)) << "</td></tr>\n";
}

void KernelSection::printTable() {
  OS << "<details class=\"all\"><summary>All " << Variants.size()
     << " settings as a table</summary>\n<div class=\"scroller\" role=\"region\" tabindex=\"0\" "
        "aria-labelledby=\""
     << Id << "-c\"><table class=\"sortable variants\"><caption id=\"" << Id << "-c\">Variants of "
     << markupText(kernelNameParts(K.Kernel).Name) << "</caption>\n";
  printHeadings();
  OS << "<tbody>\n";
  for (const ShownVariant &V : Variants)
    printRow(V);
  OS << "</tbody></table></div>\n";
  printLevels();
  printDropped();
  OS << "<h4>Names</h4>\n<p class=\"names\"><code>" << markupText(K.Kernel) << "</code><br/><code>"
     << markupText(K.Mangled) << "</code></p>\n</details>\n";
}

void KernelSection::printLevels() {
  if (K.Levels.empty())
    return;
  OS << "<h4>Critical points</h4>\n<ul class=\"points\">\n";
  for (const ConcurrencyLevel &L : llvm::reverse(K.Levels))
    OS << "<li>up to " << L.MaxRegs << " registers: " << L.BlocksPerSm << " block"
       << (L.BlocksPerSm == 1 ? "" : "s") << " of an SM, occupancy " << occupancyText(L.Occupancy)
       << "</li>\n";
  OS << "</ul>\n";
}

void KernelSection::printDropped() {
  if (K.Dropped.empty())
    return;
  OS << "<h4>Not tried</h4>\n<ul class=\"dropped\">\n";
  for (const std::string &D : K.Dropped)
    OS << "<li>" << markupText(D) << "</li>\n";
  OS << "</ul>\n";
}

std::string KernelSection::print() {
  OS << "<section class=\"kernel\" id=\"" << Id << "\" aria-labelledby=\"" << Id << "-h\">\n";
  printHead();
  printFacts();
  printPictures();
  printTable();
  OS << "</section>\n";
  return std::move(Text);
}

} // namespace

std::string carve::printKernelSection(const TuningReport &R, const KernelReport &K, size_t Number) {
  return KernelSection(R, K, Number).print();
}
