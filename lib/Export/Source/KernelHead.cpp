#include "Export/Source/KernelHead.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace carve;

size_t carve::behindBracket(llvm::ArrayRef<CudaToken> Tokens, size_t Open) {
  bool Angle = Tokens[Open].is("<");
  char Opens = Tokens[Open].Text.front();
  char Closes = Angle ? '>' : Opens == '(' ? ')' : Opens == '[' ? ']' : '}';
  unsigned Depth = 0;
  for (size_t I = Open; I < Tokens.size(); ++I) {
    if (Tokens[I].Kind != CudaTokenKind::Punct || Tokens[I].Text.size() > 1)
      continue;
    char C = Tokens[I].Text.front();
    if (C == Opens) {
      ++Depth;
    } else if (C == Closes) {
      if (--Depth == 0)
        return I + 1;
    } else if (Angle && (C == '(' || C == '[' || C == '{')) {
      I = behindBracket(Tokens, I) - 1;
    }
  }
  return Tokens.size();
}

std::string carve::joinTokens(llvm::ArrayRef<CudaToken> Tokens) {
  std::string Text;
  for (const CudaToken &T : Tokens)
    Text += (Text.empty() ? "" : " ") + T.Text.str();
  return Text;
}

std::vector<llvm::ArrayRef<CudaToken>> carve::splitAtCommas(llvm::ArrayRef<CudaToken> Tokens) {
  std::vector<llvm::ArrayRef<CudaToken>> Parts;
  size_t Begin = 0;
  for (size_t I = 0; I < Tokens.size();) {
    const CudaToken &T = Tokens[I];
    // `<` after a word opens template arguments. A comparison there must be in parentheses.
    bool Bracket = T.is("(") || T.is("[") || T.is("{") ||
                   (T.is("<") && I > 0 && Tokens[I - 1].Kind == CudaTokenKind::Word);
    if (Bracket) {
      I = behindBracket(Tokens, I);
      continue;
    }
    if (T.is(",")) {
      Parts.push_back(Tokens.slice(Begin, I - Begin));
      Begin = I + 1;
    }
    ++I;
  }
  if (Begin < Tokens.size() || !Parts.empty())
    Parts.push_back(Tokens.drop_front(Begin));
  return Parts;
}

namespace {

/// Returns true for words that are followed by parentheses but are not a declarator.
bool takesParentheses(llvm::StringRef Word) {
  return llvm::StringSwitch<bool>(Word)
      .Cases("__attribute__", "__declspec", "alignas", "__align__", "decltype", "noexcept", true)
      .Cases("__launch_bounds__", "__maxnreg__", "__cluster_dims__", "__block_size__", true)
      .Cases("explicit", "__noinline__", "__pragma", "_Pragma", "requires", true)
      .Default(false);
}

TemplateParameter templateParameter(llvm::ArrayRef<CudaToken> Tokens) {
  TemplateParameter P;
  P.IsType = !Tokens.empty() && (Tokens.front().is("class") || Tokens.front().is("typename"));
  for (const CudaToken &T : Tokens) {
    if (T.is("="))
      break;
    P.IsPack |= T.is(".");
    if (T.Kind == CudaTokenKind::Word)
      P.Name = T.Text.str();
  }
  if (P.Name == "class" || P.Name == "typename")
    P.Name.clear();
  return P;
}

/// Returns the tokens inside the bracket at \p Open. Its end may be missing because a preprocessor
/// branch cut it off.
llvm::ArrayRef<CudaToken> insideBracket(llvm::ArrayRef<CudaToken> Tokens, size_t Open) {
  size_t End = behindBracket(Tokens, Open);
  llvm::ArrayRef<CudaToken> Inside = Tokens.slice(Open + 1, End - Open - 1);
  llvm::StringRef Closes = Tokens[Open].is("<") ? ">" : ")";
  return !Inside.empty() && Inside.back().is(Closes) ? Inside.drop_back() : Inside;
}

class HeadReader {
public:
  explicit HeadReader(llvm::ArrayRef<CudaToken> Head) : Head(Head) {}
  std::optional<KernelPlace> read();

private:
  size_t wordWithParentheses(size_t Index);
  void templateHead(size_t Open);
  bool declarator(size_t Open);

