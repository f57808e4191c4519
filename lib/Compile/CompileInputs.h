/// \file
/// Finds the files that a compile has read, including tools, and the places where it has looked for
/// headers in vain. StoredCompile keeps them to decide when its result may be used again.
#pragma once

#include "Nvcc/KeptCompile.h"
#include "Store/InputFiles.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// Returns the Unsupported error `not-stored`, by which a compile is not made from the store.
llvm::Error notStored(const llvm::Twine &Why);

/// The state of the source before nvcc read it.
struct SourceStamp {
  InputFile File;
  std::string Digest;
};

/// A compile that has just ended.
struct FinishedCompile {
  const KeptCompile &Kept;
  const Toolchain &T;
  const SourceStamp &Source;
  std::string WorkDir, KeepDir;
  int64_t StartedNs; ///< The time at which nvcc started, in ns since 1970.
};

/// Returns the stamps of everything that \p Compile read. Fails with Unsupported `not-stored` if
/// that is not certain: a word of the command, the assembler or a header may have made it read
/// another file, or a file changed meanwhile.
llvm::Expected<std::vector<InputFile>> inputsOf(const FinishedCompile &Compile);

} // namespace carve
