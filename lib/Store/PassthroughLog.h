/// \file
/// The store's count of commands that were handed to nvcc untouched, by reason: a log that any
/// number of processes append to without a lock.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace carve {

/// Adds one to \p Reason's count in the store at \p Root, by one appending write; compacts the log
/// when it has outgrown 1 MB. Fails where the store cannot be written.
llvm::Error appendPassthrough(llvm::StringRef Root, llvm::StringRef Reason);

/// The counts by reason; lines that are none are passed over.
std::map<std::string, uint64_t> readPassthroughs(llvm::StringRef Root);

/// The files that hold the counts: the log, and what a compaction left that was interrupted.
std::vector<std::string> passthroughFiles(llvm::StringRef Root);

} // namespace carve
