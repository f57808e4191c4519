#include "Profiles/DiffReport.h"

#include "Report/ReportWords.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace carve;
namespace json = llvm::json;

namespace {

constexpr std::pair<ProfileChange, llvm::StringLiteral> KindNames[] = {
    {ProfileChange::Added, "added"},
    {ProfileChange::Removed, "removed"},
    {ProfileChange::Changed, "changed"},
    {ProfileChange::Remeasured, "remeasured"},
};

llvm::StringRef kindName(ProfileChange Kind) {
  for (const auto &[Known, Name] : KindNames)
    if (Known == Kind)
      return Name;
  return "";
}

std::string capText(const std::optional<unsigned> &Cap) {
  return Cap ? std::to_string(*Cap) : "none";
}

/// Returns the default's value and the tuned one, in the form of a tuning's table.
std::string valuesText(unsigned Default, unsigned Tuned) {
  if (Default == Tuned)
    return std::to_string(Default);
  return std::to_string(Default) + " > " + std::to_string(Tuned);
}

std::string speedupText(const Evidence &E) {
  if (E.Pairs == 0 || E.Ratio <= 0 || E.RatioLow <= 0 || E.RatioHigh <= 0)
    return "";
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%.3f [%.3f,%.3f] of ", 1 / E.Ratio,
                                                 1 / E.RatioHigh, 1 / E.RatioLow)
                                 << pairsText(E.Pairs);
  return Text;
}

std::string spillText(const Evidence &E) {
  if (!E.DefaultSpillBytes || !E.TunedSpillBytes)
    return "";
  return valuesText(*E.DefaultSpillBytes, *E.TunedSpillBytes);
}

std::string occupancyText(const Evidence &E) {
  if (!E.DefaultOccupancy || !E.TunedOccupancy)
    return "";
  auto Percent = [](double Share) { return std::lround(Share * 100); };
  return valuesText(Percent(*E.DefaultOccupancy), Percent(*E.TunedOccupancy)) + " %";
}

/// Returns the time of a launch: the default's in the traced run, and that time multiplied by the
/// ratio.
std::string launchText(const Decision &D) {
  const Evidence E = D.Basis.value_or(Evidence());
  if (!E.LaunchNs || *E.LaunchNs <= 0)
    return "";
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << llvm::format("%.4g", *E.LaunchNs / 1e3);
  if (!D.isDefault() && E.Pairs)
    OS << llvm::format(" > %.4g", *E.LaunchNs * E.Ratio / 1e3);
  OS << " us";
  return Text;
}

/// Returns the properties of an entry that are compared, by name. A property that the entry lacks
/// is empty.
std::vector<std::pair<llvm::StringLiteral, std::string>> propertiesOf(const Decision &D) {
  std::vector<std::pair<llvm::StringLiteral, std::string>> Properties = {
      {"setting", decisionText(D) + (D.Digest ? "" : ", pinned by hand")}};
  const Evidence E = D.Basis.value_or(Evidence());
  unsigned Known = E.DefaultRegs + E.TunedRegs;
  Properties.insert(Properties.end(),
                    {{"registers", Known ? valuesText(E.DefaultRegs, E.TunedRegs) : ""},
                     {"spill bytes", spillText(E)},
                     {"occupancy", occupancyText(E)},
                     {"launch", launchText(D)},
                     {"speedup", speedupText(E)},
                     {"reason", E.Reason},
                     {"device", E.Device},
                     {"driver", E.Driver},
                     {"toolkit", E.Toolkit},
                     {"options", llvm::join(E.Options, " ")},
                     {"source", E.Source},
                     {"workload", E.Workload},
                     {"date", E.Date},
                     {"digest", D.Digest.value_or("")}});
  return Properties;
}

void printProperty(llvm::StringRef Name, const llvm::Twine &Text, llvm::raw_ostream &OS) {
  OS << "    " << llvm::left_justify(Name, 12) << " " << Text << "\n";
}

/// Prints what a reviewer looks at first in an entry that only one side has.
void printAlone(const Decision &D, llvm::raw_ostream &OS) {
  for (const auto &[Name, Text] : propertiesOf(D))
    if (!Text.empty() && Name != "digest" && Name != "options" && Name != "driver")
      printProperty(Name, Text, OS);
}

void printBoth(const Decision &Before, const Decision &After, llvm::raw_ostream &OS) {
  auto Old = propertiesOf(Before), New = propertiesOf(After);
  for (size_t I = 0; I < Old.size(); ++I) {
    const std::string &A = Old[I].second, &B = New[I].second;
    if (A != B)
      printProperty(Old[I].first, (A.empty() ? "-" : A) + " -> " + (B.empty() ? "-" : B), OS);
    else if (Old[I].first == "setting")
      // The setting is what an entry is about, so it is printed even if it is the same.
      printProperty("setting", A, OS);
  }
}

