#include "Export/ExportReport.h"

#include "Store/Profile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

namespace {

llvm::StringRef formName(ExportForm F) {
  switch (F) {
  case ExportForm::LaunchBounds:
    return "launch-bounds";
  case ExportForm::MaxNReg:
    return "maxnreg";
  case ExportForm::Flags:
    return "flags";
  case ExportForm::Patch:
    break;
  }
  return "patch";
}

llvm::StringRef matchName(CodeMatch M) {
  switch (M) {
  case CodeMatch::SameCode:
    return "same code";
  case CodeMatch::SameRegisters:
    return "same registers, other code";
  case CodeMatch::Differs:
    return "differs";
  case CodeMatch::Refused: // A refused kernel has a reason instead.
  case CodeMatch::NotVerified:
    break;
  }
  return "not verified";
}

/// Returns \p Text as one line, so that it can precede a patch.
std::string oneLine(llvm::StringRef Text) {
  std::string Out;
  for (char C : Text)
    Out += C == '\n' || C == '\r' ? ' ' : C;
  return Out;
}

std::string placeOf(const ExportedKernel &K) {
  return K.Line ? K.Source + ":" + std::to_string(K.Line) : K.Source;
}

void printKernel(const ExportedKernel &K, llvm::StringRef Start, llvm::raw_ostream &OS) {
  auto Row = [&](llvm::StringRef Name, llvm::StringRef Text) {
    OS << Start << "    " << llvm::left_justify(Name, 9) << oneLine(Text) << "\n";
  };
  OS << Start << K.Kernel << " on " << K.Arch << ", " << placeOf(K) << "\n";
  Row("decided", settingText(K.Decided));
  if (!K.Reason.empty()) {
    Row("left", K.Reason);
    return;
  }
  Row("written", K.Written);
  Row("code",
      (matchName(K.Code.Match) + (K.Code.Detail.empty() ? "" : ": ") + K.Code.Detail).str());
  Row("loses", K.Gain.text());
  for (const std::string &Lost : K.Lost)
    Row("", Lost);
}

void printSummary(const ExportOutcome &Outcome, llvm::StringRef Start, llvm::raw_ostream &OS) {
  OS << Start << "carve export --as=" << formName(Outcome.As) << ": " << Outcome.exported()
     << " of " << Outcome.Kernels.size() << " tuned kernel(s), for nvcc " << Outcome.NvccVersion
     << "\n";
  for (const ExportedKernel &K : Outcome.Kernels)
    printKernel(K, Start, OS);
  for (const std::string &Note : Outcome.Notes)
    OS << Start << "note: " << oneLine(Note) << "\n";
}

json::Object kernelJson(const ExportedKernel &K) {
  json::Array Lost;
  for (const std::string &L : K.Lost)
    Lost.push_back(json::fixUTF8(L));
  return json::Object{
      {"kernel", json::fixUTF8(K.Kernel)},
      {"mangled", json::fixUTF8(K.Mangled)},
      {"arch", K.Arch},
      {"source", json::fixUTF8(K.Source)},
      {"line", K.Line ? json::Value(K.Line) : json::Value(nullptr)},
      {"decided", settingText(K.Decided)},
      {"written", json::fixUTF8(K.Written)},
      {"reason", json::fixUTF8(K.Reason)},
      {"lost", std::move(Lost)},
      {"ratio-decided", K.Gain.Decided},
      {"ratio-exported", K.Gain.Exported},
      {"code", K.Reason.empty() ? json::Value(matchName(K.Code.Match)) : json::Value(nullptr)},
      {"code-detail", json::fixUTF8(K.Code.Detail)}};
}

} // namespace

std::string carve::printExportSummary(const ExportOutcome &Outcome) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printSummary(Outcome, "", OS);
  return Text;
}

std::string carve::printExportText(const ExportOutcome &Outcome) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printSummary(Outcome, "# ", OS);
  for (const SourceFlags &F : Outcome.Flags)
    OS << F.Source << ": " << llvm::join(F.Words, " ") << "\n";
  OS << Outcome.Patch;
  return Text;
}

std::string carve::printExportCMake(const ExportOutcome &Outcome) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printSummary(Outcome, "# ", OS);
  for (const SourceFlags &F : Outcome.Flags)
    OS << "set_property(SOURCE \"" << F.Source << "\" APPEND PROPERTY COMPILE_OPTIONS \""
       << llvm::join(F.Words, ";") << "\")\n";
  return Text;
}

std::string carve::printExportMake(const ExportOutcome &Outcome) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  printSummary(Outcome, "# ", OS);
  for (const SourceFlags &F : Outcome.Flags) {
    llvm::SmallString<128> Object(F.Source);
    llvm::sys::path::replace_extension(Object, ".o");
    OS << Object << ": NVCCFLAGS += " << llvm::join(F.Words, " ") << "\n";
  }
  return Text;
}

std::string carve::printExportJson(const ExportOutcome &Outcome) {
  json::Array Kernels, Flags, Notes;
  for (const ExportedKernel &K : Outcome.Kernels)
    Kernels.push_back(kernelJson(K));
  for (const SourceFlags &F : Outcome.Flags) {
    json::Array Words;
    for (const std::string &W : F.Words)
      Words.push_back(W);
    Flags.push_back(json::Object{{"source", json::fixUTF8(F.Source)}, {"flags", std::move(Words)}});
  }
  for (const std::string &N : Outcome.Notes)
    Notes.push_back(json::fixUTF8(N));
  json::Object Root{{"carve-export", 1},
                    {"as", formName(Outcome.As)},
                    {"nvcc", Outcome.NvccVersion},
                    {"exported", Outcome.exported()},
                    {"kernels", std::move(Kernels)},
                    {"flags", std::move(Flags)},
                    {"notes", std::move(Notes)},
                    {"patch", json::fixUTF8(Outcome.Patch)}};
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", json::Value(std::move(Root)));
  return Text;
}
