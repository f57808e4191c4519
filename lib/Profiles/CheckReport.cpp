#include "Profiles/CheckReport.h"

#include "Report/JsonReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

namespace {

llvm::StringRef verdictName(CheckVerdict V) {
  switch (V) {
  case CheckVerdict::Passed:
    return "passed";
  case CheckVerdict::Regressed:
    return "regressed";
  case CheckVerdict::NotJudged:
    break;
  }
  return "not-judged";
}

/// Writes control characters as `\x1b`, so that a name in a file can neither control the terminal
/// nor end a line.
std::string shown(llvm::StringRef Text) {
  std::string Out;
  for (unsigned char C : Text)
    if (C < 0x20 || C == 0x7f)
      Out += {'\\', 'x', llvm::hexdigit(C >> 4, true), llvm::hexdigit(C & 15, true)};
    else
      Out += char(C);
  return Out;
}

std::string valuesText(const PropertyCheck &P) {
  if (P.Before == P.After)
    return P.Before.empty() ? "-" : P.Before;
  return (P.Before.empty() ? "-" : P.Before) + " > " + (P.After.empty() ? "-" : P.After);
}

llvm::StringRef shortName(CheckRule Rule) {
  switch (Rule) {
  case CheckRule::RegisterIncrease:
    return "registers";
  case CheckRule::SpillIncrease:
    return "spill bytes";
  case CheckRule::OccupancyLoss:
    return "occupancy";
  case CheckRule::TimeIncrease:
    return "time";
  case CheckRule::LostTuning:
    break;
  }
  return "setting";
}

void printKernel(const KernelCheck &K, llvm::raw_ostream &OS) {
  OS << (K.regressed() ? "WORSE  " : "ok     ") << shown(K.After.name()) << "\n";
  for (const PropertyCheck &P : K.Properties) {
    if (P.Before.empty() && P.After.empty())
      continue;
    OS << "    " << llvm::left_justify(shortName(P.Rule), 12) << " " << shown(valuesText(P));
    if (P.Verdict == CheckVerdict::Regressed)
      OS << "   " << checkRuleName(P.Rule) << ": " << shown(P.Detail);
    else if (!P.Detail.empty() && P.Detail != "not asked for")
      OS << "   (" << (P.Verdict == CheckVerdict::NotJudged ? "not judged: " : "")
         << shown(P.Detail) << ")";
    OS << "\n";
  }
  auto Known = [](const std::optional<GuardHold> &Hold) {
    return Hold ? holdText(*Hold) : std::string("-");
  };
  for (const GuardCheck &G : K.Guards) {
    OS << "    " << llvm::left_justify("entry", 12) << " " << shown(G.When) << ": "
       << Known(G.Before) << (G.Before == G.After ? "" : " > " + Known(G.After)) << "\n";
    if (std::string Warning = G.warning(); !Warning.empty())
      OS << "    warning: " << shown(Warning) << "\n";
  }
}

json::Object sideJson(const CheckedKernel &K) {
  json::Object O{{"arch", K.Arch},           {"device", json::fixUTF8(K.Device)},
                 {"toolkit", K.Toolkit},     {"source", json::fixUTF8(K.Source)},
                 {"setting", K.Setting},     {"tuned", K.Tuned},
                 {"regs", K.Regs},           {"spill-bytes", K.SpillBytes},
                 {"occupancy", K.Occupancy}, {"digest", K.Digest}};
  if (K.Time)
    O["launch-ns"] =
        json::Object{{"median", K.Time->Ns}, {"low", K.Time->LowNs}, {"high", K.Time->HighNs}};
  return O;
}

json::Value holdOrNull(const std::optional<GuardHold> &Hold) {
  return Hold ? guardHoldJson(*Hold) : json::Value(nullptr);
}

json::Array namesJson(const std::vector<CheckedKernel> &Kernels) {
  json::Array Names;
  for (const CheckedKernel &K : Kernels)
    Names.push_back(json::Object{{"kernel", json::fixUTF8(K.Kernel)}, {"arch", K.Arch}});
  return Names;
}

} // namespace

