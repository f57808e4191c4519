/// \file
/// Which memory a kernel of the program may read and write: everything that the program has
/// allocated, mapped, registered or imported, as the driver calls said. What a replay has to save
/// comes from here.
#pragma once

#include "Probe/CuptiApi.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace carve::probe {

enum class MemoryKind {
  Device,   ///< cuMemAlloc and its kin.
  Pool,     ///< cuMemAllocAsync, cuMemAllocFromPoolAsync.
  Mapped,   ///< cuMemMap: physical memory under reserved addresses.
  Managed,  ///< cuMemAllocManaged: the host may touch it at any time.
  Host,     ///< Page-locked host memory, allocated or registered, that kernels can reach.
  Imported, ///< Of another process, or of another API.
};

struct MemoryRange {
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
  MemoryKind Kind = MemoryKind::Device;
  CUcontext Context = nullptr; ///< Current when it was allocated.

  bool holds(CUdeviceptr Address) const { return Address - Base < Bytes; }
};

/// Thread-safe. Its lock is never held across a call of the driver.
class DeviceMemory {
public:
  /// The driver calls that note() has to see, at entry and exit.
  static const std::vector<CUpti_CallbackId> &calls();

  /// Takes a call into account; any other call is passed over.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  /// What is allocated now, by address.
  std::vector<MemoryRange> ranges() const;
  std::optional<MemoryRange> find(CUdeviceptr Address) const;

private:
  void add(CUdeviceptr Base, size_t Bytes, MemoryKind Kind, CUcontext Context);
  void remove(CUdeviceptr Base);

  mutable std::mutex Lock;
  std::map<CUdeviceptr, MemoryRange> Ranges;
};

} // namespace carve::probe
