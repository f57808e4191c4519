/// \file
/// Words and numbers of a tuning's report that the table and the page have in common.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include "llvm/ADT/StringRef.h"

#include <string>

namespace carve {

/// `1.333 [1.316,1.351]`: default over tuned, so that more is better; the interval's ends change
/// sides.
std::string speedupText(const RatioInterval &R);

/// A person's words for a reason that may be an identifier.
std::string reasonText(llvm::StringRef Reason);

/// How a kernel was timed within the program, and how its output was compared.
std::string inRunText(const InRunFinding &R);

} // namespace carve
