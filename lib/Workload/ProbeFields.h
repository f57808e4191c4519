/// \file
/// The fields of one line of a probe's record, read in order and strictly. Shared by the readers of
/// traces (ProbeRecords) and of timing runs (InRunRecords).
#pragma once

#include "Device/LaunchShape.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <type_traits>

namespace carve {

/// Remembers the first field that is absent or does not fit; what is read behind it means nothing.
class ProbeFields {
public:
  explicit ProbeFields(llvm::StringRef Line) { Line.split(Words, '\t'); }

  llvm::StringRef tag() const { return Words.front(); }
  /// Any text, the empty one too.
  std::string text() { return next("text").str(); }
  /// A text that is not empty.
  std::string name();
  /// A whole number within the range of \p T, or for floating T one that is finite; never negative.
  template <typename T> void number(T &Out) {
    llvm::StringRef Word = next("a number");
    if (Bad)
      return;
    if constexpr (std::is_floating_point_v<T>) {
      if (!finite(Word, Out))
        fail(Word, "a number");
    } else if (Word.getAsInteger(10, Out)) {
      fail(Word, "a number");
    }
  }
  void flag(bool &Out);                                    ///< `0` or `1`.
  void triple(std::array<unsigned, 3> &Out);               ///< `1,2,3`
  size_t oneOf(llvm::ArrayRef<llvm::StringLiteral> Words); ///< The index of the word.
  /// Grid, block, dynamic shared memory, cluster: the SHAPE of Protocol.h.
  void shape(LaunchShape &Out);

  /// Whether all fields have been read: what follows is of a newer probe.
  bool done() const { return At + 1 >= Words.size(); }

  /// Call behind the last field: there must not be more.
  void end();

  /// What is wrong with the line, `field 2 is 'x', expected a number`, or nothing.
  const std::optional<std::string> &bad() const { return Bad; }

private:
  llvm::StringRef next(llvm::StringRef Expected);
  void fail(llvm::StringRef Actual, llvm::StringRef Expected);
  static bool finite(llvm::StringRef Word, double &Out);

  llvm::SmallVector<llvm::StringRef, 20> Words;
  size_t At = 0;
  std::optional<std::string> Bad;
};

/// The shortest text that reads back the same.
std::string printNumber(double Value);

} // namespace carve
