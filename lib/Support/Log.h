/// \file
/// The log that `--carve-log` and `CARVE_LOG` name. It has one line for each decision and each
/// process that we run. Without them nothing is logged.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace carve {

/// Appends the log to \p Path from now on; `-` is standard error. Fails if the file cannot be
/// opened.
llvm::Error openLog(llvm::StringRef Path);
/// Returns true if a log is open. Call it before building a costly message.
bool logging();
/// Writes one line with the time and the process id to the log, if one is open.
void logLine(const llvm::Twine &Message);

} // namespace carve
