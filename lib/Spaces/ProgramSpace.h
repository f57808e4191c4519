/// \file
/// Reads the space of a program: the macros that its author lets vary, a list of values for each,
/// and the configurations that follow from them.
#pragma once

#include "Spaces/MacroExpression.h"

#include <string>
#include <vector>

namespace carve {

/// One macro with its values.
struct SpaceMacro {
  std::string Name;
  std::vector<std::string> Values;
};

/// All macros of a program.
struct ProgramSpace {
  std::vector<SpaceMacro> Macros;

  std::vector<std::string> names() const;
  /// Returns the number of all combinations, at most UINT64_MAX.
  uint64_t size() const;
};

/// One value for each macro of a space.
struct Configuration {
  std::vector<MacroValue> Macros;

  /// Returns the name, such as `TILE=8,UNROLL=2`.
  std::string name() const;
  /// Returns the words for the compiler, such as `-DTILE=8` and `-DUNROLL=2`.
  std::vector<std::string> defines() const;
};

/// Reads a text such as `TILE=8,16,32;UNROLL=1..4`. Macros are separated by `;` and values by `,`;
/// `1..4` means 1, 2, 3, 4. Fails with a UsageError that names the part and what was expected
/// there: if a macro or a value occurs twice, if a list is empty, or if there are more than 100,000
/// combinations.
llvm::Expected<ProgramSpace> parseProgramSpace(llvm::StringRef Text);

/// Returns the combinations for which \p Where is not 0, or all if it is null. The last macro
/// varies fastest, so the first combination has the first value of each list. Fails if \p Where
/// cannot be evaluated, and names the configuration.
llvm::Expected<std::vector<Configuration>> configurationsOf(const ProgramSpace &Space,
                                                            const MacroExpression *Where);

} // namespace carve
