/// \file
/// Reads records (ProtocolKind.h) strictly, for the tools and for the probe. It uses only the C++
/// library, as everything that the probe links must.
#pragma once

#include "Protocol/LaunchShape.h"
#include "Protocol/ProtocolKind.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace carve {

/// Visits the fields of a record and reads each from its line. It remembers the first field that is
/// missing or malformed; everything that is read after it is meaningless.
class RecordReader {
public:
  explicit RecordReader(std::string_view Line);

  /// Returns the word of the record's kind.
  std::string_view kind() const { return Kind; }

  /// Reads any text, also an empty one.
  void text(const char *Field, std::string &Out);
  /// Reads a text that is not empty.
  void name(const char *Field, std::string &Out);
  /// Reads a whole number within the range of \p T, or a number below MostFraction if \p T is
  /// double. It may not be negative.
  template <class T> void number(const char *, T &Out) {
    std::string_view Word = next("a number");
    if (Bad)
      return;
    auto [Stop, Error] = std::from_chars(Word.begin(), Word.end(), Out);
    bool Fits = Error == std::errc() && Stop == Word.end() && Word.front() != '-';
    // The comparison refuses infinity and NaN, too.
    if constexpr (std::is_floating_point_v<T>)
      Fits = Fits && Out >= 0 && Out < MostFraction;
    if (!Fits)
      fail(Word, "a number");
  }
  void decimal(const char *Field, double &Out) { number(Field, Out); }
  void flag(const char *, bool &Out) { eitherOf(Out, "0", "1", "0 or 1"); }
  void either(const char *, bool &Out, std::string_view No, std::string_view Yes) {
    eitherOf(Out, No, Yes, std::string(No) + "|" + std::string(Yes));
  }
  template <class E> void word(const char *, E &Out) {
    Out = static_cast<E>(oneOf(RecordWords<E>::All, std::size(RecordWords<E>::All)));
  }
  void triple(const char *Field, std::array<uint32_t, 3> &Out);
  void shape(LaunchShape &Out);
  /// Reads all remaining fields.
  void rest(const char *Field, std::vector<std::string> &Out);

  /// Called after the last field. More fields are an error.
  void end();

  /// Returns what is wrong with the line, for example `field 2 is 'x', expected a number`, or
  /// nothing.
  const std::optional<std::string> &bad() const { return Bad; }

private:
  std::string_view next(std::string_view Expected);
  void fail(std::string_view Actual, std::string_view Expected);
  void eitherOf(bool &Out, std::string_view No, std::string_view Yes, std::string_view Expected);
  size_t oneOf(const std::string_view *Known, size_t Count);

  std::string_view Kind, Rest;
  bool More = false; ///< Whether Rest has another field.
  size_t At = 0;
  std::optional<std::string> Bad;
};

/// Reads \p In as a record of kind \p T. Errors are in \p In.
template <class T> T readRecord(RecordReader &In) {
  T Record{};
  T::fields(Record, In);
  In.end();
  return Record;
}

/// Returns whether \p In is a record of kind \p T. If it also has no error, it is passed to \p Use.
template <class T, class F> bool takeRecord(RecordReader &In, F Use) {
  if (In.kind() != T::Kind.Word)
    return false;
  T Record = readRecord<T>(In);
  if (!In.bad())
    Use(std::move(Record));
  return true;
}

} // namespace carve
