#include "Report/HtmlText.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>

using namespace carve;

static constexpr char Space[] = "\xC2\xA0";

/// Returns where the name in \p S ends: before the arguments of its last part, either those of the
/// template or those of the function.
static size_t endOfName(llvm::StringRef S) {
  static constexpr llvm::StringLiteral Anonymous = "(anonymous namespace)";
  unsigned Depth = 0;
  size_t End = S.size(), I = 0;
  while (I < S.size()) {
    if (S.substr(I).starts_with(Anonymous)) {
      I += Anonymous.size();
      continue;
    }
    char C = S[I];
    if (Depth == 0 && (C == '<' || C == '('))
      End = I;
    if (C == '<')
      ++Depth;
    else if (C == '>' && Depth)
      --Depth;
    else if (C == '(' && Depth == 0)
      return End;
    ++I;
    // A template's arguments are followed by one of its members, so the name goes on.
    if (C == '>' && Depth == 0 && S.substr(I).starts_with("::"))
      End = S.size();
    else if (C == '>' && Depth == 0)
      return End;
  }
  return End;
}

KernelNameParts carve::kernelNameParts(llvm::StringRef Demangled) {
  llvm::StringRef Name = Demangled;
  Name.consume_front("void "); // Kernels return nothing, but only the names of templates say so.
  size_t End = endOfName(Name);
  if (End == 0)
    End = Name.size();
  return {Name.take_front(End), Name.drop_front(End)};
}

/// Returns \p Name with a possible line break after each `::` and `_`. If it is too long, it is cut
/// between characters.
static std::string breakableName(llvm::StringRef Name, size_t Most) {
  std::string To, Ellipsis;
  if (Name.size() > Most) {
    while (Most && (Name[Most] & 0xC0) == 0x80)
      --Most;
    Name = Name.take_front(Most);
    Ellipsis = "\xE2\x80\xA6";
  }
  while (!Name.empty()) {
    size_t At = Name.find_first_of("_:");
    size_t Length = std::min(Name.find_first_not_of("_:", At), Name.size());
    To += markupText(Name.take_front(Length));
    Name = Name.drop_front(Length);
    if (!Name.empty())
      To += "<wbr/>";
  }
  return To + Ellipsis;
}

std::string carve::kernelNameHtml(llvm::StringRef Demangled, size_t Most, llvm::StringRef Link) {
  KernelNameParts Parts = kernelNameParts(Demangled);
  std::string Base = breakableName(Parts.Name, Most);
  if (!Link.empty())
    Base = "<a href=\"" + Link.str() + "\">" + Base + "</a>";
  return "<span class=\"base\">" + Base + "</span><span class=\"signature\">" +
         breakableName(Parts.Rest, Most) + "</span>";
}

std::string carve::fixedText(double Value, unsigned Digits) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%.*f", int(Digits), Value);
  return Text;
}

std::string carve::percentHtml(double Fraction, unsigned Digits) {
  return fixedText(100 * Fraction, Digits) + Space + "%";
}

std::string carve::occupancyText(double Fraction) {
  double Tenths = std::round(1000 * Fraction);
  return percentHtml(Fraction, std::fmod(Tenths, 10) != 0);
}

std::string carve::durationText(double Ns) {
  static constexpr std::pair<double, const char *> Units[] = {
      {1e9, "s"}, {1e6, "ms"}, {1e3, "\xC2\xB5s"}, {1, "ns"}};
  for (const auto &[Scale, Unit] : Units) {
    // A value that rounds to 1000 of a unit is shown as 1 of the next unit.
    if (Ns < 0.9995 * Scale && Scale > 1)
      continue;
    double Value = Ns / Scale;
    unsigned Digits = Value >= 99.95 ? 0 : Value >= 9.995 ? 1 : 2;
    return fixedText(Value, Digits) + Space + Unit;
  }
  return "0";
}

std::string carve::shortNumber(double Value) {
  std::string Text;
  llvm::raw_string_ostream(Text) << llvm::format("%.4g", Value);
  return Text;
}

std::string carve::countText(uint64_t Count) {
  std::string Digits = std::to_string(Count), To;
  for (size_t I = 0; I < Digits.size(); ++I) {
    if (I && (Digits.size() - I) % 3 == 0)
      To += Space;
    To += Digits[I];
  }
  return To;
}
