#include "Nvcc/KernelText.h"

#include "Support/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace carve;
using llvm::StringRef;

namespace {

/// A token of C++: a word, a number, a literal, or one character.
struct Token {
  enum Kinds { Word, Number, Literal, Punctuation } Kind;
  StringRef Text;

  bool is(StringRef Wanted) const { return Text == Wanted; }
};

llvm::Error unknown(const llvm::Twine &What) { return unsupported("unknown-text", What); }

/// Splits preprocessed C++ into tokens. Comments, and lines of the preprocessor, are left out.
class Lexer {
public:
  explicit Lexer(StringRef Text) : Text(Text) {}
  llvm::Expected<std::vector<Token>> run();

private:
  llvm::Error skipTo(StringRef End, size_t From, StringRef What);
  llvm::Error quoted(size_t Begin);
  llvm::Error raw(size_t Begin);
  void add(Token::Kinds Kind, size_t Begin) { All.push_back({Kind, Text.slice(Begin, At)}); }

  StringRef Text;
  size_t At = 0;
  bool LineStart = true;
  std::vector<Token> All;
};

bool isWordChar(char C) { return llvm::isAlnum(C) || C == '_' || C == '$' || (C & 0x80); }

/// Goes behind the next \p End after \p From.
llvm::Error Lexer::skipTo(StringRef End, size_t From, StringRef What) {
  size_t Found = Text.find(End, From);
  if (Found == StringRef::npos)
    return unknown(What + " does not end");
  At = Found + End.size();
  return llvm::Error::success();
}

/// Reads the string or character whose quote is at the current place.
llvm::Error Lexer::quoted(size_t Begin) {
  char Quote = Text[At++];
  for (; At < Text.size() && Text[At] != Quote; ++At) {
    if (Text[At] == '\n')
      return unknown("a literal does not end in its line");
    if (Text[At] == '\\')
      ++At;
  }
  if (At >= Text.size())
    return unknown("a literal does not end");
  ++At;
  add(Token::Literal, Begin);
  return llvm::Error::success();
}

/// Reads the raw string whose quote is at the current place: `"delimiter(text)delimiter"`.
llvm::Error Lexer::raw(size_t Begin) {
  size_t Open = Text.find('(', At);
  if (Open == StringRef::npos)
    return unknown("a raw string does not begin");
  std::string End = (")" + Text.slice(At + 1, Open) + "\"").str();
  if (llvm::Error E = skipTo(End, Open, "a raw string"))
    return E;
  add(Token::Literal, Begin);
  return llvm::Error::success();
}

llvm::Expected<std::vector<Token>> Lexer::run() {
  while (At < Text.size()) {
    char C = Text[At];
    size_t Begin = At;
    if (C == '\n') {
      LineStart = true;
      ++At;
      continue;
    }
    if (llvm::isSpace(C)) {
      ++At;
      continue;
    }
    if (C == '#' && LineStart) { // A line marker, or a pragma, which may go on in the next line.
      do {
        At = std::min(Text.find('\n', At + 1), Text.size());
      } while (At < Text.size() && Text[At - 1] == '\\');
      continue;
    }
    LineStart = false;
    llvm::Error Failed = llvm::Error::success();
    if (Text.substr(At).starts_with("//")) {
      At = std::min(Text.find('\n', At), Text.size());
    } else if (Text.substr(At).starts_with("/*")) {
      Failed = skipTo("*/", At + 2, "a comment");
    } else if (C == '"' || C == '\'') {
      Failed = quoted(Begin);
    } else if (llvm::isDigit(C) ||
               (C == '.' && At + 1 < Text.size() && llvm::isDigit(Text[At + 1]))) {
      // Digits, suffixes, exponents and separators, as the preprocessor sees numbers.
      for (++At; At < Text.size(); ++At)
        if (!isWordChar(Text[At]) && Text[At] != '.' && Text[At] != '\'' &&
            !((Text[At] == '+' || Text[At] == '-') && StringRef("eEpP").contains(Text[At - 1])))
          break;
      add(Token::Number, Begin);
    } else if (isWordChar(C)) {
      while (At < Text.size() && isWordChar(Text[At]))
        ++At;
      StringRef Word = Text.slice(Begin, At);
      bool Prefix = llvm::is_contained({"u8", "u", "U", "L"}, Word);
      bool RawPrefix = llvm::is_contained({"R", "u8R", "uR", "UR", "LR"}, Word);
      bool Quote = At < Text.size() && (Text[At] == '"' || Text[At] == '\'');
      if (RawPrefix && Quote && Text[At] == '"')
        Failed = raw(Begin);
      else if (Prefix && Quote)
        Failed = quoted(Begin);
      else
        add(Token::Word, Begin);
    } else {
      ++At;
      add(Token::Punctuation, Begin);
    }
    if (Failed)
      return Failed;
  }
  return std::move(All);
}

/// Finds definitions of kernels among tokens.
class Finder {
public:
  Finder(StringRef Text, llvm::ArrayRef<Token> Tokens) : Text(Text), Tokens(Tokens) {}
  llvm::Expected<std::vector<KernelDefinition>> run();

private:
  llvm::Expected<size_t> behind(size_t Open) const;
  size_t closing(size_t Open) const;
  bool isGlobal(size_t From, size_t To) const;
  std::optional<std::vector<std::string>> scopeOf(size_t Begin, size_t Brace) const;
  size_t readTemplate(KernelDefinition &K, size_t At, size_t Brace) const;
  void readKernel(size_t Begin, size_t Brace);
  std::vector<KernelParameter> parameters(size_t Open, size_t Close) const;
  KernelParameter parameter(llvm::ArrayRef<Token> Words) const;

