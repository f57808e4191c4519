/// \file
/// Checks the options of one of nvcc's steps before a record hands them to a tool. Anybody may have
/// written the record. So it may name no program, and no file that the tool would read, load or
/// write; the only exceptions are the files of the step itself, in their places.
#pragma once

#include "Nvcc/FrontEndStep.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstddef>
#include <optional>
#include <string>

namespace carve {

/// Returns true if \p Name is one component of a path, i.e. a file in a directory, and not an
/// option.
bool isFileName(llvm::StringRef Name);

/// Returns true if \p Arch is an architecture of a GPU as ptxas names it: `sm_90`, `sm_90a`,
/// `sm_120f`.
bool isGpuArchitecture(llvm::StringRef Arch);

/// Each of the following returns the index of the first word that its table lacks, or nothing. An
/// option that the user adds (-Xptxas, -Xcicc, -Xfatbin, -Xnvlink) and that the table lacks still
/// reaches the tool in the compile itself. Only work that would be repeated from the record is
/// refused.
///
/// For ptxas, without input and output.
std::optional<size_t> refusedPtxasOption(llvm::ArrayRef<std::string> Words);
/// For fatbinary. Images and the container must lie in \p KeepDir.
std::optional<size_t> refusedFatbinaryOption(llvm::ArrayRef<std::string> Words,
                                             llvm::StringRef KeepDir);
/// For nvlink, without inputs and output.
std::optional<size_t> refusedNvlinkOption(llvm::ArrayRef<std::string> Words);
/// For cicc: the arguments of \p Step, whose files must lie in its directory.
std::optional<size_t> refusedFrontEndArgument(const FrontEndStep &Step);

} // namespace carve
