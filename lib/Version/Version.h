/// \file
/// Which carve-nvcc this is: what `--version` of the tools prints, and which toolkits it is for.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// The project's version, such as `0.1.0`.
extern const char ProjectVersion[];

/// The oldest and the newest release of CUDA that carve-nvcc was tested with
/// (share/doc/toolkits.md). Older ones are not supported. Newer ones may work.
inline constexpr char OldestToolkit[] = "13.0", NewestToolkit[] = "13.5";

/// What \p Program prints for `--version`: program and version; then the git commit if the sources
/// were a checkout, the LLVM that it was built with, and the toolkits, each in a line of its own.
std::string versionText(llvm::StringRef Program);

/// The same of a build of \p Commit, which may be empty.
std::string versionText(llvm::StringRef Program, llvm::StringRef Commit);

} // namespace carve