  StringRef Text;
  llvm::ArrayRef<Token> Tokens;
  /// The names that each open brace of a scope adds.
  std::vector<std::vector<std::string>> Open;
  std::vector<KernelDefinition> Found;
};

/// Returns the place behind the bracket that closes the one at \p Open.
llvm::Expected<size_t> Finder::behind(size_t Begin) const {
  size_t Depth = 0;
  for (size_t I = Begin; I < Tokens.size(); ++I) {
    if (Tokens[I].Kind != Token::Punctuation)
      continue;
    char C = Tokens[I].Text.front();
    if (C == '(' || C == '[' || C == '{')
      ++Depth;
    else if ((C == ')' || C == ']' || C == '}') && --Depth == 0)
      return I + 1;
  }
  return unknown("a bracket does not close");
}

/// Returns the place of the bracket that closes the one at \p Begin, or the end of all tokens if
/// there is no such bracket.
size_t Finder::closing(size_t Begin) const {
  llvm::Expected<size_t> Next = behind(Begin);
  if (Next)
    return *Next - 1;
  llvm::consumeError(Next.takeError());
  return Tokens.size();
}

/// Whether the tokens from \p From to \p To contain `__attribute__((global))`, alone or among
/// others.
bool Finder::isGlobal(size_t From, size_t To) const {
  for (size_t I = From; I + 3 < To; ++I)
    if (Tokens[I].is("__attribute__") && Tokens[I + 1].is("(") && Tokens[I + 2].is("("))
      for (size_t J = I + 3; J < To && !Tokens[J].is(")"); ++J)
        if (Tokens[J].is("global") || Tokens[J].is("__global__"))
          return true;
  return false;
}

/// Returns the names that the brace at \p Brace adds if it opens a namespace, a class or a linkage,
/// whose declaration begins at \p Begin; nothing if it opens anything else.
std::optional<std::vector<std::string>> Finder::scopeOf(size_t Begin, size_t Brace) const {
  std::vector<std::string> Names;
  for (size_t I = Begin; I < Brace; ++I) {
    if (Tokens[I].is("extern") && I + 2 == Brace && Tokens[I + 1].Kind == Token::Literal)
      return Names;
    if (Tokens[I].is("namespace")) {
      for (size_t J = I + 1; J < Brace; ++J) {
        if (Tokens[J].is("__attribute__") || Tokens[J].is("[")) {
          J = closing(Tokens[J].is("[") ? J : J + 1);
        } else if (Tokens[J].Kind == Token::Word && !Tokens[J].is("inline")) {
          Names.push_back(Tokens[J].Text.str());
        }
      }
      if (Names.empty())
        Names.push_back("");
      return Names;
    }
  }
  // A class: the last of these words that no bracket encloses, its name behind it, and no function.
  for (size_t I = Begin; I < Brace; ++I) {
    if (Tokens[I].is("(") || Tokens[I].is("="))
      return std::nullopt;
    if (Tokens[I].is("enum"))
      return std::nullopt;
    if (Tokens[I].is("__attribute__")) {
      I = closing(I + 1);
      continue;
    }
    if (!Tokens[I].is("struct") && !Tokens[I].is("class") && !Tokens[I].is("union"))
      continue;
    size_t Name = I + 1;
    while (Name < Brace && (Tokens[Name].is("__attribute__") || Tokens[Name].is("alignas")))
      Name = closing(Name + 1) + 1;
    // `template <class T> struct S`: the parameter's own name is followed by `>` or `,`.
    bool OfTemplate = Name + 1 < Brace && (Tokens[Name + 1].is(">") || Tokens[Name + 1].is(",") ||
                                           Tokens[Name + 1].is("="));
    if (Name < Brace && Tokens[Name].Kind == Token::Word && !OfTemplate) {
      Names.push_back(Tokens[Name].Text.str());
      return Names;
    }
    if (Name == Brace)
      return std::vector<std::string>{""};
  }
  return std::nullopt;
}

KernelParameter Finder::parameter(llvm::ArrayRef<Token> Words) const {
  KernelParameter P;
  std::vector<StringRef> Kept;
  for (size_t I = 0; I < Words.size(); ++I) {
    if (Words[I].is("="))
      break;
    if (Words[I].is("__attribute__")) {
      // `__attribute__((grid_constant))`
      size_t Depth = 0;
      for (++I; I < Words.size(); ++I) {
        Depth += Words[I].is("(");
        if (Words[I].is(")") && --Depth == 0)
          break;
      }
      continue;
    }
    // A declarator with brackets is a pointer to a function or an array.
    if (Words[I].is("(") || Words[I].is("["))
      return P;
    Kept.push_back(Words[I].Text);
  }
  static constexpr llvm::StringLiteral Types[] = {
      "const", "volatile", "int",   "unsigned", "signed", "long",     "short",
      "char",  "bool",     "float", "double",   "auto",   "typename", "struct"};
  if (Kept.size() < 2 || !isWordChar(Kept.back().front()) || llvm::isDigit(Kept.back().front()) ||
      llvm::is_contained(Types, Kept.back()))
    return P;
  // `const T` and `ns::T` have no name either, and `T... p` is the name of several.
  StringRef Before = Kept[Kept.size() - 2];
  bool OnlyQualifiers = llvm::all_of(llvm::ArrayRef(Kept).drop_back(), [](StringRef W) {
    return W == "const" || W == "volatile" || W == "typename" || W == "struct";
  });
  if (Before == ":" || Before == "." || OnlyQualifiers)
    return P;
  P.Name = Kept.back().str();
  P.Type = llvm::join(llvm::ArrayRef(Kept).drop_back(), " ");
  return P;
}

/// Reads the parameters between the brackets at \p Open and \p Close.
std::vector<KernelParameter> Finder::parameters(size_t OpenAt, size_t Close) const {
  std::vector<KernelParameter> All;
  int Depth = 0;
  size_t Begin = OpenAt + 1;
  for (size_t I = Begin; I <= Close; ++I) {
    StringRef T = Tokens[I].Text;
    bool End = I == Close || (T == "," && Depth == 0);
    if (End) {
      llvm::ArrayRef<Token> Words = Tokens.slice(Begin, I - Begin);
      bool Nothing = Words.empty() || (Words.size() == 1 && Words[0].is("void"));
      if (!Nothing || I != Close || !All.empty())
        All.push_back(parameter(Words));
      Begin = I + 1;
    } else if (T == "(" || T == "[" || T == "{" || T == "<") {
      ++Depth;
    } else if (T == ")" || T == "]" || T == "}" || T == ">") {
      --Depth;
    }
  }
  return All;
}

/// Reads the template parameters of \p K, whose list is behind \p At. Returns the place of the
/// bracket that closes them.
size_t Finder::readTemplate(KernelDefinition &K, size_t At, size_t Brace) const {
  int Depth = 0;
  for (++At; At < Brace; ++At) {
    const Token &T = Tokens[At];
    if (T.is("(") || T.is("[") || T.is("{")) {
      At = closing(At);
      continue;
    }
    Depth += T.is("<");
    if (T.is(">") && --Depth == 0)
      break;
    if (Depth != 1)
      continue;
    K.TemplateParameters += T.is("<") || T.is(",");
    K.TemplatePack |= T.is(".");
  }
  return At;
}

/// Reads the definition whose declaration begins at \p Begin and whose body opens at \p Brace.
void Finder::readKernel(size_t Begin, size_t Brace) {
  KernelDefinition K;
  size_t I = Begin;
  if (Tokens[I].is("template"))
    I = readTemplate(K, I, Brace);
  // The name is the word before the first bracket that is not an attribute's or a specifier's.
  for (; I < Brace; ++I) {
    if (Tokens[I].is("__attribute__") || Tokens[I].is("alignas") || Tokens[I].is("decltype")) {
      I = closing(I + 1);
      continue;
    }
    if (!Tokens[I].is("("))
      continue;
    const size_t Close = closing(I);
    if (I == Begin || Tokens[I - 1].Kind != Token::Word || Close >= Brace)
      return; // A specialisation, an operator, or something else.
    // Behind the parameters there may be attributes and noexcept, nothing else.
    for (size_t J = Close + 1; J < Brace; ++J) {
      if (Tokens[J].is("__attribute__") && J + 1 < Brace)
        J = closing(J + 1);
      else if (!Tokens[J].is("noexcept"))
        return;
    }
    K.Name = Tokens[I - 1].Text.str();
    K.Parameters = parameters(I, Close);
    for (const std::vector<std::string> &Names : Open)
      K.Scopes.insert(K.Scopes.end(), Names.begin(), Names.end());
    K.Body = Tokens[Brace].Text.end() - Text.begin();
    Found.push_back(std::move(K));
    return;
  }
}

llvm::Expected<std::vector<KernelDefinition>> Finder::run() {
  size_t Begin = 0; // Of the current declaration.
  for (size_t I = 0; I < Tokens.size(); ++I) {
    const Token &T = Tokens[I];
    if (T.Kind != Token::Punctuation)
      continue;
    char C = T.Text.front();
    if (C == ';' || (C == ':' && I > Begin && I - Begin == 1)) { // Also `public:`.
      Begin = I + 1;
    } else if (C == '(' || C == '[') {
      llvm::Expected<size_t> Next = behind(I);
      if (!Next)
        return Next.takeError();
      I = *Next - 1;
    } else if (C == '}') {
      if (Open.empty())
        return unknown("a brace closes nothing");
      Open.pop_back();
      Begin = I + 1;
    } else if (C == '{') {
      if (auto Names = scopeOf(Begin, I)) {
        Open.push_back(std::move(*Names));
        Begin = I + 1;
        continue;
      }
      if (isGlobal(Begin, I))
        readKernel(Begin, I);
      llvm::Expected<size_t> Next = behind(I);
      if (!Next)
        return Next.takeError();
      I = *Next - 1;
      // A function's body ends a declaration; braces of an initialiser are followed by `;`.
      bool GoesOn = I + 1 < Tokens.size() && (Tokens[I + 1].is(";") || Tokens[I + 1].is(","));
      if (!GoesOn)
        Begin = I + 1;
    }
  }
  if (!Open.empty())
    return unknown("a brace does not close");
  return std::move(Found);
}

/// The scopes, the name and the types of the parameters of a mangled function.
struct Demangled {
  std::vector<std::string> Scopes;
  std::string Name;
  std::vector<std::string> Types; ///< Empty for a function of C.
  /// Those of the function itself, each argument of a pack counted.
  size_t TemplateArguments = 0;
  bool Mangled = false;
};

/// Splits \p Text at \p Separator where no bracket is open.
std::vector<std::string> splitOutside(StringRef Text, StringRef Separator) {
  std::vector<std::string> Parts(1);
  int Depth = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    Depth += StringRef("(<[{").contains(Text[I]);
    Depth -= StringRef(")>]}").contains(Text[I]);
    if (Depth == 0 && Text.substr(I).starts_with(Separator)) {
      Parts.emplace_back();
      I += Separator.size() - 1;
    } else {
      Parts.back() += Text[I];
    }
  }
  return Parts;
}

