/// \file
/// Sums the time in which kernels ran, and the time from the first launch to the last one; the
/// difference is what a program leaves unused of its GPU. Activity.cpp feeds it from CUPTI's
/// buffers. It is pure: it knows neither CUPTI nor files.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace carve::probe {

/// Sums the time in which at least one kernel ran. Not synchronised: the caller locks.
class BusySpan {
public:
  /// Adds a kernel that ran from \p StartNs to \p EndNs. Kernels may come in any order and may have
  /// run at the same time.
  void add(uint64_t StartNs, uint64_t EndNs) { New.emplace_back(StartNs, EndNs); }

  /// Returns the `span` line of the kernels that were added since the last call; empty if there
  /// were none. It leaves out time that an earlier line has counted.
  std::string drain();

private:
  std::vector<std::pair<uint64_t, uint64_t>> New;
  uint64_t CoveredNs = 0; ///< All time up to this point has been counted.
};

} // namespace carve::probe
