/// \file
/// The log that `--carve-log` and `CARVE_LOG` name: everything we decide and run, one line each.
/// Without a file nothing is written anywhere.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace carve {

/// Sends the log to \p Path, appending; `-` is standard error. Fails where it cannot be opened.
llvm::Error openLog(llvm::StringRef Path);
/// Whether anybody listens; ask before building a costly message.
bool logging();
void logLine(const llvm::Twine &Message);

} // namespace carve