json::Object entryJson(const Decision &D) {
  json::Object O{{"kernel", json::fixUTF8(D.Kernel)}, {"arch", D.Arch}, {"pinned", !D.Digest}};
  O["cap"] = D.Variant.Cap;
  O["frontend-cap"] = D.Variant.FrontEndCap;
  O["frontend-knob"] = D.Variant.FrontEnd == FrontEndKnob::None
                           ? json::Value(nullptr)
                           : json::Value(nameOf(D.Variant.FrontEnd));
  O["restrict"] = D.Variant.Restrict;
  O["known-ptx"] = D.Variant.KnownPtx;
  O["smem-spilling"] = D.Variant.SmemSpilling;
  O["load-cache"] = D.Variant.Loads == LoadCaching::AsCompiled
                        ? json::Value(nullptr)
                        : json::Value(nameOf(D.Variant.Loads));
  O["register-usage-level"] = D.Variant.RegisterUsageLevel;
  O["optimization-level"] = D.Variant.OptimizationLevel;
  json::Array Entries;
  for (const FurtherEntry &E : D.Entries)
    Entries.push_back(
        json::Object{{"when", guardText(E.When)}, {"variant", variantName(E.Variant)}});
  O["entries"] = std::move(Entries);
  O["digest"] = D.Digest;
  if (!D.Basis)
    return O;
  const Evidence &E = *D.Basis;
  json::Array Options;
  for (const std::string &Option : E.Options)
    Options.push_back(json::fixUTF8(Option));
  O["evidence"] = json::Object{{"device", json::fixUTF8(E.Device)},
                               {"driver", json::fixUTF8(E.Driver)},
                               {"toolkit", json::fixUTF8(E.Toolkit)},
                               {"options", std::move(Options)},
                               {"source", json::fixUTF8(E.Source)},
                               {"date", json::fixUTF8(E.Date)},
                               {"workload", json::fixUTF8(E.Workload)},
                               {"ratio", E.Ratio},
                               {"ratio-low", E.RatioLow},
                               {"ratio-high", E.RatioHigh},
                               {"pairs", E.Pairs},
                               {"default-regs", E.DefaultRegs},
                               {"tuned-regs", E.TunedRegs},
                               {"default-spill-bytes", E.DefaultSpillBytes},
                               {"tuned-spill-bytes", E.TunedSpillBytes},
                               {"default-occupancy", E.DefaultOccupancy},
                               {"tuned-occupancy", E.TunedOccupancy},
                               {"launch-ns", E.LaunchNs},
                               {"reason", json::fixUTF8(E.Reason)}};
  return O;
}

json::Value sideJson(const std::optional<Decision> &D) {
  return D ? json::Value(entryJson(*D)) : json::Value(nullptr);
}

} // namespace

std::string carve::printDiffText(const ProfileDiff &Diff) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  if (Diff.FileCapBefore != Diff.FileCapAfter)
    OS << "file-cap " << capText(Diff.FileCapBefore) << " -> " << capText(Diff.FileCapAfter)
       << "\n";
  for (const ProfileDifference &D : Diff.Differences) {
    const Decision &Named = D.After ? *D.After : *D.Before;
    OS << llvm::left_justify(kindName(D.Kind), 10) << " " << Named.Kernel << " on "
       << (Named.Arch.empty() ? "any architecture" : llvm::StringRef(Named.Arch)) << "\n";
    if (D.Before && D.After)
      printBoth(*D.Before, *D.After, OS);
    else
      printAlone(Named, OS);
  }
  for (const auto &[Kind, Name] : KindNames)
    OS << Diff.count(Kind) << " " << Name << ", ";
  OS << Diff.Same << " equal\n";
  return Text;
}

std::string carve::printDiffJson(const ProfileDiff &Diff) {
  json::Array Differences;
  for (const ProfileDifference &D : Diff.Differences)
    Differences.push_back(json::Object{{"change", kindName(D.Kind)},
                                       {"before", sideJson(D.Before)},
                                       {"after", sideJson(D.After)}});
  json::Object Root{{"carve-diff", 1},
                    {"file-cap-before", Diff.FileCapBefore},
                    {"file-cap-after", Diff.FileCapAfter},
                    {"differences", std::move(Differences)},
                    {"equal", Diff.Same}};
  for (const auto &[Kind, Name] : KindNames)
    Root[Name] = Diff.count(Kind);
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", json::Value(std::move(Root)));
  return Text;
}
