/// \file
/// The record of a search as JSON: for figures and other programs, and what the store keeps.
#pragma once

#include "Spaces/ProgramSearch.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Format 1: counts, tables and one object for every configuration.
std::string printSearchJson(const SearchRecord &Record);

/// The record that printSearchJson() wrote. Fails naming \p Name and what was expected.
llvm::Expected<SearchRecord> parseSearchJson(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