std::optional<Demangled> demangled(StringRef Name) {
  Demangled D;
  if (!Name.starts_with("_Z")) {
    D.Name = Name.str();
    return D;
  }
  llvm::ItaniumPartialDemangler P;
  const std::string Kept = Name.str(); // The demangler refers to it.
  if (P.partialDemangle(Kept.c_str()) || !P.isFunction())
    return std::nullopt;
  auto Take = [](char *Text) {
    std::string Result = Text ? Text : "";
    std::free(Text);
    return Result;
  };
  D.Mangled = true;
  D.Name = Take(P.getFunctionBaseName(nullptr, nullptr));
  std::string Context = Take(P.getFunctionDeclContextName(nullptr, nullptr));
  std::string Whole = Take(P.getFunctionName(nullptr, nullptr));
  StringRef Arguments = Whole;
  if (Arguments.consume_front(Context.empty() ? D.Name : Context + "::" + D.Name) &&
      Arguments.consume_front("<") && Arguments.consume_back(">") && !Arguments.empty())
    D.TemplateArguments = splitOutside(Arguments, ",").size();
  if (!Context.empty())
    for (std::string &Scope : splitOutside(Context, "::"))
      D.Scopes.push_back(
          Scope == "(anonymous namespace)" ? "" : StringRef(Scope).split('<').first.str());
  std::string Types = Take(P.getFunctionParameters(nullptr, nullptr));
  StringRef Inner = Types;
  if (Inner.consume_front("(") && Inner.consume_back(")") && !Inner.empty())
    for (std::string &Type : splitOutside(Inner, ","))
      D.Types.push_back(StringRef(Type).trim().str());
  return D;
}