std::vector<CheckedKernel> carve::checkedKernels(const TuningReport &R) {
  std::vector<CheckedKernel> Kernels;
  for (const KernelReport &Of : R.Kernels) {
    CheckedKernel K;
    K.Kernel = Of.Kernel;
    K.Device = R.Device;
    K.Toolkit = R.NvccVersion;
    K.Source = Of.Source;
    K.Shapes = Of.Shapes;
    K.Tuned = Of.Tuned;
    K.Setting = Of.Tuned ? Of.Variant : "default";
    for (const EntryHold &E : Of.Entries)
      K.Guards.push_back({E.When, E.Now});
    for (const EntryHold &E : Of.Earlier)
      if (llvm::none_of(Of.Entries, [&](const EntryHold &New) { return New.When == E.When; }))
        K.Guards.push_back({E.When, E.Now});
    // The spills are not known with scope `file`, or if no variant of the kernel was tried.
    if (Of.RegsAfter)
      K.Regs = Of.RegsAfter;
    if (Of.RegsAfter && R.Scope == "kernel" && Of.Compiled + Of.Variants.size() > 0)
      K.SpillBytes = Of.SpillAfter;
    if (Of.OccupancyAfter > 0)
      K.Occupancy = Of.OccupancyAfter;
    K.Measured = !Of.Tuned || Of.Pairs > 0;
    if (Of.Tuned && Of.Pairs > 0)
      K.Ratio = {Of.Ratio.Median, Of.Ratio.Low, Of.Ratio.High};
    if (Of.MeanNs > 0 && K.Measured)
      K.Time =
          LaunchTime{Of.MeanNs * K.Ratio.Ns, Of.MeanNs * K.Ratio.LowNs, Of.MeanNs * K.Ratio.HighNs};
    Kernels.push_back(std::move(K));
  }
  return Kernels;
}

std::string carve::printCheckText(const CheckOutcome &Outcome, const CheckDocument &Of) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  OS << Of.Before << " > " << Of.After << "\n";
  for (const KernelCheck &K : Outcome.Kernels)
    printKernel(K, OS);
  for (const CheckedKernel &K : Outcome.Vanished)
    OS << "note   " << shown(K.name()) << " is only in " << Of.Before << "\n";
  for (const CheckedKernel &K : Outcome.Appeared)
    OS << "note   " << shown(K.name()) << " is only in " << Of.After << "\n";
  unsigned Worse = Outcome.count(CheckVerdict::Regressed);
  OS << Outcome.Kernels.size() << " kernel(s) compared, " << Worse << " regression(s), "
     << Outcome.Vanished.size() << " vanished, " << Outcome.Appeared.size() << " new\n";
  return Text;
}

std::string carve::printCheckJson(const CheckOutcome &Outcome, const CheckDocument &Of) {
  json::Array Kernels;
  for (const KernelCheck &K : Outcome.Kernels) {
    json::Array Properties;
    for (const PropertyCheck &P : K.Properties)
      Properties.push_back(json::Object{{"rule", checkRuleName(P.Rule)},
                                        {"verdict", verdictName(P.Verdict)},
                                        {"before", json::fixUTF8(P.Before)},
                                        {"after", json::fixUTF8(P.After)},
                                        {"detail", json::fixUTF8(P.Detail)}});
    json::Array Guards;
    for (const GuardCheck &G : K.Guards)
      Guards.push_back(json::Object{{"when", G.When},
                                    {"before", holdOrNull(G.Before)},
                                    {"after", holdOrNull(G.After)},
                                    {"warning", G.warning()}});
    Kernels.push_back(json::Object{{"kernel", json::fixUTF8(K.After.Kernel)},
                                   {"regressed", K.regressed()},
                                   {"before", sideJson(K.Before)},
                                   {"after", sideJson(K.After)},
                                   {"properties", std::move(Properties)},
                                   {"guards", std::move(Guards)}});
  }
  json::Object Root{{"carve-check", 1},
                    {"date", Of.Date},
                    {"before", json::fixUTF8(Of.Before)},
                    {"after", json::fixUTF8(Of.After)},
                    {"regressions", Outcome.count(CheckVerdict::Regressed)},
                    {"kernels", std::move(Kernels)},
                    {"vanished", namesJson(Outcome.Vanished)},
                    {"new", namesJson(Outcome.Appeared)}};
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", json::Value(std::move(Root)));
  return Text;
}
