/// \file
/// What a command that compiles nothing links: the record by which a link of relocatable device
/// code is told from a link that is the host linker's alone.
#pragma once

#include "Nvcc/CommandLine.h"

namespace carve {

/// `nvcc -dlink`, or a link to an executable or a shared library, from objects, archives and
/// sources of the host.
struct LinkLine {
  std::vector<std::string> Argv; ///< The user's own, without argv[0] and without `--carve-*`.
  std::string Output;            ///< As nvcc will write it, also where `-o` was left out.
  /// Objects and archives in which device code may be, as written or as `-l` finds them.
  std::vector<std::string> Files;
};

/// Reads \p Argv as a link. Fails with Unsupported and the reason to be counted where it is none,
/// or one that has to be left to nvcc.
llvm::Expected<LinkLine> parseLinkLine(llvm::ArrayRef<std::string> Argv,
                                       const NvccEnvironment &Env);

} // namespace carve
