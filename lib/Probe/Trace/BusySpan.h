/// \file
/// The time in which kernels ran, between the first launch and the last: what a program leaves of
/// its GPU. Fed from CUPTI's buffers. Pure: knows neither CUPTI nor files.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace carve::probe {

/// Not synchronised: the caller locks.
class BusySpan {
public:
  /// A kernel ran from \p StartNs to \p EndNs. In any order; others may have run beside it.
  void add(uint64_t StartNs, uint64_t EndNs) { New.emplace_back(StartNs, EndNs); }

  /// The `span` line of what came since the last drain; empty where nothing did. Time that an
  /// earlier line has counted is not counted again.
  std::string drain();

private:
  std::vector<std::pair<uint64_t, uint64_t>> New;
  uint64_t CoveredNs = 0; ///< Until then all is counted.
};

} // namespace carve::probe
