/// \file
/// Prints the outcome of `carve check` as text and JSON, and takes its input from a tuning's
/// report. ProfileCheck.h does the comparison.
#pragma once

#include "Profiles/ProfileCheck.h"
#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// Returns the kernels of a tuning's report, in the form of checkedKernels() for a profile.
std::vector<CheckedKernel> checkedKernels(const TuningReport &R);

/// What a document says about itself.
struct CheckDocument {
  std::string Before, After; ///< The names of the two files.
  std::string Date;          ///< ISO 8601, UTC.
  std::string Version;       ///< The version of carve.
};

/// Returns the outcome as text: each kernel with its properties, notes, and a line that sums up.
std::string printCheckText(const CheckOutcome &Outcome, const CheckDocument &Of);
/// Returns the outcome as one JSON object; share/doc/formats.md describes it.
std::string printCheckJson(const CheckOutcome &Outcome, const CheckDocument &Of);

} // namespace carve
