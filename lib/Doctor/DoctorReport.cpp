#include "Doctor/DoctorReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace carve;
namespace json = llvm::json;

static llvm::StringRef nameOf(FindingKind Kind) {
  switch (Kind) {
  case FindingKind::Ok:
    return "ok";
  case FindingKind::Note:
    return "note";
  case FindingKind::Fault:
    return "FAULT";
  }
  return "";
}

bool carve::hasFault(llvm::ArrayRef<DoctorFinding> Findings) {
  return llvm::any_of(Findings,
                      [](const DoctorFinding &F) { return F.Kind == FindingKind::Fault; });
}

/// \p Text in one line: messages of other programs may have several.
static std::string inOneLine(llvm::StringRef Text) {
  std::string Line;
  for (llvm::StringRef Part : llvm::split(Text.trim(), '\n'))
    if (Part = Part.trim(); !Part.empty())
      Line += (Line.empty() ? "" : " ") + Part.str();
  return Line;
}

std::string carve::doctorText(llvm::ArrayRef<DoctorFinding> Findings) {
  std::string Text;
  for (const DoctorFinding &F : Findings) {
    std::string Kind = nameOf(F.Kind).str();
    Kind.resize(6, ' ');
    Text += Kind + F.Subject + ": " + inOneLine(F.Fact) +
            (F.Advice.empty() ? "" : "; " + inOneLine(F.Advice)) + "\n";
  }
  return Text;
}

json::Value carve::doctorJson(llvm::ArrayRef<DoctorFinding> Findings) {
  json::Array List;
  for (const DoctorFinding &F : Findings) {
    json::Object O{{"kind", nameOf(F.Kind).lower()},
                   {"subject", json::fixUTF8(F.Subject)},
                   {"fact", json::fixUTF8(inOneLine(F.Fact))}};
    if (!F.Advice.empty())
      O["advice"] = json::fixUTF8(inOneLine(F.Advice));
    List.push_back(std::move(O));
  }
  return json::Object{{"works", !hasFault(Findings)}, {"findings", std::move(List)}};
}
