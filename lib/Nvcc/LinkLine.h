/// \file
/// Reads a command that compiles nothing as a link. The record shows whether a command may link
/// relocatable device code or concerns only the host linker.
#pragma once

#include "Nvcc/CommandLine.h"

namespace carve {

/// `nvcc -dlink`, or a link to an executable or a shared library, from objects, archives and host
/// sources.
struct LinkLine {
  std::vector<std::string> Argv; ///< The user's own, without argv[0] and without `--carve-*`.
  std::string Output;            ///< The path that nvcc will write, even if `-o` was left out.
  /// Objects and archives that may contain device code, as written or as `-l` finds them.
  std::vector<std::string> Files;
};

/// Reads \p Argv as a link. Fails with Unsupported and the reason to count if it is not a link, or
/// one that must be left to nvcc.
llvm::Expected<LinkLine> parseLinkLine(llvm::ArrayRef<std::string> Argv,
                                       const NvccEnvironment &Env);

} // namespace carve
