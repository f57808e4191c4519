/// \file
/// The clocks: durations, dates for records, and times to compare with those of files.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace carve {

/// Seconds on a clock that never goes back.
double steadySeconds();

/// Seconds since \p Start.
double secondsSince(std::chrono::steady_clock::time_point Start);

/// Nanoseconds since 1970, as the stamps of files have them.
int64_t unixNanoseconds();

/// The time now, ISO 8601, UTC.
std::string utcNow();

} // namespace carve
