/// \file
/// An export for a person, for build systems and for programs.
#pragma once

#include "Export/ExportRecord.h"

#include <string>

namespace carve {

/// What was done with each kernel, what is lost of it, and how plain nvcc's code compares.
std::string printExportSummary(const ExportOutcome &Outcome);

/// The patch, with the summary in front as lines that `git apply` and `patch` pass over; of
/// ExportForm::Flags a line for each source.
std::string printExportText(const ExportOutcome &Outcome);

/// ExportForm::Flags: `set_property(SOURCE ...)` for each source.
std::string printExportCMake(const ExportOutcome &Outcome);

/// ExportForm::Flags: target-specific variables for the object of each source.
std::string printExportMake(const ExportOutcome &Outcome);

std::string printExportJson(const ExportOutcome &Outcome);

} // namespace carve
