/// \file
/// Prints the result of Evaluate/SweepEvaluation.h for `carve evaluate`, as text and as JSON.
#pragma once

#include "Evaluate/SweepEvaluation.h"

namespace carve {

/// Returns one JSON object. `programs` has for each program `name`, the speedups over the default
/// `per_file`, `critical_points`, `carved`, `everything` and `random`, and `max_timed`. `geomean`
/// has the geometric means of the same speedups.
std::string printEvaluationJson(const SweepEvaluation &E);

/// Returns a table with one line for each program, and which share of the possible gain each way
/// finds.
std::string printEvaluationText(const SweepEvaluation &E);

} // namespace carve
