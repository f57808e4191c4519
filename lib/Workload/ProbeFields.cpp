#include "Workload/ProbeFields.h"

#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>

using namespace carve;
using namespace llvm;

StringRef ProbeFields::next(StringRef Expected) {
  if (++At < Words.size())
    return Words[At];
  if (!Bad)
    Bad = ("field " + Twine(At) + " is absent, expected " + Expected).str();
  return "";
}

void ProbeFields::fail(StringRef Actual, StringRef Expected) {
  if (!Bad)
    Bad = ("field " + Twine(At) + " is '" + Actual + "', expected " + Expected).str();
}

std::string ProbeFields::name() {
  StringRef Word = next("a name");
  if (Word.empty())
    fail(Word, "a name");
  return Word.str();
}

/// Digits only: strtod() would take `nan`, `0x1p3` and spaces.
bool ProbeFields::finite(StringRef Word, double &Out) {
  auto [End, Error] = std::from_chars(Word.begin(), Word.end(), Out);
  return Error == std::errc() && End == Word.end() && std::isfinite(Out) && !std::signbit(Out);
}

void ProbeFields::flag(bool &Out) {
  StringRef Word = next("0 or 1");
  if (Word != "0" && Word != "1")
    fail(Word, "0 or 1");
  Out = Word == "1";
}

void ProbeFields::triple(std::array<unsigned, 3> &Out) {
  StringRef Word = next("three numbers");
  SmallVector<StringRef, 3> Parts;
  Word.split(Parts, ',');
  bool Ok = Parts.size() == 3;
  for (size_t I = 0; Ok && I < 3; ++I)
    Ok = !Parts[I].getAsInteger(10, Out[I]);
  if (!Ok)
    fail(Word, "three numbers");
}

size_t ProbeFields::oneOf(ArrayRef<StringLiteral> Known) {
  std::string Expected = join(Known, "|");
  StringRef Word = next(Expected);
  const auto *It = find(Known, Word);
  if (It == Known.end()) {
    fail(Word, Expected);
    return 0;
  }
  return It - Known.begin();
}

void ProbeFields::shape(LaunchShape &Out) {
  triple(Out.Grid);
  triple(Out.Block);
  number(Out.DynamicSmemBytes);
  triple(Out.Cluster);
}

void ProbeFields::end() {
  if (!Bad && At + 1 < Words.size())
    Bad = ("field " + Twine(At + 1) + " is '" + Words[At + 1] + "', expected none").str();
}

std::string carve::printNumber(double Value) {
  char Text[32];
  auto [End, Error] = std::to_chars(Text, Text + sizeof(Text), Value);
  (void)Error; // 24 characters are the longest.
  return std::string(Text, End);
}
