/// \file
/// Decides whether the words of a compile tell which files it reads. A kept object may replace a
/// compile only if the compile cannot have read anything else. So this file lists the options that
/// are known to read nothing; any other option may read a file.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace carve {

/// Returns the first word of \p HostCommand, a call of gcc or clang with argv[0], that may make it
/// read files that neither the preprocessed text nor the word's own table entry shows (`-specs=x`,
/// `-fplugin=x`, `@x`, `-Wa,x`), or that depends on this machine (`-march=native`). Returns an
/// empty text if every word is known.
std::string unknownHostRead(llvm::ArrayRef<std::string> HostCommand);

/// Does the same for \p Words, all words that nvcc reads. Words that nvcc passes to the host
/// compiler are not checked here.
std::string unknownNvccRead(llvm::ArrayRef<std::string> Words);

/// Returns true if inline assembly in \p Preprocessed may make the assembler read files
/// (`asm(".incbin \"x\"")`), or if the text of the assembly cannot be determined.
bool mayIncludeInAssembly(llvm::StringRef Preprocessed);

} // namespace carve
