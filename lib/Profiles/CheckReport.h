/// \file
/// The outcome of `carve check` for a person and for programs.
#pragma once

#include "Profiles/ProfileCheck.h"
#include "Tune/Outcome/TuningReport.h"

#include <string>

namespace carve {

/// The kernels of a tuning's report, as checkedKernels() has those of a profile.
std::vector<CheckedKernel> checkedKernels(const TuningReport &R);

/// What a document says of itself.
struct CheckDocument {
  std::string Before, After; ///< Names of the two files.
  std::string Date;          ///< ISO 8601, UTC.
  std::string Version;       ///< Of carve.
};

std::string printCheckText(const CheckOutcome &Outcome, const CheckDocument &Of);
std::string printCheckJson(const CheckOutcome &Outcome, const CheckDocument &Of);

} // namespace carve
