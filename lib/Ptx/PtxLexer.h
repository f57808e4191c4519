/// \file
/// Splits PTX into tokens. It is the only place that knows comments, strings and line directives,
/// so a brace or a name inside of them never misleads the scanner.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace carve {

/// A token of PTX, as a span of the text.
struct PtxToken {
  enum KindTy : unsigned char {
    Word,      ///< An identifier, which may contain `%` and `$`: names, registers, labels, opcodes.
    Directive, ///< `.` and an identifier: `.entry`, `.u64`, and the modifiers of an opcode.
    Number,
    String,
    Line, ///< `.loc`, `.file` or `.target` with the rest of its line, because they end without `;`.
    Punct ///< One character.
  };
  /// What a Word means in a function's body. setRoles() finds it.
  enum RoleTy : unsigned char { Operand, Opcode, Label };

  size_t Begin = 0, End = 0; ///< Offsets in the text that was lexed.
  KindTy Kind = Punct;
  RoleTy Role = Operand;
};

/// Returns the tokens of \p Text. Fails if a comment or a string does not end.
llvm::Expected<std::vector<PtxToken>> lexPtx(llvm::StringRef Text);

/// Sets the roles of the words of a function's body. \p Body has the body's tokens without its
/// outer braces. A function may have the name of an instruction (`add`), and only the role tells
/// them apart.
void setRoles(llvm::StringRef Text, llvm::MutableArrayRef<PtxToken> Body);

/// Returns those of \p Tokens that are the body of the function whose definition is \p Text, and
/// sets their roles: what is between the first `{` and the last token, its `}`. The definition must
/// have a body.
llvm::MutableArrayRef<PtxToken> bodyOf(llvm::StringRef Text,
                                       llvm::MutableArrayRef<PtxToken> Tokens);

/// Calls \p Visit for each instruction of \p Body, whose roles are set. It gets the tokens from the
/// opcode up to, but not including, the `;`.
void forEachInstruction(llvm::StringRef Text, llvm::ArrayRef<PtxToken> Body,
                        llvm::function_ref<void(llvm::ArrayRef<PtxToken>)> Visit);

/// Returns the text of \p T, a token of \p Text.
inline llvm::StringRef textOf(llvm::StringRef Text, const PtxToken &T) {
  return Text.slice(T.Begin, T.End);
}

/// Whether \p T, a token of \p Text, is the punctuation character \p C.
inline bool isPunct(llvm::StringRef Text, const PtxToken &T, char C) {
  return T.Kind == PtxToken::Punct && Text[T.Begin] == C;
}

} // namespace carve
