/// \file
/// Splits a CUDA source, or the text that its preprocessor made, into tokens with their places.
/// KernelSource finds kernels in them. No macro is expanded.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace carve {

enum class CudaTokenKind {
  Word,  ///< An identifier or keyword.
  Other, ///< A number, string or character literal.
  Punct, ///< One character of punctuation, or `::` or `->`.
};

struct CudaToken {
  CudaTokenKind Kind = CudaTokenKind::Punct;
  llvm::StringRef Text; ///< Points into the source.
  size_t Offset = 0;
  unsigned Line = 1; ///< Line in the text, from 1.

  bool is(llvm::StringRef Spelling) const {
    return Kind != CudaTokenKind::Other && Text == Spelling;
  }
  size_t end() const { return Offset + Text.size(); }
};

/// A line for the preprocessor, joined with the lines that continue it.
struct CudaDirective {
  llvm::StringRef Name; ///< `if`, `define`, or, for a line marker `# 12 "x.h"`, its number.
  llvm::StringRef Rest; ///< The text after the name, without blanks around it.
  size_t Before = 0;    ///< Index of the token that follows the directive.
  unsigned Line = 1;
};

/// The result of tokenizeCuda().
struct CudaTokens {
  std::vector<CudaToken> Tokens;
  std::vector<CudaDirective> Directives;
};

/// Splits \p Text, which must live as long as the result. Comments, strings (also raw ones) and
/// continued lines are recognised. A comment, string or directive that is still open at the end of
/// the text ends there.
CudaTokens tokenizeCuda(llvm::StringRef Text);

} // namespace carve
