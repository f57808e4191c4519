#include "Store/KernelSpelling.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <re2/re2.h>

#include <tuple>

using namespace carve;

namespace {

using Tokens = std::vector<std::string>;

bool isWordCharacter(char C) { return llvm::isAlnum(C) || C == '_' || C == '$'; }
bool isWord(llvm::StringRef Token) { return !Token.empty() && isWordCharacter(Token.front()); }
/// Returns true for a word, and for a name that demanglers invent, such as `(anonymous namespace)`
/// or `'lambda'`.
bool isName(llvm::StringRef Token) {
  return isWord(Token) || Token.size() > 2 || Token.starts_with("'");
}
bool isQualifier(llvm::StringRef Token) { return Token == "const" || Token == "volatile"; }

/// Returns the end of a name that demanglers invent and that starts at \p At, or \p At if there is
/// none. `'lambda'` and `(anonymous namespace)` are one token each.
size_t inventedNameEnd(llvm::StringRef Text, size_t At) {
  constexpr llvm::StringLiteral Anonymous = "(anonymous namespace)";
  if (Text.substr(At).starts_with(Anonymous))
    return At + Anonymous.size();
  if (Text[At] == '\'')
    if (size_t End = Text.find('\'', At + 1); End != llvm::StringRef::npos)
      return End + 1;
  return At;
}

Tokens tokensOf(llvm::StringRef Text) {
  Tokens Result;
  for (size_t I = 0; I < Text.size();) {
    size_t End = I;
    if (llvm::isSpace(Text[I])) {
      ++I;
      continue;
    }
    while (End < Text.size() && isWordCharacter(Text[End]))
      ++End;
    if (End == I)
      End = inventedNameEnd(Text, I);
    if (End == I)
      End += Text.substr(I).starts_with("::") ? 2 : 1;
    Result.push_back(Text.slice(I, End).str());
    I = End;
  }
  return Result;
}

/// Returns the index after the bracket that closes the one at \p At, or the number of tokens if
/// none closes it.
size_t closingEnd(const Tokens &T, size_t At) {
  int Depth = 0;
  for (size_t I = At; I < T.size(); ++I) {
    Depth += T[I] == "<" || T[I] == "(" || T[I] == "{" || T[I] == "[";
    Depth -= T[I] == ">" || T[I] == ")" || T[I] == "}" || T[I] == "]";
    if (Depth == 0)
      return I + 1;
  }
  return T.size();
}

bool isBuiltin(llvm::StringRef Word) {
  return Word == "unsigned" || Word == "signed" || Word == "long" || Word == "short" ||
         Word == "int";
}

/// Returns the words of an integer type, given in any order, in the order in which demanglers print
/// them.
Tokens integerType(llvm::ArrayRef<std::string> Words) {
  auto Has = [&](llvm::StringRef Word) { return llvm::is_contained(Words, Word); };
  if (Has("char"))
    return Words.vec();
  Tokens Result;
  if (Has("unsigned"))
    Result.push_back("unsigned");
  if (Has("short"))
    Result.push_back("short");
  for (auto N = llvm::count(Words, "long"); N > 0; --N)
    Result.push_back("long");
  if (!Has("short") && !Has("long"))
    Result.push_back("int");
  return Result;
}

/// Returns the index after the type name that starts at \p At: the words of an integer type, or a
/// qualified name with its template arguments. Appends the name to \p Out and the qualifiers inside
/// it to \p Qualifiers.
size_t takeTypeName(const Tokens &T, size_t At, Tokens &Out, Tokens &Qualifiers);

/// Returns \p T with every `const` and `volatile` after its type, and with one spelling for each
/// integer type.
Tokens orderedTypes(const Tokens &T) {
  Tokens Result;
  for (size_t I = 0; I < T.size();) {
    bool Starts = I == 0 || T[I - 1] == "(" || T[I - 1] == "<" || T[I - 1] == ",";
    if (!(Starts && isQualifier(T[I])) && !isBuiltin(T[I])) {
      Result.push_back(T[I++]);
      continue;
    }
    Tokens Qualifiers;
    I = takeTypeName(T, I, Result, Qualifiers);
    llvm::append_range(Result, Qualifiers);
  }
  return Result;
}

size_t takeTypeName(const Tokens &T, size_t At, Tokens &Out, Tokens &Qualifiers) {
  Tokens Words;
  for (; At < T.size() && (isQualifier(T[At]) || isBuiltin(T[At]) || T[At] == "char"); ++At)
    (isQualifier(T[At]) ? Qualifiers : Words).push_back(T[At]);
  llvm::sort(Qualifiers);
  // `double` after `long` makes another type, which is not an integer.
  bool IsInteger = !Words.empty() && !(At < T.size() && T[At] == "double");
  llvm::append_range(Out, IsInteger ? integerType(Words) : Words);
  if (IsInteger)
    return At;
  bool More = true; // A name may follow at the start and after a scope.
  while (At < T.size() && (T[At] == "::" || T[At] == "<" || (More && isName(T[At])))) {
    size_t End = T[At] == "<" ? closingEnd(T, At) : At + 1;
    Tokens Part(T.begin() + At, T.begin() + End);
    llvm::append_range(Out, T[At] == "<" ? orderedTypes(Part) : Part);
    More = T[At] == "::";
    At = End;
  }
  return At;
}

/// Returns the index of the first token of the function's name. The return type comes before it.
size_t nameStart(const Tokens &T) {
  size_t Open = 0;
  while (Open < T.size() && T[Open] != "(")
    Open = T[Open] == "<" ? closingEnd(T, Open) : Open + 1;
  if (Open == T.size())
    return 0; // There are no parameters, as with `extern "C"`.
  size_t Start = Open;
  while (Start > 0) {
    if (T[Start - 1] == ">") {
      int Depth = 0;
      do {
        --Start;
        Depth += T[Start] == ">";
        Depth -= T[Start] == "<";
      } while (Start > 0 && Depth > 0);
      continue;
    }
    bool AfterScope = Start == Open || T[Start] == "::" || T[Start] == "<";
    if (T[Start - 1] != "::" && !AfterScope)
      break;
    --Start;
  }
  return Start;
}

/// Removes the parentheses of `&(f(float))`, a function that is a template argument.
void dropFunctionParentheses(Tokens &T) {
  for (size_t I = 2; I < T.size(); ++I) {
    if (T[I] != "(" || T[I - 1] != "&" || (T[I - 2] != "<" && T[I - 2] != ","))
      continue;
    size_t End = closingEnd(T, I);
    if (End > T.size() || T[End - 1] != ")")
      continue;
    T.erase(T.begin() + End - 1);
    T.erase(T.begin() + I);
  }
}

/// Replaces `{lambda(int)#1}` by LLVM's spelling `'lambda'(int)`. The second lambda is `'lambda0'`.
void renameLambdas(Tokens &T) {
  for (size_t I = 0; I + 1 < T.size(); ++I) {
    size_t End = T[I] == "{" && T[I + 1] == "lambda" ? closingEnd(T, I) : 0;
    unsigned Number = 0;
    if (!End || T[End - 1] != "}" || T[End - 3] != "#" ||
        llvm::StringRef(T[End - 2]).getAsInteger(10, Number))
      continue;
    T.erase(T.begin() + End - 3, T.begin() + End);
    T[I + 1] = "'lambda" + (Number > 1 ? std::to_string(Number - 2) : "") + "'";
    T.erase(T.begin() + I);
  }
}

/// Returns the name without scope and arguments: `k` for `void ns::k<4>(int)`.
std::string baseOf(const Tokens &T) {
  std::string Base;
  for (size_t I = nameStart(T); I < T.size() && T[I] != "(";) {
    if (isWord(T[I]))
      Base = T[I];
    I = T[I] == "<" ? closingEnd(T, I) : I + 1;
  }
  return Base;
}

} // namespace

