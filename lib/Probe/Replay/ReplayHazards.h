/// \file
/// Whether a launch may be replayed at all: what the process does beside it, and what memory its
/// arguments reach.
#pragma once

#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Process/EarlyFile.h"
#include "Probe/Process/Failure.h"
#include "Probe/Replay/KernelHandles.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

/// Thread-safe.
class ReplayHazards {
public:
  explicit ReplayHazards(const DriverApi &Driver) : Driver(Driver) {}

  void streamCreated(CUcontext Context, CUstream Stream);
  void streamDestroyed(CUcontext Context, CUstream Stream);
  void contextDestroyed(CUcontext Context);
  /// Whether all streams of \p Context that are known here have nothing to do. The gate is closed.
  bool idle(CUcontext Context) const;

  /// Fails if \p Call must not be replayed because of what its arguments point to, in view of all
  /// \p Memory of the process.
  Failure arguments(const LaunchCall &Call, const ResolvedKernel &Kernel,
                    const DeviceMemory &Memory) const;

private:
  bool reachesPageable(const std::vector<uint64_t> &Words, const DeviceMemory &Memory) const;

  const DriverApi &Driver;
  EarlyFile Maps{"/proc/self/maps"};
  mutable std::mutex Lock;
  std::map<CUcontext, std::set<CUstream>> Streams;
};

/// What a kernel may reach and a replay cannot save: the reason that goes with \p Kind, or null.
const char *hazardOfKind(MemoryKind Kind);

/// Whether an argument of \p Call looks like an address in \p Ranges, or cannot be looked at.
bool reaches(const LaunchCall &Call, const ResolvedKernel &Kernel,
             const std::vector<MemoryRange> &Ranges);

/// The 8-byte words of a launch's arguments at every 4 bytes, as an address may be packed in a
/// structure; false where their sizes are not known.
bool argumentWords(const LaunchCall &Call, const ResolvedKernel &Kernel,
                   std::vector<uint64_t> &Words);

} // namespace carve::probe
