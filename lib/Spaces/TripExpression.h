/// \file
/// Reads the trip counts that the user gives as expressions over a space's macros, for loops whose
/// count the code does not tell.
#pragma once

#include "Metrics/Counts/Counts.h"
#include "Spaces/MacroExpression.h"

#include <string>
#include <vector>

namespace carve {

/// The trip count of one loop, or of all loops.
struct TripExpression {
  std::string Text; ///< As the user wrote it.
  /// The loop's number (LoopCount::Number) or line; 0 for every loop whose count is not in the
  /// code.
  unsigned Loop = 0;
  bool IsLine = false;
  MacroExpression Count;
};

/// Reads `EXPRESSION`, `LOOP=EXPRESSION` or `LLINE=EXPRESSION`. `carve metrics` prints the numbers
/// of the loops. Fails with a UsageError.
llvm::Expected<TripExpression> parseTripExpression(llvm::StringRef Text,
                                                   llvm::ArrayRef<std::string> Macros);

/// Returns the counts for \p Values. Fails if a count is not above 0.
llvm::Expected<TripCounts> tripCountsOf(llvm::ArrayRef<TripExpression> Said,
                                        llvm::ArrayRef<MacroValue> Values);

} // namespace carve
