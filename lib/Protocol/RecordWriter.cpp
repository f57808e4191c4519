#include "Protocol/RecordWriter.h"

using namespace carve;

std::string carve::decimalText(double Value) {
  if (!(Value >= 0 && Value < MostFraction))
    Value = 0;
  constexpr uint64_t Millions = 1'000'000;
  auto Whole = uint64_t(Value);
  // The value is not negative, and the functions that round need libm.
  // NOLINTNEXTLINE(bugprone-incorrect-roundings)
  auto Rest = uint64_t((Value - double(Whole)) * double(Millions) + 0.5);
  Whole += Rest / Millions;
  Rest %= Millions;
  return std::to_string(Whole) + "." + std::to_string(Millions + Rest).substr(1);
}

std::string carve::fractionText(double Value) {
  std::string Text = decimalText(Value);
  Text.erase(Text.find_last_not_of('0') + 1);
  if (Text.back() == '.')
    Text.pop_back();
  return Text;
}

std::string carve::oneLine(std::string_view Text) {
  std::string Line;
  for (char C : Text)
    Line += static_cast<unsigned char>(C) < ' ' || C == 127 ? ' ' : C;
  return Line;
}

void RecordWriter::text(const char *, std::string_view Value) {
  Line += '\t';
  Line += oneLine(Value);
}

void RecordWriter::shape(const LaunchShape &Shape) {
  triple("grid", Shape.Grid);
  triple("block", Shape.Block);
  number("dynamic shared memory", Shape.DynamicSmemBytes);
  text("cluster", extentsText(Shape.Cluster, ",") +
                      (Shape.Class ? "/" + std::to_string(Shape.Class) : std::string()));
}

void RecordWriter::rest(const char *Field, const std::vector<std::string> &Values) {
  for (const std::string &Value : Values)
    text(Field, Value);
}
