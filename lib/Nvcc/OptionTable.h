/// \file
/// The table of all options of nvcc: their spellings, whether they take a value, and what they mean
/// to carve. No other place knows nvcc's options.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace carve {

/// Says how an option takes its value.
enum class Arity {
  Flag,     ///< No value: `-G`.
  Value,    ///< One value: `-o x` or `-o=x`.
  List,     ///< Values joined by commas: `-Xptxas a,b` or `-Xptxas=a,b`; may be repeated.
  Optional, ///< `-Ofc`, `-Ofc=min` or `-Ofc min`; takes the next argument unless that is an option.
};

/// Says what may follow the short spelling without a space or `=`.
enum class Join {
  No,
  Text,   ///< `-Idir`, `-DX=1`.
  Number, ///< `-O3`, `-t4`; `-Ofast` is not an option.
};

/// Says what an option does to the pipeline.
enum class Effect {
  None,   ///< It changes the code or the messages, and is passed on unread.
  Opaque, ///< Like None, but it may name files that are read and that nothing else shows.
  Phase,  ///< It selects another phase than compile or link; TooHard unless CommandLine names it.
  Output, ///< -o.
  Dependency,     ///< -MD and its family.
  Language,       ///< -x.
  RegisterCap,    ///< -maxrregcount.
  Relocatable,    ///< -rdc.
  Target,         ///< -arch and its family; a value such as `lto_90` means device LTO.
  ToolOptions,    ///< -Xptxas and the like, whose content is examined.
  OptionsFile,    ///< -optf.
  ForwardUnknown, ///< It forwards options that nvcc does not know to the host compiler.
  TooHard,        ///< The command is handed to nvcc; Reason says why.
};

struct OptionInfo {
  llvm::StringLiteral Long;  ///< `--maxrregcount`.
  llvm::StringLiteral Short; ///< `-maxrregcount`; empty if there is none.
  Arity Values;
  Join Joins;
  Effect Kind;
  /// For TooHard and Phase: the identifier to count, e.g. `device-lto`.
  llvm::StringLiteral Reason;
};

/// Returns the table, sorted by long spelling. It has the options of `nvcc --help` and those that
/// nvcc accepts without documenting them. The latter must be known, because otherwise their values
/// would be taken for inputs.
llvm::ArrayRef<OptionInfo> optionTable();

/// Returns the entry for the argument \p Arg, which may include a value (`--maxrregcount=32`); null
/// if nvcc has no such option.
const OptionInfo *findOption(llvm::StringRef Arg);

/// Returns the value inside \p Arg, a spelling of \p Option: `32` for `--maxrregcount=32`, `3` for
/// `-O3`. Returns nothing if the value is the next argument or there is none.
std::optional<llvm::StringRef> attachedValue(const OptionInfo &Option, llvm::StringRef Arg);

} // namespace carve
