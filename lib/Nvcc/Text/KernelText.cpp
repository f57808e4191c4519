#include "Nvcc/Text/KernelText.h"

#include "Nvcc/Text/CxxTokens.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"

using namespace carve;
using llvm::StringRef;

namespace {

/// Finds definitions of kernels among tokens.
class Finder {
public:
  Finder(StringRef Text, llvm::ArrayRef<CxxToken> Tokens) : Text(Text), Tokens(Tokens) {}
  llvm::Expected<std::vector<KernelDefinition>> run();

private:
  llvm::Expected<size_t> behind(size_t Open) const;
  size_t closing(size_t Open) const;
  bool isGlobal(size_t From, size_t To) const;
  std::optional<std::vector<std::string>> scopeOf(size_t Begin, size_t Brace) const;
  size_t readTemplate(KernelDefinition &K, size_t At, size_t Brace) const;
  void readKernel(size_t Begin, size_t Brace, size_t End);
  std::vector<KernelParameter> parameters(size_t Open, size_t Close) const;
  KernelParameter parameter(llvm::ArrayRef<CxxToken> Words) const;

  StringRef Text;
  llvm::ArrayRef<CxxToken> Tokens;
  /// The names that each open brace of a scope adds.
  std::vector<std::vector<std::string>> Open;
  std::vector<KernelDefinition> Found;
};

/// Returns the place behind the bracket that closes the one at \p Open.
llvm::Expected<size_t> Finder::behind(size_t Begin) const {
  size_t Depth = 0;
  for (size_t I = Begin; I < Tokens.size(); ++I) {
    if (Tokens[I].Kind != CxxToken::Punctuation)
      continue;
    char C = Tokens[I].Text.front();
    if (C == '(' || C == '[' || C == '{')
      ++Depth;
    else if ((C == ')' || C == ']' || C == '}') && --Depth == 0)
      return I + 1;
  }
  return unknownText("a bracket does not close");
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
    if (Tokens[I].is("extern") && I + 2 == Brace && Tokens[I + 1].Kind == CxxToken::Literal)
      return Names;
    if (Tokens[I].is("namespace")) {
      for (size_t J = I + 1; J < Brace; ++J) {
        if (Tokens[J].is("__attribute__") || Tokens[J].is("[")) {
          J = closing(Tokens[J].is("[") ? J : J + 1);
        } else if (Tokens[J].Kind == CxxToken::Word && !Tokens[J].is("inline")) {
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
    if (Name < Brace && Tokens[Name].Kind == CxxToken::Word && !OfTemplate) {
      Names.push_back(Tokens[Name].Text.str());
      return Names;
    }
    if (Name == Brace)
      return std::vector<std::string>{""};
  }
  return std::nullopt;
}

KernelParameter Finder::parameter(llvm::ArrayRef<CxxToken> Words) const {
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
  P.NameAt = Kept.back().begin() - Text.begin();
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
      llvm::ArrayRef<CxxToken> Words = Tokens.slice(Begin, I - Begin);
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
    const CxxToken &T = Tokens[At];
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

/// Reads the definition whose declaration begins at \p Begin, and whose body opens at \p Brace and
/// ends before \p End.
void Finder::readKernel(size_t Begin, size_t Brace, size_t End) {
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
    if (I == Begin || Tokens[I - 1].Kind != CxxToken::Word || Close >= Brace)
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
    K.AsksForTypes = llvm::any_of(Tokens.slice(Brace, End - Brace), [](const CxxToken &T) {
      return T.Text.contains("decltype") || T.Text.contains("typeof");
    });
    Found.push_back(std::move(K));
    return;
  }
}

llvm::Expected<std::vector<KernelDefinition>> Finder::run() {
  size_t Begin = 0; // Of the current declaration.
  for (size_t I = 0; I < Tokens.size(); ++I) {
    const CxxToken &T = Tokens[I];
    if (T.Kind != CxxToken::Punctuation)
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
        return unknownText("a brace closes nothing");
      Open.pop_back();
      Begin = I + 1;
    } else if (C == '{') {
      if (auto Names = scopeOf(Begin, I)) {
        Open.push_back(std::move(*Names));
        Begin = I + 1;
        continue;
      }
      llvm::Expected<size_t> Next = behind(I);
      if (!Next)
        return Next.takeError();
      if (isGlobal(Begin, I))
        readKernel(Begin, I, *Next);
      I = *Next - 1;
      // A function's body ends a declaration; braces of an initialiser are followed by `;`.
      bool GoesOn = I + 1 < Tokens.size() && (Tokens[I + 1].is(";") || Tokens[I + 1].is(","));
      if (!GoesOn)
        Begin = I + 1;
    }
  }
  if (!Open.empty())
    return unknownText("a brace does not close");
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

} // namespace

llvm::Expected<std::vector<KernelDefinition>> carve::kernelDefinitions(StringRef Text) {
  llvm::Expected<std::vector<CxxToken>> Tokens = cxxTokens(Text);
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

llvm::Expected<TypedKernel> carve::definitionOf(llvm::ArrayRef<KernelDefinition> All,
                                                StringRef Mangled) {
  std::optional<Demangled> Wanted = demangled(Mangled);
  if (!Wanted)
    return unknownText(Mangled + " is no name of a function");
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
    return unknownText(llvm::Twine(Same.size()) + " definitions of " + Mangled + ", expected one");
  TypedKernel Place{Same.front(), std::move(Wanted->Types)};
  if (!Wanted->Mangled) // The name of a function of C does not have them.
    for (const KernelParameter &P : Place.Definition->Parameters)
      Place.Types.push_back(P.Type);
  return Place;
}
