/// \file
/// The store's count, by reason, of the commands that were handed to nvcc unchanged. It is a log to
/// which any number of processes append without a lock.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace carve {

/// Adds one to the count of \p Reason in the store at \p Root, by one appending write. Compacts the
/// log if it is longer than 1 MB. Fails if the store cannot be written.
llvm::Error appendPassthrough(llvm::StringRef Root, llvm::StringRef Reason);

/// Returns the counts by reason. It ignores lines of another form.
std::map<std::string, uint64_t> readPassthroughs(llvm::StringRef Root);

/// Returns the files that hold the counts: the log, and the files that an interrupted compaction
/// left.
std::vector<std::string> passthroughFiles(llvm::StringRef Root);

} // namespace carve
