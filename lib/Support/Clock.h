/// \file
/// The clocks: durations, dates for records, and times to compare with those of files.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace carve {

/// Returns seconds on a clock that never goes back.
double steadySeconds();

/// Returns the seconds since \p Start.
double secondsSince(std::chrono::steady_clock::time_point Start);

/// Returns the nanoseconds since 1970, as the stamps of files have them.
int64_t unixNanoseconds();

/// Returns the current time in UTC, in ISO 8601 format.
std::string utcNow();

} // namespace carve
