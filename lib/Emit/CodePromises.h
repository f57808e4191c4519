/// \file
/// Checks that a kernel with other code still accepts every launch that the default accepts, from
/// the resources that both take on the device and before the new code runs. ImageEmitter asks it
/// for every kernel whose code changes.
#pragma once

#include "Device/CriticalPoints.h"

#include <optional>
#include <string>

namespace carve {

/// The resources of a kernel's default code and of its new code.
struct CodeChange {
  const KernelResources &Default, &New;
  /// Threads of the largest block that the entry's directives allow.
  unsigned DefaultMaxThreads = 0;
  unsigned NewMaxThreads = 0; ///< The same for the new code.
  /// The new code spills to shared memory: only then may its static shared memory grow.
  bool SpillsToSmem = false;
};

/// Returns what \p Change breaks of what \p Domain protects, as a phrase for a message, or nothing
/// if it breaks nothing. Blocks per SM and local memory are not checked, because the tuning that
/// timed the code saw its launches.
std::optional<std::string> brokenPromise(const DeviceModel &D, const CodeChange &Change,
                                         LaunchDomain Domain);

/// Does the same for code that nobody has timed, because an option of the whole image changed it.
/// In addition, its local memory must not grow beyond the promised bound. If \p BlocksMeet, that
/// is, if blocks wait for each other, at least as many blocks as before must be resident for every
/// block size.
std::optional<std::string> brokenPromiseUntimed(const DeviceModel &D, const CodeChange &Change,
                                                bool BlocksMeet);

} // namespace carve
