/// \file
/// Collects changes to a text and makes them in one pass. PTX is edited in this way, so that the
/// offsets from its scan stay valid.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <utility>

namespace carve {

/// Changes to one text, by offsets in the original.
class TextEdits {
public:
  /// Puts \p New in place of the range [\p Begin, \p End), which must not overlap any other change.
  /// Several insertions at one place keep their order.
  void replace(size_t Begin, size_t End, std::string New) {
    Changes.emplace(Begin, std::pair(End, std::move(New)));
  }
  /// Inserts \p New at offset \p At.
  void insert(size_t At, std::string New) { replace(At, At, std::move(New)); }

  /// Returns \p Text with all changes made.
  std::string apply(llvm::StringRef Text) const {
    std::string Out;
    size_t At = 0;
    for (const auto &[Begin, Change] : Changes) {
      Out += Text.slice(At, Begin);
      Out += Change.second;
      At = Change.first;
    }
    Out += Text.drop_front(At);
    return Out;
  }

private:
  std::multimap<size_t, std::pair<size_t, std::string>> Changes;
};

} // namespace carve
