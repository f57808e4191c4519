/// \file
/// Adds kernels of other device images to an image of the same module. Variants of kernels are
/// assembled by themselves, to learn what they are like. To be timed they have to be in one image
/// with the variables of their module, and this saves assembling them once more for it.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// A kernel that is added to an image.
struct JoinedKernel {
  llvm::StringRef Image; ///< The cubin that has it.
  std::string Kernel;    ///< Its name there.
  std::string Name;      ///< Its name in the image that is made.
};

/// Returns \p Base, a cubin that ptxas has linked itself, with \p Added: their code, constants,
/// resources, local functions and calls. They refer to the variables of \p Base. ptxas has made all
/// images of the same PTX but for the kernels in it. What debuggers need to walk the stack
/// (`.debug_frame`) is not added. Fails with Unsupported `elf-layout` if \p Base is not laid out as
/// ptxas does it for sm_90, and as SymbolPlaces::ofModule() does. Fails also if an image is
/// malformed or lacks its kernel, or if two kernels would have one name.
llvm::Expected<std::string> joinKernels(llvm::StringRef Base, llvm::ArrayRef<JoinedKernel> Added);

} // namespace carve
