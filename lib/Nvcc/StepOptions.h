/// \file
/// The options of nvcc's steps that a record may hand on to a tool. A record is data that anybody
/// may have written: it never names a program, nor a file that a tool reads, loads or writes, but
/// those of the step itself in their places.
#pragma once

#include "Nvcc/FrontEndStep.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <optional>
#include <string>

namespace carve {

/// Whether \p Name is one component of a path: a file within a directory, and no option either.
bool isFileName(llvm::StringRef Name);

/// Whether \p Arch is an architecture of a GPU as ptxas names it: `sm_90`, `sm_90a`, `sm_120f`.
bool isGpuArchitecture(llvm::StringRef Arch);

/// Each returns the index of the first word that the table does not have, or nothing. What a
/// user adds (-Xptxas, -Xcicc, -Xfatbin, -Xnvlink) and the table lacks still reaches the tool in
/// the compile itself, and only what would be done again from the record is not.
///
/// Of ptxas, without input and output.
std::optional<size_t> refusedPtxasOption(llvm::ArrayRef<std::string> Words);
/// Of fatbinary; images and the container lie in \p KeepDir.
std::optional<size_t> refusedFatbinaryOption(llvm::ArrayRef<std::string> Words,
                                             llvm::StringRef KeepDir);
/// Of nvlink, without inputs and output.
std::optional<size_t> refusedNvlinkOption(llvm::ArrayRef<std::string> Words);
/// Of cicc: the arguments of \p Step, whose files lie in its directory.
std::optional<size_t> refusedFrontEndArgument(const FrontEndStep &Step);

} // namespace carve
