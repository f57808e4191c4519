/// \file
/// Writes the C source that makes an object choose among a kernel's entries at each launch.
/// EntryDispatch.h compiles it and links it into the object.
#pragma once

#include "Search/EntryGuard.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// A further entry that the container of an object has.
struct DispatchedEntry {
  std::string Kernel, Name; ///< The kernel's mangled name, and the entry's.
  EntryGuard When;
  unsigned StaticSmemBytes = 0; ///< The most that the entry takes in any image.
};

/// The functions of the runtime, as crt/host_runtime.h calls them. Up to CUDA 12 a stub calls
/// cudaLaunchKernel, later ones ask for a handle first. `_ptsz` means a default stream per thread.
inline constexpr llvm::StringLiteral RegisterCall = "__cudaRegisterFunction";
inline constexpr llvm::StringLiteral HandleCall = "__cudaGetKernel";
inline constexpr llvm::StringLiteral HandleLaunches[] = {"__cudaLaunchKernel",
                                                         "__cudaLaunchKernel_ptsz"};
inline constexpr llvm::StringLiteral PointerLaunches[] = {"cudaLaunchKernel",
                                                          "cudaLaunchKernel_ptsz"};

/// Returns the name of the function that replaces \p Call in the object with the tag \p Tag.
std::string replacementOf(llvm::StringRef Call, llvm::StringRef Tag);

/// Returns the C source that chooses among \p Entries. Those of one kernel lie together, in the
/// order in which their guards are asked. \p Calls are the functions of the runtime that the object
/// calls and that the source replaces; \p Tag is unique to the object.
std::string dispatchSource(llvm::ArrayRef<DispatchedEntry> Entries,
                           llvm::ArrayRef<std::string> Calls, llvm::StringRef Tag);

} // namespace carve
