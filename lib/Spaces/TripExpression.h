/// \file
/// Trip counts that are not in the code, as the user says them over a space's macros.
#pragma once

#include "Metrics/Counts/Counts.h"
#include "Spaces/MacroExpression.h"

#include <string>
#include <vector>

namespace carve {

struct TripExpression {
  std::string Text; ///< As the user wrote it.
  /// The loop's number (LoopCount::Number) or line; 0: every loop whose count is not in the code.
  unsigned Loop = 0;
  bool IsLine = false;
  MacroExpression Count;
};

/// Reads `EXPRESSION`, `LOOP=EXPRESSION` or `LLINE=EXPRESSION`, as `carve metrics --trips` numbers
/// loops. Fails with a UsageError.
llvm::Expected<TripExpression> parseTripExpression(llvm::StringRef Text,
                                                   llvm::ArrayRef<std::string> Macros);

/// The counts with the macros as \p Values say. Fails where one is not above 0.
llvm::Expected<TripCounts> tripCountsOf(llvm::ArrayRef<TripExpression> Said,
                                        llvm::ArrayRef<MacroValue> Values);

} // namespace carve