  llvm::ArrayRef<CudaToken> Head;
  KernelPlace Place;
  unsigned Globals = 0;
};

/// Reads an attribute with its parentheses. Returns the index after it.
size_t HeadReader::wordWithParentheses(size_t Index) {
  size_t End = behindBracket(Head, Index + 1);
  llvm::ArrayRef<CudaToken> Inside = insideBracket(Head, Index + 1);
  llvm::StringRef Word = Head[Index].Text;
  if (Word == "__attribute__") {
    Globals += llvm::any_of(Inside, [](const CudaToken &T) { return T.is("global"); });
  } else if (Word == "__launch_bounds__" || Word == "__maxnreg__") {
    KernelAttribute A{Head[Index].Offset, Head[End - 1].end(), Word == "__launch_bounds__", {}};
    for (llvm::ArrayRef<CudaToken> Argument : splitAtCommas(Inside))
      if (!Argument.empty()) {
        const char *Begin = Argument.front().Text.begin();
        A.Arguments.emplace_back(Begin, Argument.back().Text.end() - Begin);
      }
    Place.Attributes.push_back(std::move(A));
  }
  return End;
}

void HeadReader::templateHead(size_t Open) {
  Place.IsTemplate = true;
  Place.Template.clear();
  for (llvm::ArrayRef<CudaToken> P : splitAtCommas(insideBracket(Head, Open)))
    Place.Template.push_back(templateParameter(P));
}

/// Reads the name before the parenthesis at \p Open, and the parameters after it. Returns false if
/// there is no name.
bool HeadReader::declarator(size_t Open) {
  size_t Name = Open;
  if (Name > 0 && Head[Name - 1].is(">")) {
    // Find the bracket that this one closes.
    size_t Begin = Name - 1;
    while (Begin > 0 && !(Head[Begin].is("<") && behindBracket(Head, Begin) == Name))
      --Begin;
    if (Name < Begin + 2)
      return false;
    Place.Specialisation = joinTokens(Head.slice(Begin + 1, Name - Begin - 2));
    Name = Begin;
  }
  if (Name == 0 || Head[Name - 1].Kind != CudaTokenKind::Word)
    return false;
  size_t First = Name - 1;
  Place.Line = Head[First].Line;
  Place.Name = {Head[First].Text.str()};
  while (First >= 2 && Head[First - 1].is("::") && Head[First - 2].Kind == CudaTokenKind::Word) {
    First -= 2;
    Place.Name.insert(Place.Name.begin(), Head[First].Text.str());
  }
  if (First > 0 && Head[First - 1].is("::"))
    --First;
  Place.InsertAt = Head[First].Offset;
  for (llvm::ArrayRef<CudaToken> P : splitAtCommas(insideBracket(Head, Open))) {
    P = P.take_until([](const CudaToken &T) { return T.is("="); });
    if (std::string Text = joinTokens(P); Text != "void")
      Place.Parameters.push_back(std::move(Text));
  }
  return true;
}

std::optional<KernelPlace> HeadReader::read() {
  bool Declared = false;
  for (size_t I = 0; I < Head.size();) {
    const CudaToken &T = Head[I];
    bool Opens = I + 1 < Head.size() && Head[I + 1].is("(");
    if (T.is("__global__")) {
      // Whatever precedes `__global__` belongs to a macro of its own.
      ++Globals;
      Declared = false;
      Place.Parameters.clear();
      ++I;
    } else if (T.is("template") && I + 1 < Head.size() && Head[I + 1].is("<")) {
      size_t End = behindBracket(Head, I + 1);
      templateHead(I + 1);
      I = End;
    } else if (T.Kind == CudaTokenKind::Word && Opens && takesParentheses(T.Text)) {
      I = wordWithParentheses(I);
    } else if (T.is("<")) {
      I = behindBracket(Head, I);
    } else if (T.is("(")) {
      Declared = Declared || declarator(I);
      I = behindBracket(Head, I);
    } else {
      ++I;
    }
  }
  // An explicit instantiation is `template` without brackets. It cannot have attributes of its own.
  bool Instantiates = !Head.empty() && (Head.front().is("template") || Head.front().is("extern")) &&
                      !Place.IsTemplate && !Place.Specialisation.empty();
  if (!Globals || !Declared || Instantiates)
    return std::nullopt;
  Place.Split = Globals > 1;
  return std::move(Place);
}

} // namespace

std::optional<KernelPlace> carve::kernelOf(llvm::ArrayRef<CudaToken> Head) {
  bool MayBe =
      llvm::any_of(Head, [](const CudaToken &T) { return T.is("__global__") || T.is("global"); });
  return MayBe ? HeadReader(Head).read() : std::nullopt;
}

std::string carve::classOf(llvm::ArrayRef<CudaToken> Head) {
  std::string Name;
  bool Keyword = false;
  for (size_t I = 0; I < Head.size();) {
    const CudaToken &T = Head[I];
    if (T.is("template") && I + 1 < Head.size() && Head[I + 1].is("<")) {
      I = behindBracket(Head, I + 1);
    } else if (T.Kind == CudaTokenKind::Word && I + 1 < Head.size() && Head[I + 1].is("(")) {
      if (!takesParentheses(T.Text))
        return ""; // This is a function, perhaps one that returns a struct.
      I = behindBracket(Head, I + 1);
    } else if (T.is("class") || T.is("struct") || T.is("union")) {
      Keyword = true;
      ++I;
    } else if (T.is("enum") || T.is("=") || T.is("(")) {
      return "";
    } else if (T.is("<")) {
      I = behindBracket(Head, I);
    } else if (Keyword && T.is(":")) {
      break;
    } else {
      if (Keyword && T.Kind == CudaTokenKind::Word && !T.is("final"))
        Name = T.Text.str();
      ++I;
    }
  }
  return Keyword ? Name : "";
}
