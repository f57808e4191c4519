/// \file
/// Reads a command line as nvcc does. The words of argv become options with their values, inputs,
/// and words that nvcc does not know; CommandLine and LinkLine interpret them.
#pragma once

#include "Nvcc/OptionTable.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// One option with its value, or one input.
struct Argument {
  enum class Kind { Option, Input, Unknown };
  Kind Is = Kind::Unknown;
  const OptionInfo *Option = nullptr; ///< Set for Kind::Option only.
  std::string Value; ///< The option's value, or the text of an input or an unknown word.
  std::vector<std::string> Words; ///< One word or two, as the user wrote them.
  std::vector<Argument> Nested;   ///< The content of an options file.

  bool is(Effect E) const { return Option && Option->Kind == E; }
};

/// Says whether the quotes that group words belong to the words.
enum class Quotes {
  Dropped, ///< The rule for an options file.
  Kept,    ///< The rule for NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS.
};

/// Splits \p Text into words as nvcc does: white space separates, `"` groups, single quotes and `#`
/// have no meaning. Fails with Unsupported `option-quoting` if a quote is not closed, or if a
/// backslash makes nvcc's reading depend on the option.
llvm::Expected<std::vector<std::string>> splitWords(llvm::StringRef Text, Quotes Keep);

/// Groups \p Words into arguments. An option whose value is missing is an unknown word.
std::vector<Argument> splitArguments(llvm::ArrayRef<std::string> Words);

/// Returns \p Words as arguments. Options files are read, relative to \p WorkDir. A file is
/// replaced by its content if it holds inputs or options that a rewritten command must change;
/// other files stay, with their content in Nested. Fails with Unsupported `options-file` if a file
/// cannot be read.
llvm::Expected<std::vector<Argument>> expandArguments(llvm::ArrayRef<std::string> Words,
                                                      llvm::StringRef WorkDir);

/// Returns the words of \p Arguments, in order.
std::vector<std::string> joinArguments(llvm::ArrayRef<Argument> Arguments);

/// Returns the values of a list that is separated by commas. `\,` does not separate and stays as
/// written.
std::vector<std::string> splitList(llvm::StringRef List);

} // namespace carve