/// The definition of a kernel, and the types of its parameters.
struct KernelPlace {
  const KernelDefinition *Definition;
  std::vector<std::string> Types;
};

/// Returns the one definition of \p All that \p Mangled can mean.
llvm::Expected<KernelPlace> placeOf(llvm::ArrayRef<KernelDefinition> All, StringRef Mangled) {
  std::optional<Demangled> Wanted = demangled(Mangled);
  if (!Wanted)
    return unknown(Mangled + " is no name of a function");
  std::vector<const KernelDefinition *> Same;
  for (const KernelDefinition &K : All)
    if (K.Name == Wanted->Name && (!Wanted->Mangled || K.Scopes == Wanted->Scopes) &&
        (!Wanted->Mangled || K.Parameters.size() == Wanted->Types.size()))
      Same.push_back(&K);
  if (Same.size() > 1) // Overloads may differ in their template parameters alone.
    llvm::erase_if(Same, [&](const KernelDefinition *K) {
      return K->TemplatePack ? Wanted->TemplateArguments + 1 < K->TemplateParameters
                             : Wanted->TemplateArguments != K->TemplateParameters;
    });
  if (Same.size() != 1)
    return unknown(llvm::Twine(Same.size()) + " definitions of " + Mangled + ", expected one");
  KernelPlace Place{Same.front(), std::move(Wanted->Types)};
  if (!Wanted->Mangled) // The name of a function of C does not have them.
    for (const KernelParameter &P : Place.Definition->Parameters)
      Place.Types.push_back(P.Type);
  return Place;
}

