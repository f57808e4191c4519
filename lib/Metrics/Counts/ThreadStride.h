/// \file
/// How an address changes from one thread of a block to its neighbour in x, where the code of a PTX
/// function shows it: what coalescing depends on.
#pragma once

#include "Ptx/PtxInstructions.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace carve {

/// A value as a function of the place in the warp.
struct ThreadValue {
  int64_t Stride = 0;              ///< From threadIdx.x to threadIdx.x + 1.
  std::optional<int64_t> Constant; ///< Where it is one.
  /// It is a loop's variable of which only what is added to it is known.
  bool Recurs = false;
};

class ThreadStrides {
public:
  /// \p ParametersUniform: of an entry they are the same for all threads, of a function unknown.
  ThreadStrides(const PtxFunction &F, unsigned ThreadsPerBlockX, bool ParametersUniform);

  /// Bytes from the address of one thread to that of its neighbour in x: 0 where all of a row read
  /// the same. Nothing where it cannot be seen.
  std::optional<int64_t> strideOf(const PtxOperand &Address);

private:
  using Value = std::optional<ThreadValue>;
  Value valueOf(llvm::StringRef Name, unsigned Depth);
  Value resultOf(const PtxInstruction &I, unsigned Depth);
  Value merged(llvm::ArrayRef<const PtxInstruction *> Its, unsigned Depth);
  Value special(llvm::StringRef Name) const;

  const PtxFunction &F;
  unsigned ThreadsPerBlockX;
  bool ParametersUniform;
  llvm::StringMap<llvm::SmallVector<const PtxInstruction *, 2>> Definitions;
  llvm::StringMap<Value> Known;
  /// Registers whose value is being looked for. One that needs itself is a loop's variable: it has
  /// the stride of what it starts from, if what is added is the same for all threads.
  llvm::StringMap<bool> Active;
  /// Values that depend on such a register are looked for anew each time, which must end.
  unsigned StepsLeft = 0;
};

} // namespace carve
