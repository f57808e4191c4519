/// \file
/// Puts the frame information of a kernel of one image into another image, for ReplaceKernels.
/// Debuggers walk the stack by it (`.debug_frame`).
#pragma once

#include "Cubin/ElfLayout.h"

namespace carve {

/// Gives \p Made, the parts of \p Base, the blocks of frame information that \p Donor has for
/// \p Kernel and its local functions. Blocks behind one that becomes longer or shorter move. Other
/// kernels may have been replaced in \p Made before. Fails with Unsupported `other-attributes` if
/// there are more or fewer blocks or other relocations in them, and fails if the information does
/// not have the form in which ptxas writes it.
llvm::Error replaceFrames(const CubinElf &Base, const CubinElf &Donor, llvm::StringRef Kernel,
                          ElfLayout &Made);

} // namespace carve
