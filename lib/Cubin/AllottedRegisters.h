/// \file
/// Makes a device image whose kernels take more registers per thread than their code needs. Fewer
/// blocks of them are then resident, as many as of the kernel that they are compared with.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace carve {

/// Returns \p Bytes, a cubin, with each kernel in \p Registers (its mangled name and a number)
/// taking at least that many registers per thread. The code does not change, but fewer blocks fit
/// on an SM. Fails if the bytes are not a cubin, or if a kernel is not in it.
llvm::Expected<std::string>
withRegistersAllotted(llvm::StringRef Bytes,
                      llvm::ArrayRef<std::pair<std::string, unsigned>> Registers);

} // namespace carve
