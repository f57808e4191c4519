#include "Export/Source/CudaTokens.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;

namespace {

bool startsWord(char C) { return llvm::isAlpha(C) || C == '_' || C == '$' || (C & 0x80); }
bool continuesWord(char C) { return startsWord(C) || llvm::isDigit(C); }

class Tokenizer {
public:
  explicit Tokenizer(llvm::StringRef Text) : Text(Text) {}
  CudaTokens run();

private:
  char at(size_t Place) const { return Place < Text.size() ? Text[Place] : '\0'; }
  size_t continuation(size_t Place) const;
  void skipTo(size_t End);
  bool skipBlank();
  size_t commentEnd(size_t Begin) const;
  size_t quotedEnd(size_t Begin) const;
  size_t rawStringEnd(size_t Quote) const;
  size_t numberEnd() const;
  void directive();
  void token(CudaTokenKind Kind, size_t End);

  llvm::StringRef Text;
  size_t Here = 0;
  unsigned Line = 1;
  bool LineStart = true; ///< Only blanks and comments precede on this line.
  CudaTokens Out;
};

/// Returns the length of a backslash and the line end after it, or 0 if there is none.
size_t Tokenizer::continuation(size_t Place) const {
  if (at(Place) != '\\')
    return 0;
  if (at(Place + 1) == '\n')
    return 2;
  return at(Place + 1) == '\r' && at(Place + 2) == '\n' ? 3 : 0;
}

void Tokenizer::skipTo(size_t End) {
  End = std::min(End, Text.size());
  Line += Text.slice(Here, End).count('\n');
  Here = End;
}

/// Returns the position after the comment at \p Begin.
size_t Tokenizer::commentEnd(size_t Begin) const {
  if (at(Begin + 1) == '*') {
    size_t End = Text.find("*/", Begin + 2);
    return End == llvm::StringRef::npos ? Text.size() : End + 2;
  }
  size_t Place = Begin;
  while (Place < Text.size() && Text[Place] != '\n')
    Place += std::max<size_t>(continuation(Place), 1);
  return Place;
}

/// Skips a blank, a comment, or a line end. Returns true if there was one.
bool Tokenizer::skipBlank() {
  char C = at(Here);
  if (C == '\n') {
    skipTo(Here + 1);
    LineStart = true;
    return true;
  }
  if (llvm::isSpace(C)) {
    ++Here;
    return true;
  }
  if (size_t Bytes = continuation(Here)) {
    skipTo(Here + Bytes);
    return true;
  }
  if (C != '/' || (at(Here + 1) != '/' && at(Here + 1) != '*'))
    return false;
  skipTo(commentEnd(Here));
  return true;
}

/// Returns the position after the string or character literal at \p Begin. If it is not closed, it
/// ends with the line.
size_t Tokenizer::quotedEnd(size_t Begin) const {
  size_t Place = Begin + 1;
  while (Place < Text.size() && Text[Place] != Text[Begin] && Text[Place] != '\n')
    Place += at(Place) == '\\' ? std::max<size_t>(continuation(Place), 2) : 1;
  return Place + (at(Place) == Text[Begin]);
}

/// Returns the position after `"delimiter( ... )delimiter"`.
size_t Tokenizer::rawStringEnd(size_t Quote) const {
  size_t Open = Text.find('(', Quote);
  if (Open == llvm::StringRef::npos || Open - Quote > 17)
    return quotedEnd(Quote);
  std::string Close = ")" + Text.slice(Quote + 1, Open).str() + "\"";
  size_t End = Text.find(Close, Open);
  return End == llvm::StringRef::npos ? Text.size() : End + Close.size();
}

/// Returns the position after a number with its digit separators and exponent signs.
size_t Tokenizer::numberEnd() const {
  size_t Place = Here + 1;
  while (continuesWord(at(Place)) || at(Place) == '.' ||
         (at(Place) == '\'' && llvm::isAlnum(at(Place + 1))) ||
         ((at(Place) == '+' || at(Place) == '-') &&
          llvm::StringRef("eEpP").contains(at(Place - 1)) && at(Here + 1) != 'x'))
    ++Place;
  return Place;
}

void Tokenizer::token(CudaTokenKind Kind, size_t End) {
  Out.Tokens.push_back({Kind, Text.slice(Here, End), Here, Line});
  skipTo(End);
}

void Tokenizer::directive() {
  unsigned Began = Line;
  size_t Begin = Here + 1, End = Begin;
  while (End < Text.size() && Text[End] != '\n') {
    if (size_t Bytes = continuation(End))
      End += Bytes;
    else if (Text[End] == '"')
      End = quotedEnd(End);
    else if (Text[End] == '/' && (at(End + 1) == '/' || at(End + 1) == '*'))
      End = commentEnd(End);
    else
      ++End;
  }
  llvm::StringRef Whole = Text.slice(Begin, End).trim();
  llvm::StringRef Name = Whole.take_while(continuesWord);
  Out.Directives.push_back({Name, Whole.drop_front(Name.size()).trim(), Out.Tokens.size(), Began});
  skipTo(End);
}

CudaTokens Tokenizer::run() {
  while (Here < Text.size()) {
    if (skipBlank())
      continue;
    char C = Text[Here];
    if (C == '#' && LineStart) {
      directive();
      continue;
    }
    LineStart = false;
    if (startsWord(C)) {
      size_t End = Here;
      while (continuesWord(at(End)))
        ++End;
      llvm::StringRef Word = Text.slice(Here, End);
      bool Raw = at(End) == '"' &&
                 (Word == "R" || Word == "LR" || Word == "uR" || Word == "UR" || Word == "u8R");
      token(Raw ? CudaTokenKind::Other : CudaTokenKind::Word, Raw ? rawStringEnd(End) : End);
    } else if (llvm::isDigit(C) || (C == '.' && llvm::isDigit(at(Here + 1)))) {
      token(CudaTokenKind::Other, numberEnd());
    } else if (C == '"' || C == '\'') {
      token(CudaTokenKind::Other, quotedEnd(Here));
    } else {
      llvm::StringRef Two = Text.substr(Here, 2);
      token(CudaTokenKind::Punct, Here + (Two == "::" || Two == "->" ? 2 : 1));
    }
  }
  return std::move(Out);
}

} // namespace

CudaTokens carve::tokenizeCuda(llvm::StringRef Text) { return Tokenizer(Text).run(); }
