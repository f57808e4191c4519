/// \file
/// Holds the machine code of modified kernels (ModifiedKernel.h) against the kernel's own: ptxas
/// removes what it finds unused, merges what it finds equal, and unrolls as it likes, and then the
/// times would be those of something else.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// Instructions of a kernel's code at one depth of loops, each counted once. Accesses to local
/// memory are not told apart from spills, of which a modified version has others or none.
struct CodeMix {
  unsigned Loads = 0, Stores = 0; ///< Of global memory.
  unsigned Copies = 0;            ///< From global to shared memory.
  unsigned Floats = 0;            ///< Floating-point and tensor arithmetic.
  unsigned Others = 0;
  bool operator==(const CodeMix &) const = default;
};

/// By depth, 0 outside of loops. Fails as readMachineCode() does.
llvm::Expected<std::vector<CodeMix>> codeMix(llvm::StringRef CubinBytes, llvm::StringRef Kernel);

/// Why \p Modified is no memory-only version of what has \p Whole; empty: at every depth it has as
/// many loads, stores and copies.
std::string whyNotMemoryOnly(const std::vector<CodeMix> &Whole,
                             const std::vector<CodeMix> &Modified);
/// Why it is no arithmetic-only version; empty: it accesses no memory, and has about as much
/// floating-point arithmetic, in loops and outside.
std::string whyNotArithmeticOnly(const std::vector<CodeMix> &Whole,
                                 const std::vector<CodeMix> &Modified);

} // namespace carve
