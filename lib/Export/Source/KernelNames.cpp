#include "Export/Source/KernelNames.h"

#include "Export/Source/CudaTokens.h"
#include "Export/Source/KernelHead.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace carve;

namespace {

/// Splits \p Text at \p Separator outside of brackets.
std::vector<llvm::StringRef> splitOutside(llvm::StringRef Text, llvm::StringRef Separator) {
  std::vector<llvm::StringRef> Parts;
  int Depth = 0;
  size_t Begin = 0;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    Depth += C == '(' || C == '<' || C == '[' || C == '{';
    Depth -= C == ')' || C == '>' || C == ']' || C == '}';
    if (Depth == 0 && Text.substr(I).starts_with(Separator)) {
      Parts.push_back(Text.slice(Begin, I).trim());
      Begin = I + Separator.size();
      I = Begin - 1;
    }
  }
  Parts.push_back(Text.drop_front(std::min(Begin, Text.size())).trim());
  return Parts;
}

/// Returns the position of the parenthesis that opens the parameter list at the end of a name, or
/// npos.
size_t openOfParameters(llvm::StringRef Name) {
  if (!Name.ends_with(")"))
    return llvm::StringRef::npos;
  int Depth = 0;
  for (size_t I = Name.size(); I-- > 0;) {
    Depth += Name[I] == ')';
    Depth -= Name[I] == '(';
    if (Depth == 0)
      return Name.substr(I) == "(anonymous namespace)" ? llvm::StringRef::npos : I;
  }
  return llvm::StringRef::npos;
}

bool isBuiltinWord(llvm::StringRef Word) {
  return llvm::StringSwitch<bool>(Word)
      .Cases("void", "bool", "char", "short", "int", "long", "float", "double", true)
      .Cases("signed", "unsigned", "wchar_t", "char8_t", "char16_t", "char32_t", true)
      .Default(false);
}

bool isQualifier(llvm::StringRef Word) {
  return llvm::StringSwitch<bool>(Word)
      .Cases("const", "volatile", "__restrict__", "__restrict", "restrict", "typename", true)
      .Cases("struct", "class", "union", "enum", "__grid_constant__", "register", true)
      .Default(false);
}

/// A type, as far as types can be compared without the compiler.
struct ParameterType {
  std::vector<std::string> Builtin; ///< Sorted words of a builtin type, without `signed`, and
                                    ///< without `int` beside other words.
  std::vector<std::string> Named;   ///< Other words, including template arguments.
  int Pointers = 0, References = 0;
};

ParameterType typeOf(llvm::StringRef Text, bool HasName) {
  CudaTokens Source = tokenizeCuda(Text);
  std::vector<CudaToken> Words;
  ParameterType Type;
  for (const CudaToken &T : Source.Tokens) {
    Type.Pointers += T.is("*") || T.is("[");
    Type.References += T.is("&");
    if (T.Kind == CudaTokenKind::Word && !isQualifier(T.Text))
      Words.push_back(T);
  }
  // The last word is the parameter's name if another word gives its type and nothing qualifies it.
  if (HasName && Words.size() > 1 && !isBuiltinWord(Words.back().Text)) {
    size_t Last = Words.back().Offset;
    llvm::StringRef Before = Text.take_front(Last).rtrim();
    if (!Before.ends_with("::") && !Before.ends_with("<") && !Before.ends_with(","))
      Words.pop_back();
  }
  for (const CudaToken &W : Words)
    (isBuiltinWord(W.Text) ? Type.Builtin : Type.Named).push_back(W.Text.str());
  llvm::sort(Type.Builtin);
  if (Type.Builtin.size() > 1) {
    llvm::erase(Type.Builtin, "int");
    if (!llvm::is_contained(Type.Builtin, "char"))
      llvm::erase(Type.Builtin, "signed");
  }
  if (Type.Builtin.empty() && Type.Named.empty())
    Type.Builtin = {"int"};
  return Type;
}

/// Returns how well a parameter as spelled fits the type that the compiler saw: -1 if it does not,
/// else more if more of it is known to agree.
int fit(const ParameterType &Spelled, const ParameterType &Seen) {
  if (!Spelled.Named.empty()) {
    // A typedef or a template parameter may hide anything, but not fewer pointers than are visible.
    if (Spelled.Pointers > Seen.Pointers)
      return -1;
    bool Named = llvm::all_of(Spelled.Named, [&](const std::string &Word) {
      return llvm::is_contained(Seen.Named, Word);
    });
    return Named && Spelled.Pointers == Seen.Pointers ? 2 : 0;
  }
  bool Same = Spelled.Builtin == Seen.Builtin && Seen.Named.empty() &&
              Spelled.Pointers == Seen.Pointers && Spelled.References == Seen.References;
  return Same ? 2 : -1;
}

