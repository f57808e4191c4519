/// \file
/// How much longer a run is made, so that what the program prints of its times changes and its
/// results do not. The tuner says it in an environment variable; Probe/Entry/StretchedRun.h does
/// it.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace carve::probe {

/// The stretch of a run, as TimeStretch::text() writes it. Without it no time is stretched. If the
/// unchanged program's output changes in such a run, what changes depends on time and not on the
/// kernels' results.
inline constexpr char StretchVariable[] = "CARVE_PROBE_STRETCH";

/// By which shares of itself the time between two waits becomes longer. Three digits change
/// already by the least one. What is launched, what waits for a stream and what waits for the
/// device may each make the same time longer, so the most one is small: 1.16 squared is 1.35.
inline constexpr double LeastShare = 0.08, MostShare = 0.16;

/// How a run is stretched.
struct TimeStretch {
  uint64_t LaunchNs = 0; ///< How long every launch is held back.
  uint64_t WaitsNs = 0;  ///< How long a process is held back after waits at most, in all.

  bool any() const { return LaunchNs > 0 || WaitsNs > 0; }
  bool operator==(const TimeStretch &) const = default;

  std::string text() const { return std::to_string(LaunchNs) + " " + std::to_string(WaitsNs); }
  /// Returns the stretch that \p Text says, or nothing if it is not the text of one.
  static std::optional<TimeStretch> read(std::string_view Text) {
    TimeStretch Read;
    const char *Begin = Text.begin(), *End = Text.end();
    auto Launch = std::from_chars(Begin, End, Read.LaunchNs);
    if (Launch.ec != std::errc() || Launch.ptr == End || *Launch.ptr != ' ')
      return std::nullopt;
    auto Waits = std::from_chars(Launch.ptr + 1, End, Read.WaitsNs);
    if (Waits.ec != std::errc() || Waits.ptr != End)
      return std::nullopt;
    return Read;
  }
};

} // namespace carve::probe
