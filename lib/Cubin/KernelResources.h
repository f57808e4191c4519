/// \file
/// What one kernel of an image takes on the device, read from ptxas' report or from the cubin.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

struct KernelResources {
  std::string Name; ///< Mangled.
  unsigned RegsPerThread = 0;
  unsigned StaticSmemBytes = 0; ///< Per block, without what the system reserves.
  unsigned StackBytes = 0;      ///< Local memory per thread: frame with spills.
  unsigned SpillStoreBytes = 0; ///< The entry's own, without its callees. Per thread.
  unsigned SpillLoadBytes = 0;
  unsigned Barriers = 0;
  bool StackUnknown = false; ///< Recursion or indirect calls: ptxas cannot bound the stack.

  unsigned spillBytes() const { return SpillStoreBytes + SpillLoadBytes; }
};

/// Reads the report of `ptxas -v` (standard error), which may name several architectures' or
/// several kernels' blocks. Spills are keyed on the name in `Function properties for`, since
/// callees are printed after the entry. Lines that are no part of the report are passed over.
std::vector<KernelResources> parsePtxasReport(llvm::StringRef Text);

} // namespace carve
