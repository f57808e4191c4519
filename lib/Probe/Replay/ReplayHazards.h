/// \file
/// Decides whether a launch may be replayed at all, by what the process does at the same time and
/// what memory the arguments reach.
#pragma once

#include "Probe/Memory/DeviceMemory.h"
#include "Probe/Memory/Snapshot.h"
#include "Probe/Process/EarlyFile.h"
#include "Probe/Process/Failure.h"
#include "Probe/Replay/KernelHandles.h"

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace carve::probe {

/// Knows the streams of every context. Thread-safe.
class ReplayHazards {
public:
  explicit ReplayHazards(const DriverApi &Driver) : Driver(Driver) {}

  void streamCreated(CUcontext Context, CUstream Stream);
  void streamDestroyed(CUcontext Context, CUstream Stream);
  void contextDestroyed(CUcontext Context);
  /// Returns whether all known streams of \p Context are idle. The gate must be closed.
  bool idle(CUcontext Context) const;

  /// Fails if \p Call must not be replayed because of what its arguments point to, given all
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

/// Returns the reason why a replay cannot handle memory of \p Kind that a kernel may reach, or null
/// if it can.
const char *hazardOfKind(MemoryKind Kind);

/// The failure for an address \p Found in the saved memory that leads to one of \p Pointed. It says
/// which, so that a person can find the allocations in the program.
Failure pointsToHost(const AddressInMemory &Found, const std::vector<MemoryRange> &Pointed);

/// Returns whether one of the \p Bytes bytes at \p Data looks like the beginning of an address in
/// \p Ranges. Only every 4th byte is looked at.
bool holdAddress(const void *Data, size_t Bytes, const std::vector<MemoryRange> &Ranges);

/// Returns the indices of those of \p Ranges that an argument of \p Call seems to be an address in;
/// of all of them if the arguments cannot be examined.
std::vector<size_t> reachedOf(const LaunchCall &Call, const ResolvedKernel &Kernel,
                              const std::vector<MemoryRange> &Ranges);

/// Writes the 8-byte words of a launch's arguments to \p Words, one from every 4th byte on, because
/// an address may be packed in a structure. Returns false if the sizes of the arguments are
/// unknown.
bool argumentWords(const LaunchCall &Call, const ResolvedKernel &Kernel,
                   std::vector<uint64_t> &Words);

} // namespace carve::probe
