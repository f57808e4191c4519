/// \file
/// Every option of nvcc: its spellings, whether it takes a value, and what it means to carve.
/// The table is the only place that knows nvcc's options.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace carve {

/// How an option takes its value.
enum class Arity {
  Flag,     ///< No value: `-G`.
  Value,    ///< One value, `-o x` or `-o=x`.
  List,     ///< Values joined by commas, `-Xptxas a,b` or `-Xptxas=a,b`; may be repeated.
  Optional, ///< `-Ofc`, `-Ofc=min` or `-Ofc min`; takes the next argument unless that is an option.
};

/// What may follow the short spelling without a space or `=`.
enum class Join {
  No,
  Text,   ///< `-Idir`, `-DX=1`.
  Number, ///< `-O3`, `-t4`; `-Ofast` is no option.
};

/// What an option does to the pipeline.
enum class Effect {
  None,        ///< Changes the code or the messages; passed through unseen.
  Opaque,      ///< As None, and may name files that are read, of which nothing else tells.
  Phase,       ///< Selects another phase than compile or link; TooHard unless named in CommandLine.
  Output,      ///< -o.
  Dependency,  ///< -MD and its family.
  Language,    ///< -x.
  RegisterCap, ///< -maxrregcount.
  Relocatable, ///< -rdc.
  Target,      ///< -arch and its family; `lto_90` among the values means device LTO.
  ToolOptions, ///< -Xptxas and the like, whose content is looked at.
  OptionsFile, ///< -optf.
  ForwardUnknown, ///< Makes options that nvcc does not know the host compiler's.
  TooHard,        ///< The command is handed to nvcc; Reason says why.
};

struct OptionInfo {
  llvm::StringLiteral Long;  ///< `--maxrregcount`.
  llvm::StringLiteral Short; ///< `-maxrregcount`; empty where there is none.
  Arity Values;
  Join Joins;
  Effect Kind;
  llvm::StringLiteral Reason; ///< Of TooHard and Phase: the identifier counted, e.g. `device-lto`.
};

/// The table, sorted by long spelling: the options of `nvcc --help` and those that nvcc accepts
/// without documenting them, which must be known lest their values be taken for inputs.
llvm::ArrayRef<OptionInfo> optionTable();

/// The entry that the argument \p Arg spells, value included (`--maxrregcount=32`); null where
/// nvcc has no such option.
const OptionInfo *findOption(llvm::StringRef Arg);

/// The value within \p Arg, a spelling of \p Option: `32` of `--maxrregcount=32`, `3` of `-O3`.
/// None where it stands in the next argument or there is none.
std::optional<llvm::StringRef> attachedValue(const OptionInfo &Option, llvm::StringRef Arg);

} // namespace carve
