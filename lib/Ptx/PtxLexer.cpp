#include "Ptx/PtxLexer.h"

#include "Support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;
using namespace llvm;

namespace {

bool startsWord(char C) { return isAlpha(C) || C == '_' || C == '$' || C == '%'; }
bool continuesWord(char C) { return isAlnum(C) || C == '_' || C == '$'; }

bool endsWithItsLine(StringRef Directive) {
  return Directive == ".loc" || Directive == ".file" || Directive == ".target";
}

class Lexer {
public:
  explicit Lexer(StringRef Text) : Text(Text) {}
  Expected<std::vector<PtxToken>> run();

private:
  /// Advances past spaces and comments.
  Error skipBlanks();
  Error lexOne();
  /// Returns the first offset from \p From on whose character does not continue a word.
  size_t wordEnd(size_t From) const;
  size_t numberEnd(size_t From) const;
  void push(PtxToken::KindTy Kind, size_t End);

  StringRef Text;
  size_t Pos = 0;
  std::vector<PtxToken> Tokens;
};

size_t Lexer::wordEnd(size_t From) const {
  while (From < Text.size() && continuesWord(Text[From]))
    ++From;
  return From;
}

size_t Lexer::numberEnd(size_t From) const {
  while (From < Text.size() &&
         (continuesWord(Text[From]) ||
          (Text[From] == '.' && From + 1 < Text.size() && isDigit(Text[From + 1]))))
    ++From;
  return From;
}

void Lexer::push(PtxToken::KindTy Kind, size_t End) {
  PtxToken T;
  T.Begin = Pos;
  T.End = End;
  T.Kind = Kind;
  Tokens.push_back(T);
  Pos = End;
}

Error Lexer::skipBlanks() {
  while (Pos < Text.size()) {
    if (isSpace(Text[Pos])) {
      ++Pos;
    } else if (Text.substr(Pos, 2) == "//") {
      Pos = std::min(Text.find('\n', Pos), Text.size());
    } else if (Text.substr(Pos, 2) == "/*") {
      size_t End = Text.find("*/", Pos + 2);
      if (End == StringRef::npos)
        return malformed("PTX: a comment at offset " + Twine(Pos) + " does not end");
      Pos = End + 2;
    } else {
      break;
    }
  }
  return Error::success();
}

Error Lexer::lexOne() {
  char C = Text[Pos];
  if (startsWord(C)) {
    push(PtxToken::Word, wordEnd(Pos + 1));
    return Error::success();
  }
  if (isDigit(C)) {
    push(PtxToken::Number, numberEnd(Pos));
    return Error::success();
  }
  if (C == '"') {
    size_t End = Pos + 1;
    while (End < Text.size() && Text[End] != '"' && Text[End] != '\n')
      End += Text[End] == '\\' ? 2 : 1;
    if (End >= Text.size() || Text[End] != '"')
      return malformed("PTX: a string at offset " + Twine(Pos) + " does not end");
    push(PtxToken::String, End + 1);
    return Error::success();
  }
  if (C == '.' && Pos + 1 < Text.size() && (isAlpha(Text[Pos + 1]) || Text[Pos + 1] == '_')) {
    size_t End = wordEnd(Pos + 1);
    if (endsWithItsLine(Text.slice(Pos, End)))
      push(PtxToken::Line, std::min(Text.find('\n', End), Text.size()));
    else
      push(PtxToken::Directive, End);
    return Error::success();
  }
  push(PtxToken::Punct, Pos + 1);
  return Error::success();
}

Expected<std::vector<PtxToken>> Lexer::run() {
  // nvcc's output typically has one token in five characters.
  Tokens.reserve(Text.size() / 4);
  while (true) {
    if (Error E = skipBlanks())
      return E;
    if (Pos >= Text.size())
      return std::move(Tokens);
    if (Error E = lexOne())
      return E;
  }
}

} // namespace

Expected<std::vector<PtxToken>> carve::lexPtx(StringRef Text) { return Lexer(Text).run(); }

MutableArrayRef<PtxToken> carve::bodyOf(StringRef Text, MutableArrayRef<PtxToken> Tokens) {
  auto Open = find_if(Tokens, [&](const PtxToken &T) { return isPunct(Text, T, '{'); });
  MutableArrayRef<PtxToken> Body = Tokens.drop_front(Open - Tokens.begin() + 1).drop_back();
  setRoles(Text, Body);
  return Body;
}

void carve::setRoles(StringRef Text, MutableArrayRef<PtxToken> Body) {
  bool AtStart = true;
  size_t OperandBraces = 0; // The braces of a vector access such as `{%f1, %f2}` open no scope.
  for (size_t I = 0; I < Body.size(); ++I) {
    PtxToken &T = Body[I];
    if (T.Kind == PtxToken::Line)
      continue;
    if (T.Kind == PtxToken::Word && AtStart) {
      bool IsLabel = I + 1 < Body.size() && isPunct(Text, Body[I + 1], ':');
      T.Role = IsLabel ? PtxToken::Label : PtxToken::Opcode;
      I += IsLabel;
      // The label of a prototype comes before a directive, every other label before an instruction.
      AtStart = IsLabel;
      continue;
    }
    if (T.Kind != PtxToken::Punct) {
      AtStart = false;
      continue;
    }
    char C = Text[T.Begin];
    if (C == '@' && AtStart) { // After `@p` or `@!p` the opcode follows.
      I += I + 1 < Body.size() && isPunct(Text, Body[I + 1], '!') ? 2 : 1;
      continue;
    }
    if (C == '{' && !AtStart)
      ++OperandBraces;
    else if (C == '}' && OperandBraces)
      --OperandBraces;
    else
      AtStart = C == ';' || C == '{' || C == '}';
  }
}

void carve::forEachInstruction(StringRef Text, ArrayRef<PtxToken> Body,
                               function_ref<void(ArrayRef<PtxToken>)> Visit) {
  for (size_t I = 0; I < Body.size(); ++I) {
    if (Body[I].Kind != PtxToken::Word || Body[I].Role != PtxToken::Opcode)
      continue;
    size_t First = I;
    while (I < Body.size() && !isPunct(Text, Body[I], ';'))
      ++I;
    Visit(Body.slice(First, I - First));
  }
}
