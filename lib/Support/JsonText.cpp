#include "Support/JsonText.h"

#include <algorithm>

using namespace carve;

/// Returns the deepest nesting that a parser may enter before it finds an error.
static unsigned jsonDepth(llvm::StringRef Text) {
  unsigned Depth = 0, Most = 0;
  bool Quoted = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (Quoted) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        Quoted = false;
    } else if (C == '"') {
      Quoted = true;
    } else if (C == '[' || C == '{') {
      Most = std::max(Most, ++Depth);
    } else if ((C == ']' || C == '}') && Depth) {
      --Depth;
    }
  }
  return Most;
}

llvm::Expected<llvm::json::Value> carve::parseJsonText(llvm::StringRef Text) {
  if (unsigned Depth = jsonDepth(Text); Depth > MostJsonDepth)
    return llvm::createStringError("JSON nested " + llvm::Twine(Depth) + " deep, expected up to " +
                                   llvm::Twine(MostJsonDepth));
  return llvm::json::parse(Text);
}
