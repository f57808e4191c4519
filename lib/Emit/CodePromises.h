/// \file
/// Whether a kernel of other code still accepts every launch that the default accepts: what may be
/// said of it before it runs, from what the two take on the device.
#pragma once

#include "Device/CriticalPoints.h"

#include <optional>
#include <string>

namespace carve {

/// A kernel before and after.
struct CodeChange {
  const KernelResources &Default, &New;
  unsigned DefaultMaxThreads = 0; ///< Of a block, by the directives of the entry.
  unsigned NewMaxThreads = 0;
  bool SpillsToSmem = false; ///< The one knob that static shared memory may grow by.
};

/// What \p Change breaks of what \p Domain protects, for a person; nothing where it breaks nothing.
/// Blocks per SM and local memory are not looked at: the tuning that timed the code has seen its
/// launches.
std::optional<std::string> brokenPromise(const DeviceModel &D, const CodeChange &Change,
                                         LaunchDomain Domain);

/// The same for code that nobody has timed, because an option of the whole image changed it: its
/// local memory may not grow beyond what is promised either, and where \p BlocksMeet, blocks that
/// wait for each other, no block fewer may be resident for any size of it.
std::optional<std::string> brokenPromiseUntimed(const DeviceModel &D, const CodeChange &Change,
                                                bool BlocksMeet);

} // namespace carve
