/// \file
/// Finds the words of a kernel's parameters that are the addresses by which the kernel accesses
/// global memory, or the reason why these are not all that it accesses. The compiler may take
/// pointer parameters of a kernel for `__restrict__` only for launches in which those words lead
/// into allocations that are all different.
///
/// `__restrict__` promises the compiler that what it reaches by one parameter and changes is not
/// reached by anything else. The guard before a launch can keep this promise only for accesses by
/// an address that one word of a parameter gives: it compares these words with the allocations of
/// the program. So every access must have exactly one such word, and nobody else may change what
/// the kernel reads while it runs. The rules read the PTX that nvcc has written of the program's
/// own text, because that does exactly what the program says.
///
/// **Addresses.** A register may hold a sum with one word of a parameter. Everything else in the
/// sum is a distance inside of the allocation, as in C++. A word of a parameter may be a distance,
/// too, such as a pitch: this is what a word is from which something was multiplied, shifted or
/// converted. Then no access may be by an address in that word, or the distance could lead from one
/// allocation into another. An address that may come from memory or that is put together of parts
/// has no word that the guard could look at. One that comes from different words on different ways
/// could be either of them, and the compiler would know only of one. An access to a variable of the
/// module or of the block needs no word, because the guard accepts only allocations, and a variable
/// is in none.
///
/// **Other kernels and the host.** With `__restrict__`, what a kernel only reads may be read once,
/// early or late, and by a cache that is not kept up to date. A kernel may not notice that somebody
/// else changes memory if it does not order its accesses. So `fence` and `membar`, accesses that
/// are volatile, acquire, release or of the scope `.sys`, `griddepcontrol`, loops that wait, and
/// what may be a lock (`atom.cas`, `atom.exch`) are reasons against it. Relaxed atomic operations
/// alone order nothing.
///
/// **Other threads of the block.** A barrier orders the accesses of a block, and threads may hand
/// each other values through global memory. The compiler believes that a barrier does not change
/// what only a `__restrict__` pointer reaches, and moves accesses across it, a write after a write,
/// too: cicc 13.0 does (share/doc/decisions.md). So if a word has accesses from which the control
/// flow leads to a barrier, and accesses to which it leads from a barrier, then all of them must be
/// reads, or the parameter must not be `__restrict__`, while others may be. An update in place
/// after the last barrier or before the first one is no harm. Whether one thread can pass both
/// accesses and the barrier does not matter, because a thread that waits at one barrier may meet
/// another thread at another one. If the control flow cannot be followed, then every access counts
/// as one before and after each barrier. A warp's exchange of registers (`shfl`, `vote`, `match`,
/// `redux`) hands on no memory.
///
/// **What is not followed.** Calls, because the callee may do anything of the above. Textures,
/// surfaces, asynchronous copies, `multimem`, and the shared memory of other blocks, because they
/// access memory at another time or by something other than an address. Instructions that are not
/// known and have an address.
#pragma once

#include "Nvcc/Text/KnownLaunch.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace carve {

/// An address by which a kernel reads or writes global memory.
struct PointerSource {
  PointerPlace Place;
  /// Whether the parameter may be `__restrict__`: its accesses have no barrier between them, or are
  /// all reads.
  bool MayBeRestrict = true;

  bool operator==(const PointerSource &) const = default;
};

/// Returns the addresses by which the entry \p Name with the text \p Definition, from
/// its linkage to its closing brace, reads and writes global memory, by rising place. The list may
/// be empty or have one element. Fails if the text cannot be read, and with Unsupported if a rule
/// above is broken. The reason is `pointer-sources` if an access has no single word, else one of
/// `memory-fence`, `ordered-access`, `lock`, `waits`, `spin-loop`, `programmatic-launch`,
/// `calls-function`, `surface-access`, `texture-access`, `asynchronous-copy`,
/// `cluster-memory`, `multimem`, `cache-control`, `stack-allocation` and `unknown-access`.
llvm::Expected<std::vector<PointerSource>> pointerSources(llvm::StringRef Definition,
                                                          llvm::StringRef Name);

/// Returns the parameters of \p Sources that may be `__restrict__` pointers, ascending: those that
/// are addresses themselves.
std::vector<unsigned> restrictParameters(llvm::ArrayRef<PointerSource> Sources);

} // namespace carve
