/// \file
/// A device ELF image: its kernels with their resources and code.
#pragma once

#include "Cubin/KernelResources.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace carve {

struct CubinKernel {
  KernelResources
      Resources;          ///< Registers, shared memory, stack, barriers; spills are not in a cubin.
  std::string CodeDigest; ///< Of the bytes of `.text.<name>` and of its relocations by symbol name.
  uint64_t CodeBytes = 0;
};

struct Cubin {
  unsigned SmVersion = 0;   ///< 90 for sm_90; an `a` or `f` suffix is not in the ELF.
  bool Relocatable = false; ///< ET_REL: made by `ptxas -c` and to be linked by nvlink.
  std::vector<CubinKernel> Kernels;
};

/// Reads a cubin. Fails where \p Bytes is no CUDA ELF or is cut short.
llvm::Expected<Cubin> parseCubin(llvm::StringRef Bytes);

} // namespace carve