/// Returns the size of an integer, a boolean or a floating-point number of the type \p Type, or
/// nothing if it is none of these.
std::optional<unsigned> numberBytes(StringRef Type) {
  llvm::SmallVector<StringRef, 6> Words;
  llvm::SplitString(Type, Words);
  auto Has = [&](StringRef Word) { return llvm::is_contained(Words, Word); };
  if (isFloatType(Type))
    return Has("double") ? 8 : 4;
  if (!isIntegerType(Type))
    return std::nullopt;
  return Has("char") || Has("bool") ? 1 : Has("short") ? 2 : Has("long") ? 8 : 4;
}

/// Whether \p Type is that of an address, whatever qualifies it.
bool isAddressType(StringRef Type) {
  llvm::SmallVector<StringRef, 6> Words;
  llvm::SplitString(Type, Words);
  while (!Words.empty() && (Words.back() == "const" || Words.back() == "volatile" ||
                            Words.back().contains("restrict")))
    Words.pop_back();
  return !Words.empty() && (Words.back().ends_with("*") || Words.back().ends_with("&"));
}

/// Whether \p P, of the type \p Type, is an address of which something may be assumed. Where a
/// restricted one is used in an assumption, cicc takes it for one that may be copied, and forgets
/// that nothing else leads to its memory.
bool isPlainAddress(const KernelParameter &P, StringRef Type) {
  return isAddressType(Type) && !StringRef(P.Type).contains("restrict") &&
         !Type.contains("restrict");
}

