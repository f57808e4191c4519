/// \file
/// Splits PTX into tokens: the one place that knows comments, strings and line directives, so that
/// a brace or a name inside of those never misleads the scanner.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace carve {

struct PtxToken {
  enum KindTy : unsigned char {
    Word,      ///< An identifier, `%` and `$` included: names, registers, labels, opcodes.
    Directive, ///< `.` with an identifier: `.entry`, `.u64`, also the modifiers of an opcode.
    Number,
    String,
    Line, ///< `.loc`, `.file` or `.target` with the rest of its line; these end without `;`.
    Punct ///< One character.
  };
  /// What a Word of a function's body is.
  enum RoleTy : unsigned char { Operand, Opcode, Label };

  size_t Begin = 0, End = 0; ///< Offsets in the text that was lexed.
  KindTy Kind = Punct;
  RoleTy Role = Operand;
};

/// The tokens of \p Text. Fails where a comment or a string does not end.
llvm::Expected<std::vector<PtxToken>> lexPtx(llvm::StringRef Text);

/// Sets the roles of the words of a function's body, whose tokens are \p Body without its outer
/// braces. A function may have the name of an instruction (`add`), which only the role tells apart.
void setRoles(llvm::StringRef Text, llvm::MutableArrayRef<PtxToken> Body);

/// Calls \p Visit with each instruction of a body with roles set, from its opcode to before its
/// `;`.
void forEachInstruction(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body,
                        llvm::function_ref<void(llvm::ArrayRef<PtxToken>)> Visit);

inline llvm::StringRef textOf(llvm::StringRef Text, const PtxToken &T) {
  return Text.slice(T.Begin, T.End);
}

inline bool isPunct(llvm::StringRef Text, const PtxToken &T, char C) {
  return T.Kind == PtxToken::Punct && Text[T.Begin] == C;
}

} // namespace carve
