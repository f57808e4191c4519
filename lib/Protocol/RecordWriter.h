/// \file
/// Writes records (ProtocolKind.h), for the tools and for the probe. It uses only the C++ library,
/// as everything that the probe links must.
#pragma once

#include "Protocol/LaunchShape.h"
#include "Protocol/ProtocolKind.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace carve {

/// Returns \p Value with six decimals. It must be at least 0 and below MostFraction. The text does
/// not depend on the locale, and the function needs no libm, which the probe does without.
std::string decimalText(double Value);
/// Returns the same text without zeros at its end.
std::string fractionText(double Value);

/// Returns \p Text with spaces instead of control characters, because a path or a device name may
/// contain any character.
std::string oneLine(std::string_view Text);

/// Visits the fields of a record and adds each to its line.
class RecordWriter {
public:
  explicit RecordWriter(std::string_view Word) : Line(Word) {}

  void text(const char *Field, std::string_view Value);
  void name(const char *Field, std::string_view Value) { text(Field, Value); }
  template <class T> void number(const char *Field, T Value) {
    if constexpr (std::is_floating_point_v<T>)
      text(Field, fractionText(Value));
    else
      text(Field, std::to_string(Value));
  }
  /// Writes a number with six decimals, even if they are all 0.
  void decimal(const char *Field, double Value) { text(Field, decimalText(Value)); }
  void flag(const char *Field, bool Value) { text(Field, Value ? "1" : "0"); }
  void either(const char *Field, bool Value, std::string_view No, std::string_view Yes) {
    text(Field, Value ? Yes : No);
  }
  template <class E> void word(const char *Field, E Value) { text(Field, wordOf(Value)); }
  void triple(const char *Field, const std::array<uint32_t, 3> &Value) {
    text(Field, extentsText(Value, ","));
  }
  /// Writes grid, block, dynamic shared memory, and cluster with the class, which the documentation
  /// calls SHAPE.
  void shape(const LaunchShape &Shape);
  void rest(const char *Field, const std::vector<std::string> &Values);

  /// Returns the line with its newline.
  std::string line() && { return std::move(Line) + "\n"; }

private:
  std::string Line;
};

/// Returns \p Record as a line with its newline.
template <class T> std::string recordLine(const T &Record) {
  RecordWriter Writer(T::Kind.Word);
  T::fields(Record, Writer);
  return std::move(Writer).line();
}

} // namespace carve
