#include "Spaces/ProgramSpace.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace carve;

static constexpr uint64_t MostConfigurations = 100000;

std::vector<std::string> ProgramSpace::names() const {
  std::vector<std::string> Names;
  for (const SpaceMacro &M : Macros)
    Names.push_back(M.Name);
  return Names;
}

uint64_t ProgramSpace::size() const {
  uint64_t Size = 1;
  for (const SpaceMacro &M : Macros)
    if (__builtin_mul_overflow(Size, uint64_t(M.Values.size()), &Size))
      return UINT64_MAX;
  return Size;
}

std::string Configuration::name() const {
  std::string Name;
  for (const MacroValue &M : Macros)
    Name += (Name.empty() ? "" : ",") + M.Name + "=" + M.Value;
  return Name;
}

std::vector<std::string> Configuration::defines() const {
  std::vector<std::string> Words;
  for (const MacroValue &M : Macros)
    Words.push_back("-D" + M.Name + "=" + M.Value);
  return Words;
}

static bool isMacroName(llvm::StringRef Name) {
  return !Name.empty() && !llvm::isDigit(Name[0]) &&
         llvm::all_of(Name, [](char C) { return llvm::isAlnum(C) || C == '_'; });
}

/// Adds \p Part, a value or a range, to \p M. \p Known has the values that \p M has already.
static llvm::Error addValues(SpaceMacro &M, llvm::StringRef Part, std::set<std::string> &Known) {
  auto Add = [&](std::string Value) -> llvm::Error {
    if (!Known.insert(Value).second)
      return usageError("--space: " + M.Name + " has the value '" + Value + "' twice");
    M.Values.push_back(std::move(Value));
    return llvm::Error::success();
  };
  auto [First, Last] = Part.split("..");
  if (First.size() == Part.size()) {
    if (Part.empty())
      return usageError("--space: " + M.Name + " has an empty value, expected NAME=VALUE,VALUE");
    return Add(Part.str());
  }
  int64_t From = 0, To = 0;
  int64_t Steps = 0;
  if (First.getAsInteger(10, From) || Last.getAsInteger(10, To) || From > To)
    return usageError("--space: " + M.Name + " has the range '" + Part +
                      "', expected whole numbers, the smaller first, as 1..8");
  if (__builtin_sub_overflow(To, From, &Steps) || Steps >= int64_t(MostConfigurations))
    return usageError("--space: " + M.Name + " has the range '" + Part + "', expected at most " +
                      llvm::Twine(MostConfigurations) + " values");
  for (int64_t I = 0; I <= Steps; ++I)
    if (llvm::Error E = Add(llvm::itostr(From + I)))
      return E;
  return llvm::Error::success();
}

static llvm::Expected<SpaceMacro> parseMacro(llvm::StringRef Text) {
  auto [Name, Values] = Text.split('=');
  SpaceMacro M{Name.trim().str(), {}};
  if (!isMacroName(M.Name) || !Text.contains('='))
    return usageError("--space: '" + Text.trim() + "', expected NAME=VALUE,VALUE,...");
  std::set<std::string> Known;
  for (llvm::StringRef Part : llvm::split(Values, ','))
    if (llvm::Error E = addValues(M, Part.trim(), Known))
      return E;
  return M;
}

llvm::Expected<ProgramSpace> carve::parseProgramSpace(llvm::StringRef Text) {
  ProgramSpace Space;
  for (llvm::StringRef Part : llvm::split(Text, ';')) {
    // The text may end with `;`, as a list over several lines may.
    if (Part.trim().empty())
      continue;
    llvm::Expected<SpaceMacro> M = parseMacro(Part);
    if (!M)
      return M.takeError();
    if (llvm::is_contained(Space.names(), M->Name))
      return usageError("--space: " + M->Name + " occurs twice");
    Space.Macros.push_back(std::move(*M));
  }
  if (Space.Macros.empty())
    return usageError("--space names no macro, expected NAME=VALUE,VALUE;NAME=VALUE,...");
  if (Space.size() > MostConfigurations)
    return usageError(
        "--space has " +
        (Space.size() == UINT64_MAX ? std::string("far too many") : llvm::utostr(Space.size())) +
        " configurations, expected at most " + llvm::Twine(MostConfigurations));
  return Space;
}

/// Returns the combination with number \p Number.
static Configuration combination(const ProgramSpace &Space, uint64_t Number) {
  Configuration C;
  for (const SpaceMacro &M : llvm::reverse(Space.Macros)) {
    C.Macros.push_back({M.Name, M.Values[Number % M.Values.size()]});
    Number /= M.Values.size();
  }
  std::reverse(C.Macros.begin(), C.Macros.end());
  return C;
}

llvm::Expected<std::vector<Configuration>> carve::configurationsOf(const ProgramSpace &Space,
                                                                   const MacroExpression *Where) {
  std::vector<Configuration> All;
  for (uint64_t I = 0; I < Space.size(); ++I) {
    Configuration C = combination(Space, I);
    if (Where) {
      llvm::Expected<int64_t> Wanted = Where->evaluate(C.Macros);
      if (!Wanted)
        return usageError(llvm::toString(Wanted.takeError()) + ", in " + C.name());
      if (*Wanted == 0)
        continue;
    }
    All.push_back(std::move(C));
  }
  return All;
}
