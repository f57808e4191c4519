/// \file
/// The clock for the pipelines: durations, and the date that records and reports carry.
#pragma once

#include <chrono>
#include <string>

namespace carve {

/// Returns the seconds since \p Start.
double secondsSince(std::chrono::steady_clock::time_point Start);

/// Returns the current time in UTC, in ISO 8601 format.
std::string utcNow();

} // namespace carve
