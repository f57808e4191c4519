/// \file
/// What the pipelines ask of the clock: durations, and the date for records.
#pragma once

#include <chrono>
#include <string>

namespace carve {

/// Seconds since \p Start.
double secondsSince(std::chrono::steady_clock::time_point Start);

/// The time now, ISO 8601, UTC.
std::string utcNow();

} // namespace carve
