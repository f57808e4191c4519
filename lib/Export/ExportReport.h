/// \file
/// Prints the result of an export as text, for CMake, for make, and as JSON. ExportCommand calls it
/// last.
#pragma once

#include "Export/ExportRecord.h"

#include <string>

namespace carve {

/// Returns for each kernel what was written, what it loses, and how the code of plain nvcc compares
/// with the tuned code.
std::string printExportSummary(const ExportOutcome &Outcome);

/// Returns the patch with the summary before it, in lines that `git apply` and `patch` ignore. For
/// ExportForm::Flags it returns one line of options for each source instead of a patch.
std::string printExportText(const ExportOutcome &Outcome);

/// For ExportForm::Flags, returns a `set_property(SOURCE ...)` command for each source.
std::string printExportCMake(const ExportOutcome &Outcome);

/// For ExportForm::Flags, returns a target-specific variable for the object of each source.
std::string printExportMake(const ExportOutcome &Outcome);

/// Returns the export as one JSON object. share/doc/formats.md lists its members.
std::string printExportJson(const ExportOutcome &Outcome);

} // namespace carve
