#include "Support/Text.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace carve;

std::string carve::percentText(double Fraction, unsigned Digits) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%.*f %%", Digits, 100 * Fraction);
  return Text;
}

static constexpr char Replacement[] = "\xEF\xBF\xBD";

std::string carve::markupText(llvm::StringRef Text) {
  std::string Valid;
  if (!llvm::json::isUTF8(Text)) {
    Valid = llvm::json::fixUTF8(Text);
    Text = Valid;
  }
  std::string To;
  To.reserve(Text.size());
  for (unsigned char C : Text) {
    if (C == '&')
      To += "&amp;";
    else if (C == '<')
      To += "&lt;";
    else if (C == '>')
      To += "&gt;";
    else if (C == '"')
      To += "&quot;";
    else if (C == '\'')
      To += "&#39;";
    else if ((C < 0x20 && C != '\t' && C != '\n') || C == 0x7f)
      To += Replacement;
    else
      To += char(C);
  }
  return To;
}
