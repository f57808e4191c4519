/// \file
/// Makes captured launches a workload, for commands that take `--from CAPTURE...` in place of a
/// program.
#pragma once

#include "Command/CommandContext.h"
#include "Store/UnitStore.h"

namespace carve {

/// Sets \p Argv to the workload that launches the captures \p Files and \p More. Each capture is
/// launched several times, so that variants can be rotated through the launches if a kernel cannot
/// be replayed. Fails with UsageError that names \p Command if \p Argv is a command already.
llvm::Error launchCaptures(llvm::StringRef Command, llvm::ArrayRef<std::string> Files,
                           llvm::ArrayRef<std::string> More, std::vector<std::string> &Argv);

/// Puts the units of the captures that \p Argv launches into \p Store, and the full path of
/// carve-launch into \p Argv. Fails if a capture cannot be read or the store cannot be written.
llvm::Error openCaptures(const CommandContext &Context, std::vector<std::string> &Argv,
                         UnitStore &Store);

} // namespace carve
