/// \file
/// Compares the machine code of modified kernels (ModifiedKernel.h) with the kernel's own. ptxas
/// removes what it finds unused, merges what it finds equal, and unrolls as it likes; the times
/// would then be those of another kernel. ModifiedModule drops versions that fail the comparison.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// The instructions of a kernel's code at one depth of loops, each counted once. Accesses to local
/// memory are not counted here: they cannot be told from spills, and a modified version has other
/// spills or none.
struct CodeMix {
  unsigned Loads = 0, Stores = 0; ///< Accesses to global memory.
  unsigned Copies = 0;            ///< Copies from global to shared memory.
  unsigned Floats = 0;            ///< Floating-point and tensor arithmetic.
  unsigned Others = 0;
  bool operator==(const CodeMix &) const = default;
};

/// Counts the instructions of \p Kernel by depth of loops; index 0 is the code outside of loops.
/// Fails as readMachineCode() does.
llvm::Expected<std::vector<CodeMix>> codeMix(llvm::StringRef CubinBytes, llvm::StringRef Kernel);

/// Returns why \p Modified is not the memory-only version of a kernel with the code \p Whole.
/// Returns an empty text if it has as many loads, stores and copies at every depth.
std::string whyNotMemoryOnly(const std::vector<CodeMix> &Whole,
                             const std::vector<CodeMix> &Modified);
/// Returns why \p Modified is not the arithmetic-only version. Returns an empty text if it accesses
/// no global memory and has about as much floating-point arithmetic, both in loops and outside.
std::string whyNotArithmeticOnly(const std::vector<CodeMix> &Whole,
                                 const std::vector<CodeMix> &Modified);

} // namespace carve