std::string carve::canonicalKernelName(llvm::StringRef Name) {
  Tokens T = tokensOf(Name);
  renameLambdas(T);
  dropFunctionParentheses(T);
  T.erase(T.begin(), T.begin() + nameStart(T));
  T = orderedTypes(T);
  std::string Result;
  for (size_t I = 0; I < T.size(); ++I) {
    if (I && isWord(T[I - 1]) && isWord(T[I]))
      Result += ' ';
    Result += T[I];
  }
  return Result;
}

bool carve::isKernelPattern(llvm::StringRef Entry) {
  return Entry.size() > 2 && Entry.front() == '/' && Entry.back() == '/';
}

/// Returns the regular expression inside a pattern.
static re2::StringPiece expressionOf(llvm::StringRef Entry) {
  return {Entry.data() + 1, Entry.size() - 2};
}

llvm::Error carve::checkKernelPattern(llvm::StringRef Entry) {
  if (!isKernelPattern(Entry))
    return llvm::Error::success();
  re2::RE2 Pattern(expressionOf(Entry), re2::RE2::Quiet);
  if (Pattern.ok())
    return llvm::Error::success();
  return malformed("pattern " + Entry + ": " + Pattern.error());
}

NameMatch carve::matchPin(llvm::StringRef Entry, const KernelIdentity &Kernel) {
  if (Entry == Kernel.Mangled)
    return NameMatch::Mangled;
  if (Entry == Kernel.Name)
    return NameMatch::Name;
  if (isKernelPattern(Entry)) {
    re2::RE2 Pattern(expressionOf(Entry), re2::RE2::Quiet);
    bool Found = Pattern.ok() && (re2::RE2::PartialMatch(Kernel.Name, Pattern) ||
                                  re2::RE2::PartialMatch(Kernel.Mangled, Pattern));
    return Found ? NameMatch::Pattern : NameMatch::None;
  }
  bool Same = canonicalKernelName(Entry) == canonicalKernelName(Kernel.Name);
  return Same ? NameMatch::Name : NameMatch::None;
}

std::vector<std::string> carve::nearestNames(llvm::StringRef Entry,
                                             llvm::ArrayRef<std::string> Names) {
  constexpr size_t AtMost = 3;
  if (isKernelPattern(Entry))
    return {};
  std::string Text = canonicalKernelName(Entry), Base = baseOf(tokensOf(Entry));
  // The distances of the base names and of the whole names.
  std::vector<std::tuple<unsigned, unsigned, std::string>> Found;
  for (const std::string &Name : Names) {
    std::string OtherBase = baseOf(tokensOf(Name)), Other = canonicalKernelName(Name);
    unsigned Bases = llvm::StringRef(Base).edit_distance(OtherBase);
    if (Bases <= (Base.size() + 1) / 4) // One letter of three may differ, two of seven.
      Found.emplace_back(Bases, llvm::StringRef(Text).edit_distance(Other), Name);
  }
  llvm::sort(Found);
  std::vector<std::string> Nearest;
  for (const auto &[Bases, All, Name] : Found)
    if (Nearest.size() < AtMost && !llvm::is_contained(Nearest, Name))
      Nearest.push_back(Name);
  return Nearest;
}
