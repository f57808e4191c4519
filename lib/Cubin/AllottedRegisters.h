/// \file
/// A device image whose kernels take more registers of a thread than their code needs: so that
/// fewer blocks of them are resident, as of the kernel that they are compared with.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>

namespace carve {

/// \p Bytes with the kernels in \p Registers, by name, taking at least so many registers of a
/// thread: nothing of their code changes, but fewer of them fit into a multiprocessor. Fails where
/// one is not there.
llvm::Expected<std::string>
withRegistersAllotted(llvm::StringRef Bytes,
                      llvm::ArrayRef<std::pair<std::string, unsigned>> Registers);

} // namespace carve
