#include "Protocol/RecordReader.h"

using namespace carve;

RecordReader::RecordReader(std::string_view Line) {
  size_t Tab = Line.find('\t');
  Kind = Line.substr(0, Tab);
  More = Tab != std::string_view::npos;
  Rest = More ? Line.substr(Tab + 1) : std::string_view();
}

std::string_view RecordReader::next(std::string_view Expected) {
  ++At;
  if (!More) {
    if (!Bad)
      Bad = "field " + std::to_string(At) + " is absent, expected " + std::string(Expected);
    return "";
  }
  size_t Tab = Rest.find('\t');
  std::string_view Word = Rest.substr(0, Tab);
  More = Tab != std::string_view::npos;
  Rest = More ? Rest.substr(Tab + 1) : std::string_view();
  return Word;
}

void RecordReader::fail(std::string_view Actual, std::string_view Expected) {
  if (!Bad)
    Bad = "field " + std::to_string(At) + " is '" + std::string(Actual) + "', expected " +
          std::string(Expected);
}

void RecordReader::text(const char *, std::string &Out) { Out = next("text"); }

void RecordReader::name(const char *, std::string &Out) {
  Out = next("a name");
  if (Out.empty())
    fail(Out, "a name");
}

size_t RecordReader::oneOf(const std::string_view *Known, size_t Count) {
  std::string Expected;
  for (size_t I = 0; I < Count; ++I)
    Expected += (I ? "|" : "") + std::string(Known[I]);
  std::string_view Word = next(Expected);
  for (size_t I = 0; I < Count; ++I)
    if (Word == Known[I])
      return I;
  fail(Word, Expected);
  return 0;
}

void RecordReader::eitherOf(bool &Out, std::string_view No, std::string_view Yes,
                            std::string_view Expected) {
  std::string_view Word = next(Expected);
  if (Word != No && Word != Yes)
    fail(Word, Expected);
  Out = Word == Yes;
}

/// Reads three numbers with commas between them. Returns false if \p Word is something else.
static bool readTriple(std::string_view Word, std::array<uint32_t, 3> &Out) {
  const char *From = Word.data(), *Last = From + Word.size();
  bool Fits = !Word.empty();
  for (size_t I = 0; Fits && I < 3; ++I) {
    auto [Stop, Error] = std::from_chars(From, Last, Out[I]);
    Fits = Error == std::errc() && (I == 2 ? Stop == Last : Stop != Last && *Stop == ',');
    From = Stop + 1;
  }
  return Fits;
}

void RecordReader::triple(const char *, std::array<uint32_t, 3> &Out) {
  static constexpr std::string_view Expected = "three numbers";
  std::string_view Word = next(Expected);
  if (!readTriple(Word, Out))
    fail(Word, Expected);
}

void RecordReader::shape(LaunchShape &Out) {
  triple("grid", Out.Grid);
  triple("block", Out.Block);
  number("dynamic shared memory", Out.DynamicSmemBytes);
  static constexpr std::string_view Expected = "three numbers, or these and a class";
  std::string_view Word = next(Expected);
  size_t Slash = Word.find('/');
  bool Fits = readTriple(Word.substr(0, Slash), Out.Cluster);
  Out.Class = 0;
  if (Slash != std::string_view::npos) {
    const char *Last = Word.data() + Word.size();
    auto [Stop, Error] = std::from_chars(Word.data() + Slash + 1, Last, Out.Class);
    Fits &= Error == std::errc() && Stop == Last && Out.Class != 0;
  }
  if (!Fits)
    fail(Word, Expected);
}

void RecordReader::rest(const char *, std::vector<std::string> &Out) {
  while (More)
    Out.emplace_back(next("text"));
}

void RecordReader::end() {
  if (!More || Bad)
    return;
  std::string_view Word = next("");
  fail(Word, "none");
}
