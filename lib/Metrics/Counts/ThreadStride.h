/// \file
/// Finds out how an address changes from one thread of a block to its neighbour in x, if the code
/// of a PTX function shows it. Coalescing depends on this stride.
#pragma once

#include "Ptx/PtxInstructions.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace carve {

/// A value as a linear function of the thread's position in the warp.
struct ThreadValue {
  int64_t Stride = 0;              ///< From threadIdx.x to threadIdx.x + 1.
  std::optional<int64_t> Constant; ///< The value, if it is a constant.
  /// It is a loop's variable of which only the added value is known.
  bool Recurs = false;
};

/// Computes the strides of addresses in one function.
class ThreadStrides {
public:
  /// \p ParametersUniform tells that parameters are the same for all threads, which is true for an
  /// entry and unknown for a function. \p ThreadsPerBlockX is the block's size in x.
  ThreadStrides(const PtxFunction &F, unsigned ThreadsPerBlockX, bool ParametersUniform);

  /// Returns the bytes from the address of one thread to that of its neighbour in x; 0 if all
  /// threads of a row use the same address. Returns nothing if the code does not show it.
  std::optional<int64_t> strideOf(const PtxOperand &Address);

private:
  using Value = std::optional<ThreadValue>;
  /// Returns the value of a register, a number, a special register or a variable's address. \p
  /// Depth is the length of the chain of definitions that led here.
  Value valueOf(llvm::StringRef Name, unsigned Depth);
  /// Returns the value that \p I gives its result.
  Value resultOf(const PtxInstruction &I, unsigned Depth);
  /// Returns the value of a register that any of \p Its may have set.
  Value merged(llvm::ArrayRef<const PtxInstruction *> Its, unsigned Depth);
  /// Returns the value of a special register; nothing if it is unknown.
  Value special(llvm::StringRef Name) const;

  unsigned ThreadsPerBlockX;
  bool ParametersUniform;
  llvm::StringMap<llvm::SmallVector<const PtxInstruction *, 2>> Definitions;
  llvm::StringMap<Value> Known;
  /// Registers whose value is being computed. A register that depends on itself is a loop's
  /// variable. It has the stride of its start value, if the added value is the same for all
  /// threads.
  llvm::StringMap<bool> Active;
  /// Values that depend on such a register are not cached, so this limits the number of steps.
  unsigned StepsLeft = 0;
};

} // namespace carve
