/// \file
/// The space of a program: the macros that its author lets vary, a value list for each, and the
/// configurations that these make.
#pragma once

#include "Spaces/MacroExpression.h"

#include <string>
#include <vector>

namespace carve {

struct SpaceMacro {
  std::string Name;
  std::vector<std::string> Values;
};

struct ProgramSpace {
  std::vector<SpaceMacro> Macros;

  std::vector<std::string> names() const;
  /// Of all combinations.
  uint64_t size() const;
};

/// One value for every macro of a space.
struct Configuration {
  std::vector<MacroValue> Macros;

  /// `TILE=8,UNROLL=2`.
  std::string name() const;
  /// `-DTILE=8`, `-DUNROLL=2`.
  std::vector<std::string> defines() const;
};

/// Reads `TILE=8,16,32;UNROLL=1..4`: macros parted by `;`, values by `,`; `1..4` is 1, 2, 3, 4.
/// Fails with a UsageError naming the part and what was expected there: a macro twice, a value
/// twice, an empty list, more than 100,000 combinations.
llvm::Expected<ProgramSpace> parseProgramSpace(llvm::StringRef Text);

/// The combinations for which \p Where is not 0 (null: all), the last macro varying fastest, so
/// that the first has the first value of each list. Fails where \p Where cannot be evaluated,
/// naming the configuration.
llvm::Expected<std::vector<Configuration>> configurationsOf(const ProgramSpace &Space,
                                                            const MacroExpression *Where);

} // namespace carve
