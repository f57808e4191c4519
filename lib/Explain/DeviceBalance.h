/// \file
/// What a device can do in a second: bytes from memory, instructions, rounds of shared memory. What
/// a kernel's use of these is held against (Limiters.h).
#pragma once

#include "Device/DeviceModel.h"

#include <cstdint>
#include <string>

namespace carve {

/// A device as its driver describes it, beyond what DeviceModel knows of its architecture.
struct DeviceRates {
  std::string Name; ///< `NVIDIA H200`
  unsigned Sms = 0;
  unsigned ClockKHz = 0;       ///< The highest of the SMs; 0: not known.
  unsigned MemoryClockKHz = 0; ///< The highest; the memory transfers twice in a cycle of it.
  unsigned BusBits = 0;
};

struct DeviceBalance {
  std::string Name;
  DeviceModel Model;
  unsigned Sms = 0;
  unsigned SchedulersPerSm = 4; ///< Of every architecture since sm_50; each issues once a cycle.
  // Per second; 0 where not known.
  double ClockHz = 0;
  double DramBytes = 0; ///< The peak: 2 x memory clock x bus width.
  double L2Bytes = 0;
  double DramLatencyNs = 0; ///< Of one load; never 0 where the clock is known.

  bool known() const { return Sms > 0 && ClockHz > 0; }
  double smCycles() const { return ClockHz * Sms; }
  /// Warp instructions.
  double issueSlots() const { return smCycles() * SchedulersPerSm; }
  /// Thread instructions that can be issued while memory moves a byte: Micikevicius' balanced
  /// instruction-to-byte ratio. 0 where it is not known.
  double instructionsPerByte() const {
    return DramBytes > 0 ? issueSlots() * Model.WarpSize / DramBytes : 0;
  }
  /// Bytes that have to be under way on each SM for full bandwidth, by Little's law: bandwidth x
  /// latency. 0 where not known.
  double bytesInFlightPerSm() const { return Sms ? DramBytes * DramLatencyNs * 1e-9 / Sms : 0; }
  unsigned warpsPerSm() const { return Model.MaxThreadsPerSm / Model.WarpSize; }
};

DeviceBalance balanceOf(const DeviceModel &Model, const DeviceRates &Rates);

} // namespace carve
