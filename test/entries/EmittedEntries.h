/// \file
/// Finds which further entries of a random program (EntryPrograms.h) an object or a program has. An
/// entry may be left out for many reasons that the generator does not know.
#pragma once

#include "EntryPrograms.h"

#include "Emit/EntryDispatch.h"

#include "llvm/ADT/StringRef.h"

#include <set>
#include <string>
#include <vector>

namespace carve::test {

/// Which entries an object has, by kernel and entry.
using EmittedEntries = std::vector<std::vector<bool>>;

/// Returns the mangled names of further entries that \p Content has as whole words.
std::set<std::string> entryNames(llvm::StringRef Content);

/// Returns whether \p Name is that of the entry \p Index of \p K.
bool isEntry(llvm::StringRef Name, const RandomKernel &K, size_t Index);

/// Returns which entries of \p P are among \p Names.
EmittedEntries emittedEntries(const RandomProgram &P, const std::set<std::string> &Names);

/// Returns the entries of \p P among \p Names as code that chooses among them is made of them.
std::vector<DispatchedEntry> dispatchedEntries(const RandomProgram &P,
                                               const std::set<std::string> &Names);

} // namespace carve::test
