/// \file
/// Splits preprocessed C++ into tokens. It knows comments, strings, raw strings and lines of the
/// preprocessor, so that nothing in them is taken for code.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace carve {

/// A token of C++: a word, a number, a literal, or one character.
struct CxxToken {
  enum Kinds { Word, Number, Literal, Punctuation } Kind;
  llvm::StringRef Text; ///< A part of the text that was split.

  bool is(llvm::StringRef Wanted) const { return Text == Wanted; }
};

/// Whether \p C may be in a word: a letter, a digit, `_`, `$`, or a byte of another character.
bool isWordChar(char C);

/// Returns the error Unsupported `unknown-text`, for a text that is not understood because of
/// \p Why.
llvm::Error unknownText(const llvm::Twine &Why);

/// Returns the tokens of \p Text. Comments, and lines of the preprocessor, are left out. Fails with
/// Unsupported `unknown-text` if a string or a comment does not end.
llvm::Expected<std::vector<CxxToken>> cxxTokens(llvm::StringRef Text);

} // namespace carve
