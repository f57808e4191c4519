/// \file
/// Prints a tuning's report as JSON and reads it back. The store keeps reports in this form, and
/// `--format=json` prints it; share/doc/formats.md describes it.
#pragma once

#include "Tune/Outcome/TuningReport.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace carve {

/// Returns the report as one object. Its members are those of TuningReport in kebab case; ratios
/// are tuned over default.
std::string printJsonReport(const TuningReport &R);

/// Returns in how much of a run a guard held, and an entry with it, as they are in that object.
llvm::json::Value guardHoldJson(const GuardHold &Hold);
llvm::json::Value entryHoldJson(const EntryHold &Entry);

/// Reads what printJsonReport() wrote. Fails with a message that names \p Name and the member.
llvm::Expected<TuningReport> parseJsonReport(llvm::StringRef Text, llvm::StringRef Name);

} // namespace carve
