/// \file
/// Finds and ends the processes of a workload, even if a launcher or a daemon has moved them to
/// other groups or sessions. They are recognised by the environment that runWorkload() gave to
/// them.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <sys/types.h>
#include <vector>

namespace carve {

/// Whether the environment of process \p Pid has \p Entry: `NAME=value`, or `NAME=` for any value.
/// Returns false if the process is gone or belongs to another user.
bool hasEnvironment(pid_t Pid, llvm::StringRef Entry);

/// The pids of the processes whose environment has \p Entry.
std::vector<pid_t> processesWith(llvm::StringRef Entry);

/// Ends the processes whose environment has \p Entry, in whatever process group or session they
/// are. Sends SIGTERM to all, and SIGKILL to those that still run after \p GraceS seconds.
void endProcessesWith(llvm::StringRef Entry, double GraceS);

} // namespace carve
