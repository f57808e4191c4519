/// \file
/// Whether the words of a compile say which files it reads. An object that is kept may be taken for
/// what a compile would make only if nothing else can have been read; so options are listed here
/// that are known to read nothing, and every other one may.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace carve {

/// The first word of \p HostCommand, a call of gcc or clang with argv[0], that may have it read
/// files of which neither the preprocessed text nor the word's own table entry tells
/// (`-specs=x`, `-fplugin=x`, `@x`, `-Wa,x`) or that names this machine (`-march=native`); empty
/// where every word is known.
std::string unknownHostRead(llvm::ArrayRef<std::string> HostCommand);

/// The same of \p Words, all that nvcc reads. What nvcc hands to the host compiler is not looked at
/// here.
std::string unknownNvccRead(llvm::ArrayRef<std::string> Words);

/// Whether the assembler may read files because of inline assembly in \p Preprocessed
/// (`asm(".incbin \"x\"")`), or what it is told cannot be said.
bool mayIncludeInAssembly(llvm::StringRef Preprocessed);

} // namespace carve
