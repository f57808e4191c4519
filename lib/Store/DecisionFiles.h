/// \file
/// The decision files of the units in the store. Build systems list them in their depfiles, so that
/// when they are written, and with which date, decides what is rebuilt.
#pragma once

#include "Store/UnitStore.h"

namespace carve {

/// What becomes of a decision file's date when it is written.
enum class DecisionDate { New, Kept };

/// The decisions of the unit \p Key, as YAML; nothing if it has none.
llvm::Expected<std::optional<std::string>> readDecisions(const UnitStore &Store,
                                                         llvm::StringRef Key);
/// Writes the decision file where its content changes. DecisionDate::Kept is for what changes
/// nothing that a compile emits, and leaves its date, so that nothing is rebuilt.
llvm::Error writeDecisions(const UnitStore &Store, llvm::StringRef Key, llvm::StringRef Yaml,
                           DecisionDate Date = DecisionDate::New);
/// Absolute path of the decision file, which build systems see in depfiles. Made with no
/// decisions in it where it is not there, and dated long ago, so that no output is older.
llvm::Expected<std::string> decisionFile(const UnitStore &Store, llvm::StringRef Key);
/// Dates the decision file back: the output made just now holds what it says.
llvm::Error antedateDecisions(const UnitStore &Store, llvm::StringRef Key);
/// `decisions.digest`, absolute: changes whenever a decision does, for CCACHE_EXTRAFILES.
std::string decisionsDigestFile(const UnitStore &Store);

} // namespace carve