/// Returns the sum of fit() over all parameters, or -1 if one does not fit.
int fitParameters(const KernelPlace &Place, const std::vector<std::string> &Seen) {
  bool Pack = llvm::any_of(Place.Parameters, [](llvm::StringRef P) { return P.contains(". . ."); });
  if (Pack)
    return 0;
  if (Place.Parameters.size() != Seen.size())
    return -1;
  int Sum = 0;
  for (size_t I = 0; I < Seen.size(); ++I) {
    int One = fit(typeOf(Place.Parameters[I], true), typeOf(Seen[I], false));
    if (One < 0)
      return -1;
    Sum += One;
  }
  return Sum;
}

/// Returns true if the scope that the source shows fits the name. Outermost namespaces may be
/// missing in the source if a macro opens them.
bool scopeFits(llvm::ArrayRef<std::string> Shown, const KernelName &Name) {
  if (Shown.back() != Name.Base)
    return false;
  Shown = Shown.drop_back();
  if (Shown.size() > Name.Scope.size())
    return false;
  return std::equal(Shown.rbegin(), Shown.rend(), Name.Scope.rbegin());
}

std::string withoutBlanks(llvm::StringRef Text) {
  std::string Out;
  for (char C : Text)
    if (!llvm::isSpace(C))
      Out += C;
  return Out;
}

} // namespace

KernelName carve::parseKernelName(llvm::StringRef Name) {
  KernelName Out;
  size_t Open = openOfParameters(Name);
  llvm::StringRef Qualified = Name.take_front(Open);
  if (Open != llvm::StringRef::npos) {
    llvm::StringRef Inside = Name.drop_front(Open + 1).drop_back();
    Out.Parameters.emplace();
    if (!Inside.trim().empty())
      for (llvm::StringRef P : splitOutside(Inside, ","))
        Out.Parameters->push_back(P.str());
  }
  // The demangled name of a template begins with its return type.
  Qualified = splitOutside(Qualified, " ").back();
  for (llvm::StringRef Part : splitOutside(Qualified, "::")) {
    size_t Bracket = Part.find('<');
    if (!Out.Base.empty())
      Out.Scope.push_back(std::move(Out.Base));
    Out.Base = Part.take_front(Bracket).str();
    Out.Arguments.clear();
    Out.IsTemplate = Bracket != llvm::StringRef::npos;
    if (!Out.IsTemplate)
      continue;
    for (llvm::StringRef A : splitOutside(Part.drop_front(Bracket + 1).rtrim().drop_back(), ","))
      Out.Arguments.push_back(A.str());
  }
  return Out;
}

const KernelPlace *carve::findDefinition(const KernelName &Name, llvm::ArrayRef<KernelPlace> Places,
                                         bool &Ambiguous) {
  const KernelPlace *Best = nullptr;
  int BestFit = -1;
  Ambiguous = false;
  for (const KernelPlace &P : Places) {
    if (!P.IsDefinition || !scopeFits(P.Name, Name) || P.IsTemplate != Name.IsTemplate)
      continue;
    int Fit = Name.Parameters ? fitParameters(P, *Name.Parameters) : 0;
    if (!P.Specialisation.empty()) {
      bool Same = withoutBlanks(P.Specialisation) == withoutBlanks(llvm::join(Name.Arguments, ","));
      Fit = Same && Fit >= 0 ? Fit + 1000 : -1;
    }
    // Of two that fit equally well, the one whose scope the source shows is preferred.
    if (Fit >= 0)
      Fit = Fit * 100 + static_cast<int>(P.Name.size());
    if (Fit < 0 || Fit < BestFit)
      continue;
    Ambiguous = Fit == BestFit;
    Best = &P;
    BestFit = Fit;
  }
  return Ambiguous ? nullptr : Best;
}

unsigned carve::definitionLine(llvm::StringRef Source, llvm::StringRef Kernel) {
  std::vector<KernelPlace> Places = findKernels(Source);
  bool Ambiguous = false;
  const KernelPlace *P = findDefinition(parseKernelName(Kernel), Places, Ambiguous);
  return P ? P->Line : 0;
}

bool carve::declaresSame(const KernelPlace &Declared, const KernelPlace &Definition) {
  if (Declared.IsDefinition || Declared.Name.back() != Definition.Name.back() ||
      Declared.IsTemplate != Definition.IsTemplate ||
      Declared.Specialisation != Definition.Specialisation ||
      Declared.Parameters.size() != Definition.Parameters.size())
    return false;
  for (size_t I = 0; I < Declared.Parameters.size(); ++I) {
    ParameterType A = typeOf(Declared.Parameters[I], true);
    ParameterType B = typeOf(Definition.Parameters[I], true);
    if (A.Builtin != B.Builtin || A.Pointers != B.Pointers)
      return false;
  }
  return true;
}
