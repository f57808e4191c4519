/// \file
/// Finds where the body of an entry reads its parameters and the dimensions of its launch, and puts
/// constants there that are known of a launch. ModuleEditor writes them; a tuning asks what could
/// be written. A parameter that is read by an address in a register is left alone.
#pragma once

#include "Nvcc/Text/KnownLaunch.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace carve {

/// A word of a parameter that an instruction reads at a place that is written in it.
struct ParameterRead {
  enum Kinds {
    Integer, ///< Of 1, 2 or 4 bytes.
    Float,   ///< Of any size.
    Wide,    ///< Of 8 bytes and no float. It may be an address.
  };
  unsigned Parameter = 0; ///< Counted from 0.
  unsigned Offset = 0;    ///< In the parameter, in bytes.
  unsigned Bytes = 0;
  Kinds Kind = Integer;
};

/// What an entry reads of its launch, and where a constant could be.
struct LaunchReads {
  std::vector<ParameterRead> Words; ///< In the order of the text.
  bool Block = false, Grid = false; ///< Whether it reads `%ntid`, `%nctaid`.
  std::vector<unsigned> Structures; ///< The parameters that are declared as bytes, ascending.

  /// Whether a floating-point number is read where \p Value is.
  bool readFloatAt(const ArgumentValue &Value) const;
};

/// Returns what the entry \p Name with the text \p Definition, from its linkage to its closing
/// brace, reads. Fails if the text cannot be read.
llvm::Expected<LaunchReads> launchReads(llvm::StringRef Definition, llvm::StringRef Name);

/// Which of what is known of a launch may become constants.
struct ConstantRules {
  /// The types of the parameters, as the demangler writes them; empty if they are not known. A read
  /// of 8 bytes becomes a constant only if it is of a parameter that is an integer, or of a field
  /// whose value is below 4 GB, because the address of memory is another one in each process.
  llvm::ArrayRef<std::string> Types;
  bool Floats = false; ///< Whether values of floating-point numbers may.
};

/// Returns what of \p Seen the entry reads (\p Reads) as \p Rules allow: the words that it reads,
/// by rising place, and the dimensions.
KnownLaunch constantsOf(const KnownLaunch &Seen, const LaunchReads &Reads,
                        const ConstantRules &Rules);

/// Returns \p Body, the text of the entry \p Name from the end of its header to its closing brace,
/// with a `mov` of a constant for each `ld.param` of bytes that \p Known has all of, and with
/// constants for `%ntid` and `%nctaid`. It leaves alone instructions with a predicate, and loads
/// into a register whose type it does not find. Fails if the text cannot be read.
llvm::Expected<std::string> withConstants(llvm::StringRef Body, llvm::StringRef Name,
                                          const KnownLaunch &Known);

} // namespace carve