/// Whether a parameter that is declared as \p P is `const`.
bool isConstant(const KernelParameter &P) {
  return llvm::is_contained(llvm::split(StringRef(P.Type), ' '), "const");
}

/// Returns whether `x == c` says all of the number \p V: no NaN equals itself, and 0 equals -0.
bool isComparable(const ArgumentValue &V) {
  const uint64_t Exponent = V.Bytes == 8 ? 0x7ff0000000000000 : 0x7f800000;
  const uint64_t Sign = uint64_t(1) << (8 * V.Bytes - 1);
  return (V.Bits & Exponent) != Exponent && V.Bits & ~Sign;
}

/// Whether \p V, a part of what is neither a number nor an address by its own type, may be an
/// address: one in a structure, or one whose type has another name. None is below 4 GB.
bool mayBeAddress(const ArgumentValue &V) { return V.Bytes == 8 && V.Bits > UINT32_MAX; }

/// Returns what can be assumed of \p V, a value of the parameter \p P with the type \p Type.
std::optional<ArgumentValue> assumableOf(const ArgumentValue &V, const KernelParameter &P,
                                         StringRef Type) {
  if (P.Name.empty() || Type.empty())
    return std::nullopt;
  if (isPlainAddress(P, Type)) {
    bool IsAligned = V.Offset == 0 && (V.Bytes == 8 || V.Bytes == 1) && V.Bits % 256 == 0;
    return IsAligned ? std::optional(ArgumentValue{V.Parameter, 1, 0}) : std::nullopt;
  }
  if (std::optional<unsigned> Bytes = numberBytes(Type)) {
    bool IsWhole = V.Offset == 0 && V.Bytes == Bytes;
    bool CannotBeSaid = isFloatType(Type) && isConstant(P) && !isComparable(V);
    return IsWhole && !CannotBeSaid ? std::optional(V) : std::nullopt;
  }
  return isAddressType(Type) || mayBeAddress(V) ? std::nullopt : std::optional(V);
}

KnownLaunch assumableAt(const KernelPlace &Place, const KnownLaunch &Known) {
  KnownLaunch Result;
  const std::vector<KernelParameter> &Parameters = Place.Definition->Parameters;
  for (const ArgumentValue &V : Known.Values)
    if (V.Parameter < Parameters.size())
      if (auto Said = assumableOf(V, Parameters[V.Parameter], Place.Types[V.Parameter]))
        Result.Values.push_back(*Said);
  auto IsHidden = [&](StringRef Variable) {
    return llvm::any_of(Parameters, [&](const KernelParameter &P) { return P.Name == Variable; });
  };
  if (!IsHidden("blockDim"))
    Result.Block = Known.Block;
  if (!IsHidden("gridDim"))
    Result.Grid = Known.Grid;
  return Result;
}

/// The statement that says which bytes the parameter \p Name has at the place of \p V. The cast to
/// a reference finds the parameter where its class has an operator `&`. cicc makes the same loads
/// of this as of the fields, so that it knows their values, whatever their types are.
std::string assumptionOfBytes(const std::string &Name, const ArgumentValue &V) {
  const char *Type = V.Bytes == 1   ? "unsigned char"
                     : V.Bytes == 2 ? "unsigned short"
                     : V.Bytes == 4 ? "unsigned"
                                    : "unsigned long long";
  return std::string(" { ") + Type +
         " __carve_part; __builtin_memcpy(&__carve_part, (const char *)&(const volatile char &)" +
         Name + " + " + std::to_string(V.Offset) + ", " + std::to_string(V.Bytes) +
         "); __builtin_assume(__carve_part == " + std::to_string(V.Bits) + "ull); }";
}

