/// \file
/// Describes what one kernel of an image takes on the device. It is read from the report of ptxas
/// or from the cubin.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// The resources of one kernel, as compiled for one architecture.
struct KernelResources {
  std::string Name; ///< The mangled name.
  unsigned RegsPerThread = 0;
  unsigned StaticSmemBytes = 0; ///< Per block, without what the system reserves.
  unsigned StackBytes = 0;      ///< Local memory per thread: the frame including spills.
  unsigned SpillStoreBytes = 0; ///< Per thread, of the entry itself without its callees.
  unsigned SpillLoadBytes = 0;
  unsigned Barriers = 0;
  /// The kernel has recursion or indirect calls, so ptxas cannot bound the stack.
  bool StackUnknown = false;

  /// Returns the bytes that a thread spills, stores and loads together.
  unsigned spillBytes() const { return SpillStoreBytes + SpillLoadBytes; }
};

/// Reads the report of `ptxas -v` (its standard error) into the resources of each kernel. The
/// report may have the blocks of several architectures and several kernels. Spills are assigned by
/// the name in `Function properties for`, because callees are printed after the entry. Lines that
/// do not belong to the report are skipped.
std::vector<KernelResources> parsePtxasReport(llvm::StringRef Text);

} // namespace carve
