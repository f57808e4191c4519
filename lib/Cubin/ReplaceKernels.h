/// \file
/// Puts kernels of one device image into another image of the same module. ptxas takes some
/// settings for a whole run only, such as the level of optimization. A kernel that is to have
/// another one is assembled a second time, and its code is put into the image that has the others.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Returns \p Base, a cubin that ptxas has linked itself, with the code, constants, resources and
/// frame information that \p Donor has for \p Kernels. ptxas has made both of the same PTX; \p
/// Donor may lack other kernels. All else is as in \p Base, variables included: the kernels refer
/// to its variables. Fails with Unsupported if the kernels do not fit: `other-module` if the images
/// differ in variables, constants or other things of the module; `other-sections` if a kernel has
/// other kinds of sections, local functions or callees than in \p Base; `other-attributes` if ptxas
/// says other kinds of things about it; `line-information` and `mercury-code` if \p Base has
/// sections whose parts cannot be replaced (-lineinfo, and from sm_100 on). Fails also if an image
/// is malformed or lacks one of the kernels.
llvm::Expected<std::string> replaceKernels(llvm::StringRef Base, llvm::StringRef Donor,
                                           llvm::ArrayRef<std::string> Kernels);

} // namespace carve