/// The statements that say what is known of \p Assumed.
std::string assumptions(const AssumedLaunch &Assumed) {
  const KernelDefinition &K = *Assumed.Kernel;
  const KnownLaunch &Known = Assumed.Launch;
  std::string Text;
  auto Add = [&](const std::string &Condition) { Text += " __builtin_assume(" + Condition + ");"; };
  for (const ArgumentValue &V : Known.Values) {
    const std::string &Name = K.Parameters[V.Parameter].Name;
    if (llvm::is_contained(Assumed.Floats, V.Parameter)) {
      // cicc draws no conclusion from an assumption on the bits of a number.
      std::string Value = std::string("__builtin_bit_cast(") + (V.Bytes == 8 ? "double" : "float") +
                          ", " + std::to_string(V.Bits) + (V.Bytes == 8 ? "ull)" : "u)");
      if (isConstant(K.Parameters[V.Parameter]))
        Add(Name + " == " + Value);
      else
        Text += " " + Name + " = " + Value + ";";
      continue;
    }
    if (llvm::is_contained(Assumed.Aligned, V.Parameter)) {
      Add("((unsigned long long)" + Name + " & 255) == 0");
      continue;
    }
    if (llvm::is_contained(Assumed.Parts, V.Parameter)) {
      Text += assumptionOfBytes(Name, V);
      continue;
    }
    // The conversion keeps the low bits, so that a negative value is the same number, too.
    Add(Name + " == (decltype(" + Name + "))" + std::to_string(V.Bits) + "ull");
  }
  for (const auto &[Variable, Exact] :
       {std::pair(std::string("blockDim."), Known.Block), {"gridDim.", Known.Grid}})
    for (size_t I = 0; Exact && I < 3; ++I)
      Add(Variable + "xyz"[I] + " == " + std::to_string((*Exact)[I]) + "u");
  return Text;
}

} // namespace

llvm::Expected<std::vector<KernelDefinition>> carve::kernelDefinitions(StringRef Text) {
  llvm::Expected<std::vector<Token>> Tokens = Lexer(Text).run();
  if (!Tokens)
    return Tokens.takeError();
  return Finder(Text, *Tokens).run();
}

bool carve::isIntegerType(StringRef Type) {
  llvm::SmallVector<StringRef, 6> Words;
  llvm::SplitString(Type, Words);
  static constexpr llvm::StringLiteral Known[] = {"int",   "unsigned", "signed", "long",
                                                  "short", "char",     "bool"};
  bool Any = false;
  for (StringRef Word : Words) {
    if (Word == "const" || Word == "volatile")
      continue;
    if (!llvm::is_contained(Known, Word))
      return false;
    Any = true;
  }
  return Any;
}

bool carve::isFloatType(StringRef Type) {
  llvm::SmallVector<StringRef, 4> Words;
  llvm::SplitString(Type, Words);
  llvm::erase_if(Words, [](StringRef Word) { return Word == "const" || Word == "volatile"; });
  return Words.size() == 1 && (Words[0] == "float" || Words[0] == "double");
}

std::vector<std::string> carve::parameterTypes(StringRef Mangled) {
  std::optional<Demangled> Name = demangled(Mangled);
  return Name ? std::move(Name->Types) : std::vector<std::string>();
}

llvm::Expected<AssumedLaunch> carve::assumable(llvm::ArrayRef<KernelDefinition> Kernels,
                                               StringRef Mangled, const KnownLaunch &Known) {
  llvm::Expected<KernelPlace> Place = placeOf(Kernels, Mangled);
  if (!Place)
    return Place.takeError();
  AssumedLaunch Assumed{Place->Definition, assumableAt(*Place, Known), {}, {}, {}};
  if (Assumed.Launch.empty())
    return unknown("nothing that is known of " + Mangled + " can be assumed");
  for (const ArgumentValue &V : Assumed.Launch.Values)
    if (isFloatType(Place->Types[V.Parameter]))
      Assumed.Floats.push_back(V.Parameter);
    else if (isPlainAddress(Place->Definition->Parameters[V.Parameter], Place->Types[V.Parameter]))
      Assumed.Aligned.push_back(V.Parameter);
    else if (!isIntegerType(Place->Types[V.Parameter]))
      Assumed.Parts.push_back(V.Parameter);
  return Assumed;
}

llvm::Expected<std::string> carve::withAssumptions(StringRef Text, StringRef Mangled,
                                                   const KnownLaunch &Known) {
  llvm::Expected<std::vector<KernelDefinition>> Kernels = kernelDefinitions(Text);
  if (!Kernels)
    return Kernels.takeError();
  llvm::Expected<AssumedLaunch> Assumed = assumable(*Kernels, Mangled, Known);
  if (!Assumed)
    return Assumed.takeError();
  size_t Body = Assumed->Kernel->Body;
  return (Text.take_front(Body) + assumptions(*Assumed) + Text.drop_front(Body)).str();
}
