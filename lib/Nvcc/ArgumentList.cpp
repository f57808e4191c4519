#include "Nvcc/ArgumentList.h"

#include "Support/Error.h"
#include "Support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace carve {

Expected<std::vector<std::string>> splitWords(StringRef Text, Quotes Keep) {
  std::vector<std::string> Words;
  std::string Word;
  bool InWord = false, InQuotes = false;
  for (char C : Text) {
    if (C == '\\')
      return unsupported("option-quoting", "backslash in '" + Text + "'");
    if (isSpace(C) && !InQuotes) {
      if (InWord)
        Words.push_back(std::exchange(Word, {}));
      InWord = false;
      continue;
    }
    InWord = true;
    if (C == '"')
      InQuotes = !InQuotes;
    if (C != '"' || Keep == Quotes::Kept)
      Word += C;
  }
  if (InQuotes)
    return unsupported("option-quoting", "open quote in '" + Text + "'");
  if (InWord)
    Words.push_back(Word);
  return Words;
}

/// Returns true if \p Option takes \p Next as its value. The option's spelling must not hold a
/// value.
static bool takesNext(const OptionInfo &Option, StringRef Next) {
  if (Option.Values == Arity::Flag)
    return false;
  return Option.Values != Arity::Optional || !Next.starts_with("-");
}

static Argument readOption(const OptionInfo &Option, ArrayRef<std::string> Words) {
  Argument A{Argument::Kind::Option, &Option, {}, {Words[0]}, {}};
  if (std::optional<StringRef> Value = attachedValue(Option, Words[0])) {
    A.Value = Value->str();
    return A;
  }
  if (Words.size() > 1 && takesNext(Option, Words[1])) {
    A.Value = Words[1];
    A.Words.push_back(Words[1]);
    return A;
  }
  bool NeedsValue = Option.Values == Arity::Value || Option.Values == Arity::List;
  if (NeedsValue)
    return {Argument::Kind::Unknown, nullptr, Words[0], {Words[0]}, {}};
  return A;
}

std::vector<Argument> splitArguments(ArrayRef<std::string> Words) {
  std::vector<Argument> Arguments;
  while (!Words.empty()) {
    StringRef Word = Words[0];
    if (const OptionInfo *Option = findOption(Word))
      Arguments.push_back(readOption(*Option, Words));
    else if (Word.size() > 1 && Word[0] == '-')
      Arguments.push_back({Argument::Kind::Unknown, nullptr, Words[0], {Words[0]}, {}});
    else
      Arguments.push_back({Argument::Kind::Input, nullptr, Words[0], {Words[0]}, {}});
    Words = Words.drop_front(Arguments.back().Words.size());
  }
  return Arguments;
}

/// Returns true if a rewritten command line changes or drops \p A.
static bool isRewritten(const Argument &A) {
  if (A.Is == Argument::Kind::Input)
    return true;
  if (A.is(Effect::ToolOptions))
    return StringRef(A.Value).contains("maxrregcount");
  return A.is(Effect::Output) || A.is(Effect::Dependency) || A.is(Effect::Language) ||
         A.is(Effect::RegisterCap) || any_of(A.Nested, isRewritten);
}

static Expected<std::vector<Argument>> expandFrom(std::vector<Argument> Arguments,
                                                  StringRef WorkDir, unsigned Depth);

/// Returns the arguments in the file \p Path, including those of the files that it names.
static Expected<std::vector<Argument>> readOptionsFile(StringRef Path, StringRef WorkDir,
                                                       unsigned Depth) {
  // nvcc itself exhausts its stack on a file that names itself.
  if (Depth > 16)
    return unsupported("options-file", Path + " is nested too deeply");
  // A pipe can be read only once, so it is not opened, and the command is left to nvcc. A nested
  // file is also relative to the working directory, not to the file that names it.
  Expected<std::string> Text = readFile(absolutePath(Path, WorkDir), FileLimit::Options);
  if (!Text)
    return unsupported("options-file", toString(Text.takeError()));
  Expected<std::vector<std::string>> Words = splitWords(*Text, Quotes::Dropped);
  if (!Words)
    return Words.takeError();
  return expandFrom(splitArguments(*Words), WorkDir, Depth + 1);
}

static Expected<std::vector<Argument>> expandFrom(std::vector<Argument> Arguments,
                                                  StringRef WorkDir, unsigned Depth) {
  std::vector<Argument> Expanded;
  for (Argument &A : Arguments) {
    if (!A.is(Effect::OptionsFile)) {
      Expanded.push_back(std::move(A));
      continue;
    }
    for (const std::string &Path : splitList(A.Value)) {
      Expected<std::vector<Argument>> Content = readOptionsFile(Path, WorkDir, Depth);
      if (!Content)
        return Content.takeError();
      append_range(A.Nested, *Content);
    }
    if (isRewritten(A))
      append_range(Expanded, A.Nested);
    else
      Expanded.push_back(std::move(A));
  }
  return Expanded;
}

Expected<std::vector<Argument>> expandArguments(ArrayRef<std::string> Words, StringRef WorkDir) {
  return expandFrom(splitArguments(Words), WorkDir, 0);
}

std::vector<std::string> joinArguments(ArrayRef<Argument> Arguments) {
  std::vector<std::string> Words;
  for (const Argument &A : Arguments)
    append_range(Words, A.Words);
  return Words;
}

std::vector<std::string> splitList(StringRef List) {
  std::vector<std::string> Values(1);
  bool Escaped = false;
  for (char C : List) {
    if (C == ',' && !Escaped)
      Values.emplace_back();
    else
      Values.back() += C;
    Escaped = C == '\\' && !Escaped;
  }
  return Values;
}

} // namespace carve
