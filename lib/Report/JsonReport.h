/// \file
/// A tuning's report as JSON: what the store keeps, and `--format=json`.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace carve {

/// Fields are those of TuningReport in kebab case; ratios are tuned over default.
std::string printJsonReport(const TuningReport &R);

/// Reads what printJsonReport() wrote. Fails naming \p Name and the field.
llvm::Expected<TuningReport> parseJsonReport(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
