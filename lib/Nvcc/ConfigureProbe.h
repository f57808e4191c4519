/// \file
/// Tells commands by which a configure step learns about the compiler from those of a build.
#pragma once

#include "Nvcc/CommandLine.h"

#include "llvm/ADT/StringRef.h"

namespace carve {

/// Whether a configure step of CMake, autoconf or Meson runs this command to learn about the
/// compiler; such a program is never run.
bool isConfigureProbe(const CommandLine &C, llvm::StringRef WorkDir);

} // namespace carve
