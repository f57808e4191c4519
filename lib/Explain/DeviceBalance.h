/// \file
/// Holds what a device can do in a second: bytes from memory, instructions, rounds of shared
/// memory. Limiters.h compares a kernel's use of these resources with it.
#pragma once

#include "Device/DeviceModel.h"

#include <cstdint>
#include <string>

namespace carve {

/// A device as its driver describes it. DeviceModel has what follows from the architecture.
struct DeviceRates {
  std::string Name; ///< `NVIDIA H200`
  unsigned Sms = 0;
  unsigned ClockKHz = 0; ///< The highest clock of the SMs; 0 if not known.
  /// The highest clock of the memory, which transfers twice in each of its cycles.
  unsigned MemoryClockKHz = 0;
  unsigned BusBits = 0;
};

/// What one device can do. Sources of the formulas: share/doc/limits.md.
struct DeviceBalance {
  std::string Name;
  DeviceModel Model;
  unsigned Sms = 0;
  /// The number in every architecture since sm_50; each issues once per cycle.
  unsigned SchedulersPerSm = 4;
  // Rates per second; 0 if not known.
  double ClockHz = 0;
  double DramBytes = 0; ///< The peak: 2 x memory clock x bus width.
  double L2Bytes = 0;
  double DramLatencyNs = 0; ///< The latency of one load; never 0 if the clock is known.

  bool known() const { return Sms > 0 && ClockHz > 0; }
  /// The cycles of all SMs together in a second.
  double smCycles() const { return ClockHz * Sms; }
  /// The warp instructions that all schedulers can issue in a second.
  double issueSlots() const { return smCycles() * SchedulersPerSm; }
  /// The thread instructions that can be issued while memory moves one byte. This is Micikevicius'
  /// balanced instruction-to-byte ratio. 0 if it is not known.
  double instructionsPerByte() const {
    return DramBytes > 0 ? issueSlots() * Model.WarpSize / DramBytes : 0;
  }
  /// The bytes that have to be in flight on each SM for full bandwidth. By Little's law this is
  /// bandwidth x latency. 0 if it is not known.
  double bytesInFlightPerSm() const { return Sms ? DramBytes * DramLatencyNs * 1e-9 / Sms : 0; }
  /// The most warps that an SM holds.
  unsigned warpsPerSm() const { return Model.MaxThreadsPerSm / Model.WarpSize; }
};

/// Combines the limits of the architecture with the clocks and the bus that the driver reports.
/// What \p Rates do not know is 0 in the result.
DeviceBalance balanceOf(const DeviceModel &Model, const DeviceRates &Rates);

} // namespace carve
