#include "Nvcc/ToolArguments.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace carve {

bool isPtxasOptions(const Argument &A) {
  return A.is(Effect::ToolOptions) && A.Option->Short == "-Xptxas";
}

/// Returns the words in one value of a comma list. nvcc passes them on through a shell.
static std::vector<std::string> wordsOf(StringRef Value) {
  SmallVector<StringRef> Parts;
  SplitString(Value, Parts);
  std::vector<std::string> Words;
  for (StringRef Part : Parts)
    Words.push_back(Part.str());
  return Words;
}

std::vector<std::string> ptxasWords(ArrayRef<Argument> Arguments) {
  std::vector<std::string> Words;
  for (const Argument &A : Arguments) {
    append_range(Words, ptxasWords(A.Nested));
    if (!isPtxasOptions(A))
      continue;
    for (const std::string &Value : splitList(A.Value))
      append_range(Words, wordsOf(Value));
  }
  return Words;
}

/// Returns the name of a ptxas option with one dash, because both spellings of most options are
/// alike.
static StringRef ptxasName(StringRef Word) {
  StringRef Name = Word.split('=').first;
  return Name.starts_with("--") ? Name.drop_front() : Name;
}

Error checkPtxasWords(ArrayRef<std::string> Words) {
  struct Rule {
    StringLiteral Name, Reason;
  };
  // ptxas ignores -maxntid and -minnctapersm when a register cap is given.
  static constexpr Rule Rules[] = {
      {"-g", "device-debug"},
      {"-device-debug", "device-debug"},
      {"-e", "entries"},
      {"-entry", "entries"},
      {"-o", "ptxas-output"},
      {"-output-file", "ptxas-output"},
      {"-optf", "ptxas-options-file"},
      {"-options-file", "ptxas-options-file"},
      {"-override-directive-values", "override-directive-values"},
      {"-maxntid", "ptxas-launch-bounds"},
      {"-minnctapersm", "ptxas-launch-bounds"},
      {"-sanitize", "sanitize"},
  };
  for (const std::string &Word : Words)
    for (const Rule &R : Rules)
      if (ptxasName(Word) == R.Name)
        return unsupported(R.Reason, Word);
  return Error::success();
}

static bool isPtxasCap(StringRef Word) { return ptxasName(Word) == "-maxrregcount"; }

std::optional<std::string> ptxasRegisterCap(ArrayRef<std::string> Words) {
  std::optional<std::string> Cap;
  for (size_t I = 0; I != Words.size(); ++I) {
    if (!isPtxasCap(Words[I]))
      continue;
    StringRef Word = Words[I];
    if (Word.contains('='))
      Cap = Word.split('=').second.str();
    else
      Cap = I + 1 != Words.size() ? Words[I + 1] : "";
  }
  return Cap;
}

/// Returns \p Value of -Xptxas without its register caps. \p AwaitsValue says that the value of a
/// cap has still to follow; it may be in the next -Xptxas.
static std::string withoutPtxasCaps(StringRef Value, bool &AwaitsValue) {
  std::vector<std::string> Kept;
  for (const std::string &Item : splitList(Value)) {
    std::vector<std::string> Words;
    for (std::string &Word : wordsOf(Item)) {
      if (std::exchange(AwaitsValue, false))
        continue;
      if (isPtxasCap(Word))
        AwaitsValue = !StringRef(Word).contains('=');
      else
        Words.push_back(std::move(Word));
    }
    if (!Words.empty())
      Kept.push_back(join(Words, " "));
  }
  return join(Kept, ",");
}

std::vector<Argument> withoutRegisterCaps(ArrayRef<Argument> Arguments) {
  std::vector<Argument> Result;
  bool AwaitsValue = false;
  for (const Argument &A : Arguments) {
    if (A.is(Effect::RegisterCap))
      continue;
    if (!isPtxasOptions(A)) {
      Result.push_back(A);
      continue;
    }
    std::string Value = withoutPtxasCaps(A.Value, AwaitsValue);
    if (!Value.empty())
      Result.push_back({A.Is, A.Option, Value, {A.Option->Short.str(), Value}, {}});
  }
  return Result;
}

bool writesBesideOutput(StringRef Word) {
  static constexpr StringLiteral Prefixes[] = {"-M",
                                               "-o",
                                               "-save-temps",
                                               "-gsplit-dwarf",
                                               "-ftest-coverage",
                                               "-fprofile-",
                                               "--coverage",
                                               "-coverage",
                                               "-fdump",
                                               "-dump",
                                               "-fstack-usage",
                                               "-aux-info",
                                               "-ftime-trace",
                                               "-fcallgraph-info",
                                               "-fsyntax-only"};
  if (Word == "-E" || Word == "-S")
    return true;
  return any_of(Prefixes, [&](StringRef Prefix) { return Word.starts_with(Prefix); });
}

std::vector<std::string> hostCompilerWords(StringRef Value) {
  // FindCUDA writes `-Xcompiler ,"-g"`.
  std::vector<std::string> Words;
  for (const std::string &Item : splitList(Value))
    for (const std::string &Word : wordsOf(Item))
      Words.push_back(StringRef(Word).trim("\"'\\").str());
  return Words;
}

} // namespace carve
