/// \file
/// Changes to a text that are gathered first and made in one pass: how PTX is edited without moving
/// the offsets that its scan gave.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>
#include <utility>

namespace carve {

class TextEdits {
public:
  /// Puts \p New in place of [\p Begin, \p End), which overlaps no other change. Insertions at one
  /// place keep their order.
  void replace(size_t Begin, size_t End, std::string New) {
    Changes.emplace(Begin, std::pair(End, std::move(New)));
  }
  void insert(size_t At, std::string New) { replace(At, At, std::move(New)); }

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
