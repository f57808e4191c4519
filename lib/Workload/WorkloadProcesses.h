/// \file
/// The processes of a workload, wherever a launcher or a daemon has put them: they are known by the
/// environment that the run gave to them.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <sys/types.h>
#include <vector>

namespace carve {

/// Whether the environment of process \p Pid holds \p Entry: `NAME=value`, or `NAME=` for any
/// value. False where the process is gone, or is another user's.
bool hasEnvironment(pid_t Pid, llvm::StringRef Entry);

/// The processes whose environment holds \p Entry.
std::vector<pid_t> processesWith(llvm::StringRef Entry);

/// Ends them: by SIGTERM, and by SIGKILL whoever is still there after \p GraceS seconds. Process
/// groups and sessions of their own do not hide them.
void endProcessesWith(llvm::StringRef Entry, double GraceS);

} // namespace carve
