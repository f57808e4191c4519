#include "Nvcc/Text/CxxTokens.h"

#include "Support/Error.h"

#include "llvm/ADT/StringExtras.h"

using namespace carve;
using llvm::StringRef;

namespace {

class Lexer {
public:
  explicit Lexer(StringRef Text) : Text(Text) {}
  llvm::Expected<std::vector<CxxToken>> run();

private:
  llvm::Error skipTo(StringRef End, size_t From, StringRef What);
  llvm::Error quoted(size_t Begin);
  llvm::Error raw(size_t Begin);
  void add(CxxToken::Kinds Kind, size_t Begin) { All.push_back({Kind, Text.slice(Begin, At)}); }

  StringRef Text;
  size_t At = 0;
  bool LineStart = true;
  std::vector<CxxToken> All;
};

/// Goes behind the next \p End after \p From.
llvm::Error Lexer::skipTo(StringRef End, size_t From, StringRef What) {
  size_t Found = Text.find(End, From);
  if (Found == StringRef::npos)
    return unknownText(What + " does not end");
  At = Found + End.size();
  return llvm::Error::success();
}

/// Reads the string or character whose quote is at the current place.
llvm::Error Lexer::quoted(size_t Begin) {
  char Quote = Text[At++];
  for (; At < Text.size() && Text[At] != Quote; ++At) {
    if (Text[At] == '\n')
      return unknownText("a literal does not end in its line");
    if (Text[At] == '\\')
      ++At;
  }
  if (At >= Text.size())
    return unknownText("a literal does not end");
  ++At;
  add(CxxToken::Literal, Begin);
  return llvm::Error::success();
}

/// Reads the raw string whose quote is at the current place: `"delimiter(text)delimiter"`.
llvm::Error Lexer::raw(size_t Begin) {
  size_t Open = Text.find('(', At);
  if (Open == StringRef::npos)
    return unknownText("a raw string does not begin");
  std::string End = (")" + Text.slice(At + 1, Open) + "\"").str();
  if (llvm::Error E = skipTo(End, Open, "a raw string"))
    return E;
  add(CxxToken::Literal, Begin);
  return llvm::Error::success();
}

llvm::Expected<std::vector<CxxToken>> Lexer::run() {
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
      add(CxxToken::Number, Begin);
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
        add(CxxToken::Word, Begin);
    } else {
      ++At;
      add(CxxToken::Punctuation, Begin);
    }
    if (Failed)
      return Failed;
  }
  return std::move(All);
}

} // namespace

bool carve::isWordChar(char C) { return llvm::isAlnum(C) || C == '_' || C == '$' || (C & 0x80); }

llvm::Error carve::unknownText(const llvm::Twine &Why) { return unsupported("unknown-text", Why); }

llvm::Expected<std::vector<CxxToken>> carve::cxxTokens(StringRef Text) { return Lexer(Text).run(); }
