/// \file
/// Prints the record of a search as JSON and reads it back: for figures, for other programs, and
/// for the store.
#pragma once

#include "Spaces/ProgramSearch.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Returns \p Record in format 1: counts, tables, and one object for each configuration.
/// share/doc/formats.md lists the members.
std::string printSearchJson(const SearchRecord &Record);

/// Reads a record that printSearchJson() wrote. Fails with \p Name and what was expected.
llvm::Expected<SearchRecord> parseSearchJson(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
