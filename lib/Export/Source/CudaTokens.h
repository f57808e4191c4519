/// \file
/// The tokens of a CUDA source, or of the text that its preprocessor made, with their places: what
/// KernelSource looks for kernels in. No macro is expanded.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace carve {

enum class CudaTokenKind {
  Word,  ///< Identifier or keyword.
  Other, ///< Number, string, character; no word and no punctuation.
  Punct, ///< One character, but for `::` and `->`.
};

struct CudaToken {
  CudaTokenKind Kind = CudaTokenKind::Punct;
  llvm::StringRef Text; ///< Points into the source.
  size_t Offset = 0;
  unsigned Line = 1; ///< Of the text, from 1.

  bool is(llvm::StringRef Spelling) const {
    return Kind != CudaTokenKind::Other && Text == Spelling;
  }
  size_t end() const { return Offset + Text.size(); }
};

/// A line of the preprocessor, continued ones whole.
struct CudaDirective {
  llvm::StringRef Name; ///< `if`, `define`; of a line marker `# 12 "x.h"` its number.
  llvm::StringRef Rest; ///< What stands behind, blanks around it removed.
  size_t Before = 0;    ///< Index of the token that follows.
  unsigned Line = 1;
};

struct CudaTokens {
  std::vector<CudaToken> Tokens;
  std::vector<CudaDirective> Directives;
};

/// Cuts \p Text, which has to live as long as the result. Comments, strings (raw ones too) and
/// continued lines are heeded; what is open at the end is taken as ending there.
CudaTokens tokenizeCuda(llvm::StringRef Text);

} // namespace carve
