/// \file
/// Reads a device image (an ELF file): its kernels with their resources and code.
#pragma once

#include "Cubin/KernelResources.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <utility>
#include <vector>

namespace carve {

/// One kernel of an image.
struct CubinKernel {
  KernelResources Resources; ///< Without spills, which a cubin does not tell.
  /// The digest of the kernel's machine code (CodeDigest.h).
  std::string CodeDigest;
  uint64_t CodeBytes = 0;
};

/// A device image.
struct Cubin {
  unsigned SmVersion = 0;   ///< 90 for sm_90; the ELF file does not tell an `a` or `f` suffix.
  bool Relocatable = false; ///< ET_REL: `ptxas -c` made it, and nvlink has to link it.
  std::vector<CubinKernel> Kernels;
};

/// Reads a cubin. Fails if \p Bytes is not a CUDA ELF file or is truncated.
llvm::Expected<Cubin> parseCubin(llvm::StringRef Bytes);

} // namespace carve
