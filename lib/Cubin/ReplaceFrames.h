/// \file
/// Puts the frame information of a kernel of one image into another image, for ReplaceKernels.
/// Debuggers walk the stack by it (`.debug_frame`).
#pragma once

#include "Cubin/ElfLayout.h"

namespace carve {

/// Gives \p Made, the parts of \p Base, the blocks of frame information that \p Donor has for
/// \p Kernel and its local functions. A block keeps its size: it ends in as many operations that do
/// nothing as fit. Fails with Unsupported `other-attributes` if a block does not fit, or if there
/// are more or fewer, and fails if the information does not have the form in which ptxas writes it.
llvm::Error replaceFrames(const CubinElf &Base, const CubinElf &Donor, llvm::StringRef Kernel,
                          ElfLayout &Made);

} // namespace carve
