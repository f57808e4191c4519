/// \file
/// The decision files of the units in the store. Tuning writes them, and compiles read them. Build
/// systems find them in depfiles, so the time at which such a file is written, and the date it
/// gets, decide what is rebuilt.
#pragma once

#include "Store/UnitStore.h"

namespace carve {

/// Says what happens to the date of a decision file when the file is written.
enum class DecisionDate { New, Kept };

/// Returns the decisions of the unit \p Key as YAML, or nothing if the unit has none. Fails if \p
/// Key is not a file name or the file cannot be read.
llvm::Expected<std::optional<std::string>> readDecisions(const UnitStore &Store,
                                                         llvm::StringRef Key);
/// Writes the decision file of the unit \p Key if its content changes. DecisionDate::Kept is for
/// changes that do not affect what a compile emits: the file keeps its date, so that nothing is
/// rebuilt.
llvm::Error writeDecisions(const UnitStore &Store, llvm::StringRef Key, llvm::StringRef Yaml,
                           DecisionDate Date = DecisionDate::New);
/// Returns the absolute path of the decision file, which build systems see in depfiles. If the file
/// does not exist, it is created without decisions and with a date long ago, so that no output is
/// older. Fails if the store is refused or cannot be written.
llvm::Expected<std::string> decisionFile(const UnitStore &Store, llvm::StringRef Key);
/// Sets the date of the decision file back. A compile does this after it has made an output that
/// holds these decisions, so that the output is not older than the file.
llvm::Error antedateDecisions(const UnitStore &Store, llvm::StringRef Key);
/// Returns the absolute path of `decisions.digest`. Its content changes whenever a decision
/// changes. It is meant for CCACHE_EXTRAFILES.
std::string decisionsDigestFile(const UnitStore &Store);

} // namespace carve
