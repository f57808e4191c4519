/// \file
/// The command `carve points`.
#pragma once

#include "Nvcc/Toolchain.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

namespace carve {

/// Runs `carve points` with \p Args, the words behind `points`, and prints what it finds to \p OS.
/// Nothing is printed where it fails; a wrong word is a UsageError.
llvm::Error runPoints(llvm::ArrayRef<std::string> Args, const Toolchain &T, CommandRunner &Runner,
                      llvm::StringRef DevicesDir, llvm::raw_ostream &OS);

} // namespace carve
