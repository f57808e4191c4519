/// \file
/// Makes a workload of captured launches, for tunings without the program (`carve tune --from`,
/// `carve fleet`).
#pragma once

#include "Store/UnitStore.h"

namespace carve {

/// Makes sure that the words of \p Command name captures or a command, and not both. With captures,
/// the words without an option, \p Words, are further captures. Fails with UsageError.
llvm::Error readWorkloadWords(llvm::StringRef Command, std::vector<std::string> &Captures,
                              std::vector<std::string> Words, llvm::ArrayRef<std::string> Argv);

/// Puts the units of the captures \p Files into \p Store, and sets \p Argv to the command by which
/// \p Launch, the path of carve-launch, launches them. Each capture is launched several times, so
/// that variants can be rotated through the launches if a kernel cannot be replayed. Fails if a
/// capture cannot be read.
llvm::Error launchCaptures(llvm::ArrayRef<std::string> Files, const std::string &Launch,
                           UnitStore &Store, std::vector<std::string> &Argv);

} // namespace carve
