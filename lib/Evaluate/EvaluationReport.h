/// \file
/// What `carve evaluate` shows of a Evaluate/SweepEvaluation.h.
#pragma once

#include "Evaluate/SweepEvaluation.h"

namespace carve {

/// One object: `programs`, each with `name`, `per_file`, `critical_points`, `carved`, `everything`,
/// `random` (speedups over the default) and `max_timed`, and `geomean` of the same speedups.
std::string printEvaluationJson(const SweepEvaluation &E);

/// A table, a line for each program, and what share of the whole gain is found.
std::string printEvaluationText(const SweepEvaluation &E);

} // namespace carve
