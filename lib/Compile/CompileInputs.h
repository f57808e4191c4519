/// \file
/// Which files a compile has read, tools included, and where it has looked for headers in vain: the
/// part of a StoredCompile that says when it may be used again.
#pragma once

#include "Nvcc/KeptCompile.h"
#include "Store/InputFiles.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// The Unsupported by which a compile is not made from the store.
llvm::Error notStored(const llvm::Twine &Why);

/// The source as it was before nvcc read it.
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
  int64_t StartedNs; ///< When nvcc started, since 1970.
};

/// The stamps of everything that \p Compile read. Fails with Unsupported `not-stored` where that
/// cannot be said for certain: a word of the command, the assembler or a header may have had
/// another file read, or a file changed meanwhile.
llvm::Expected<std::vector<InputFile>> inputsOf(const FinishedCompile &Compile);

} // namespace carve
