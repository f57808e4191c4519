/// \file
/// The instructions of a PTX function with their operands, and the flow between them.
#pragma once

#include "Ptx/ControlFlow.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

struct PtxOperand {
  /// Registers, special registers (`%tid.x`), numbers with their sign, labels and names; several
  /// of `{%f1, %f2}` and of `%p1|%p2`.
  llvm::SmallVector<std::string, 1> Names;
  bool IsAddress = false; ///< `[%rd1+4]`
  int64_t OffsetBytes = 0;

  llvm::StringRef name() const { return Names.empty() ? "" : llvm::StringRef(Names.front()); }
};

struct PtxInstruction {
  std::string Opcode;
  llvm::SmallVector<std::string, 4> Modifiers; ///< `.global`, `.v4`, `.f32`
  std::string Predicate;                       ///< Of `@%p1` and `@!%p1`; empty: always.
  bool PredicateNegated = false;
  llvm::SmallVector<PtxOperand, 4> Operands;
  unsigned Line = 0; ///< Of the `.loc` before it; 0 where there is none.
  /// Its place in the text that was read, from its predicate to behind its `;`.
  size_t Begin = 0, End = 0;

  bool has(llvm::StringRef Modifier) const { return llvm::is_contained(Modifiers, Modifier); }
  /// Whether the first operand is what it writes.
  bool hasResult() const;
  /// The size of the last type among the modifiers times the width of the vector, in bytes; 0 where
  /// no type is named.
  unsigned accessBytes() const;
};

/// A body in the order of the text.
struct PtxFunction {
  std::vector<PtxInstruction> Code;
  ControlFlow Flow;
};

/// Reads \p Definition, the text of an entry or function from its linkage to its closing brace.
/// Fails where a branch leads to no label of it.
llvm::Expected<PtxFunction> readPtxFunction(llvm::StringRef Definition);

/// The function that a `call` names, or the register with its address.
llvm::StringRef calledName(const PtxInstruction &Call);

} // namespace carve
