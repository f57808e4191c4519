/// \file
/// Reads the instructions of a PTX function with their operands, and the control flow between them.
/// The static metrics and the block counters work on the result.
#pragma once

#include "Ptx/ControlFlow.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// One operand of an instruction.
struct PtxOperand {
  /// Registers, special registers (`%tid.x`), numbers with their sign, labels and names.
  /// `{%f1, %f2}` and `%p1|%p2` have several.
  llvm::SmallVector<std::string, 1> Names;
  bool IsAddress = false; ///< `[%rd1+4]`
  int64_t OffsetBytes = 0;

  /// Returns the first name; empty if there is none.
  llvm::StringRef name() const { return Names.empty() ? "" : llvm::StringRef(Names.front()); }
};

/// One instruction with its predicate, modifiers and operands.
struct PtxInstruction {
  std::string Opcode;
  llvm::SmallVector<std::string, 4> Modifiers; ///< Such as `.global`, `.v4`, `.f32`.
  /// The register of `@%p1` or `@!%p1`; empty if the instruction always runs.
  std::string Predicate;
  bool PredicateNegated = false;
  llvm::SmallVector<PtxOperand, 4> Operands;
  unsigned Line = 0; ///< The line in the last `.loc` before it; 0 if there is none.
  /// Its offsets in the text that was read, from its predicate to just after its `;`.
  size_t Begin = 0, End = 0;

  bool has(llvm::StringRef Modifier) const { return llvm::is_contained(Modifiers, Modifier); }
  /// Whether the instruction writes its first operand.
  bool hasResult() const;
  /// Returns the bytes that one thread accesses: the size of the last type among the modifiers
  /// times the width of the vector; 0 if no type is named.
  unsigned accessBytes() const;
};

/// A function's instructions in the order of the text.
struct PtxFunction {
  std::vector<PtxInstruction> Code;
  ControlFlow Flow;
};

/// Reads \p Definition, the text of an entry or function from its linkage to its closing brace.
/// Fails if the text has no body, if a `.loc` is malformed, or if a branch leads to a label that
/// the function does not have.
llvm::Expected<PtxFunction> readPtxFunction(llvm::StringRef Definition);

/// Returns the function that a `call` names, or the register with its address; empty if there is
/// neither.
llvm::StringRef calledName(const PtxInstruction &Call);

} // namespace carve
