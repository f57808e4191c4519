/// \file
/// A command line as nvcc reads it: words cut into options with their values, inputs, and words
/// that nvcc does not know. Stands between argv and CommandLine.
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
  const OptionInfo *Option = nullptr; ///< Of Kind::Option.
  std::string Value;                  ///< The option's value; the text of an input or unknown word.
  std::vector<std::string> Words;     ///< As it was spelled, one word or two.
  std::vector<Argument> Nested;       ///< What an options file holds.

  bool is(Effect E) const { return Option && Option->Kind == E; }
};

/// Whether quotes that group words are part of them.
enum class Quotes {
  Dropped, ///< Of an options file.
  Kept,    ///< Of NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS.
};

/// Cuts \p Text into words as nvcc does: at white space, `"` groups, single quotes and `#` mean
/// nothing. Fails with Unsupported `option-quoting` where a quote stays open or a backslash makes
/// nvcc's reading depend on the option.
llvm::Expected<std::vector<std::string>> splitWords(llvm::StringRef Text, Quotes Keep);

/// Cuts \p Words into arguments. An option whose value is missing is an unknown word.
std::vector<Argument> splitArguments(llvm::ArrayRef<std::string> Words);

/// \p Words as arguments, options files read from \p WorkDir. Those that hold inputs or options
/// that a rewritten command must change are replaced by their content; others stay, with their
/// content in Nested. Fails with Unsupported `options-file` where one cannot be read.
llvm::Expected<std::vector<Argument>> expandArguments(llvm::ArrayRef<std::string> Words,
                                                      llvm::StringRef WorkDir);

/// The words of \p Arguments, in order.
std::vector<std::string> joinArguments(llvm::ArrayRef<Argument> Arguments);

/// The values of a comma list; `\,` does not separate and stays as written.
std::vector<std::string> splitList(llvm::StringRef List);

} // namespace carve
