#include "Profiles/CheckDocuments.h"

#include "Support/Digest.h"
#include "Support/Text.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;
namespace json = llvm::json;

namespace {

std::string messageOf(const PropertyCheck &P) {
  std::string Text = checkRuleText(P.Rule).str();
  if (!P.Before.empty() || !P.After.empty())
    Text += ": " + (P.Before.empty() ? "-" : P.Before) + " > " + (P.After.empty() ? "-" : P.After);
  return P.Detail.empty() ? Text : Text + " (" + P.Detail + ")";
}

void printCase(const KernelCheck &K, const PropertyCheck &P, llvm::raw_ostream &OS) {
  OS << "    <testcase classname=\"" << markupText(K.After.name()) << "\" name=\""
     << checkRuleName(P.Rule) << "\" time=\"0\"";
  if (P.Verdict == CheckVerdict::Passed) {
    OS << "/>\n";
    return;
  }
  OS << ">\n";
  if (P.Verdict == CheckVerdict::NotJudged)
    OS << "      <skipped message=\"" << markupText(P.Detail) << "\"/>\n";
  else
    OS << "      <failure type=\"" << checkRuleName(P.Rule) << "\" message=\""
       << markupText(messageOf(P)) << "\">"
       << markupText(K.After.name() + (K.After.Source.empty() ? "" : " in " + K.After.Source))
       << "</failure>\n";
  OS << "    </testcase>\n";
}

json::Array rulesJson() {
  json::Array Rules;
  for (CheckRule Rule : AllCheckRules)
    Rules.push_back(json::Object{
        {"id", checkRuleName(Rule)},
        {"shortDescription", json::Object{{"text", (checkRuleText(Rule) + ".").str()}}},
        {"defaultConfiguration", json::Object{{"level", "error"}}},
        {"properties", json::Object{{"tags", json::Array{"performance"}}}}});
  return Rules;
}

/// Returns a relative reference as in RFC 3986, which SARIF requires.
std::string uriOf(llvm::StringRef Path) {
  std::string Uri;
  for (char C : Path)
    if (llvm::isAlnum(C) || llvm::StringRef("/._-~+").contains(C))
      Uri += C;
    else
      Uri += "%" + llvm::toHex(llvm::StringRef(&C, 1));
  return Uri;
}

json::Object resultJson(const KernelCheck &K, const PropertyCheck &P, size_t RuleIndex) {
  const CheckedKernel &At = K.After.Source.empty() ? K.Before : K.After;
  json::Object Result{
      {"ruleId", checkRuleName(P.Rule)},
      {"ruleIndex", RuleIndex},
      {"level", "error"},
      {"message", json::Object{{"text", json::fixUTF8(K.After.name() + ": " + messageOf(P))}}},
      {"partialFingerprints",
       json::Object{{"carveKernel/v1",
                     digestOfFields({checkRuleName(P.Rule), K.After.Kernel, K.After.Arch})}}}};
  json::Object Location{
      {"logicalLocations",
       json::Array{json::Object{{"fullyQualifiedName", json::fixUTF8(K.After.Kernel)},
                                {"kind", "function"}}}}};
  if (!At.Source.empty())
    // Readers of SARIF expect a line. If it is not known, the first line is used.
    Location["physicalLocation"] = json::Object{
        {"artifactLocation", json::Object{{"uri", uriOf(At.Source)}, {"uriBaseId", "SRCROOT"}}},
        {"region", json::Object{{"startLine", At.Line ? At.Line : 1}}}};
  Result["locations"] = json::Array{std::move(Location)};
  return Result;
}

} // namespace

std::string carve::printCheckJUnit(const CheckOutcome &Outcome, const CheckDocument &Of) {
  size_t Cases = 0;
  for (const KernelCheck &K : Outcome.Kernels)
    Cases += K.Properties.size();
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  // JUnit's schemas require ISO 8601 without a time zone.
  llvm::StringRef Date = Of.Date;
  Date.consume_back("Z");
  OS << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
     << "  <testsuite name=\"carve check\" id=\"0\" package=\"carve\" hostname=\"localhost\""
     << " timestamp=\"" << markupText(Date) << "\" tests=\"" << Cases << "\" failures=\""
     << Outcome.count(CheckVerdict::Regressed) << "\" errors=\"0\" skipped=\""
     << Outcome.count(CheckVerdict::NotJudged) << "\" time=\"0\">\n"
     << "    <properties>\n"
     << "      <property name=\"before\" value=\"" << markupText(Of.Before) << "\"/>\n"
     << "      <property name=\"after\" value=\"" << markupText(Of.After) << "\"/>\n"
     << "    </properties>\n";
  for (const KernelCheck &K : Outcome.Kernels)
    for (const PropertyCheck &P : K.Properties)
      printCase(K, P, OS);
  OS << "    <system-out>";
  for (const CheckedKernel &K : Outcome.Vanished)
    OS << markupText(K.name() + " is only in " + Of.Before) << "\n";
  for (const CheckedKernel &K : Outcome.Appeared)
    OS << markupText(K.name() + " is only in " + Of.After) << "\n";
  OS << "</system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n";
  return Text;
}

std::string carve::printCheckSarif(const CheckOutcome &Outcome, const CheckDocument &Of) {
  json::Array Results;
  for (const KernelCheck &K : Outcome.Kernels)
    for (const PropertyCheck &P : K.Properties)
      if (P.Verdict == CheckVerdict::Regressed)
        Results.push_back(resultJson(K, P, llvm::find(AllCheckRules, P.Rule) - AllCheckRules));
  json::Object Run{
      {"tool", json::Object{{"driver", json::Object{{"name", "carve check"},
                                                    {"semanticVersion", Of.Version},
                                                    {"rules", rulesJson()}}}}},
      {"originalUriBaseIds",
       json::Object{
           {"SRCROOT", json::Object{{"description", json::Object{{"text", "The project."}}}}}}},
      {"columnKind", "unicodeCodePoints"},
      {"invocations",
       json::Array{json::Object{{"executionSuccessful", true}, {"endTimeUtc", Of.Date}}}},
      {"properties",
       json::Object{{"before", json::fixUTF8(Of.Before)}, {"after", json::fixUTF8(Of.After)}}},
      {"results", std::move(Results)}};
  json::Object Root{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", json::Array{std::move(Run)}}};
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::formatv("{0:2}\n", json::Value(std::move(Root)));
  return Text;
}
