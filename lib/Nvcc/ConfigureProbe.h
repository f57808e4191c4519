/// \file
/// Distinguishes commands by which a configure step examines the compiler from the commands of a
/// build. The driver runs no program that a configure step makes.
#pragma once

#include "Nvcc/CommandLine.h"

#include "llvm/ADT/StringRef.h"

namespace carve {

/// Returns true if a configure step of CMake, autoconf or Meson runs this command in \p WorkDir to
/// examine the compiler.
bool isConfigureProbe(const CommandLine &C, llvm::StringRef WorkDir);

} // namespace carve
