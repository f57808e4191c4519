/// \file
/// Knows which memory the program's kernels may read and write: everything that the program has
/// allocated, mapped, registered or imported, as its driver calls said. From this a replay learns
/// what it must save.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/StreamCaptures.h"
#include "Probe/Memory/PhysicalMemory.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace carve::probe {

/// A range of addresses of one allocation or mapping.
struct MemoryRange {
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
  MemoryKind Kind = MemoryKind::Device;
  /// The context that was current at the allocation. It means nothing for Mapped memory, which
  /// belongs to a device and can be reached from every context there.
  CUcontext Context = nullptr;
  /// The device of Mapped memory; -1 if it is unknown or the memory is of another kind.
  int Device = -1;

  bool holds(CUdeviceptr Address) const { return Address - Base < Bytes; }
};

/// Describes memory that the kernels of one context do not have for themselves.
const char *describeShared(MemoryKind Kind);

/// The program's memory at the moment. Thread-safe. Its lock is never held across a call of the
/// driver.
class DeviceMemory {
public:
  /// Memory that is allocated while \p Captures counts a capture belongs to that capture's graph.
  /// \p Driver, if given, tells the size of imported memory, which the calls do not say.
  explicit DeviceMemory(const StreamCaptures &Captures, const DriverApi *Driver = nullptr)
      : Captures(Captures), Driver(Driver) {}

  /// The driver calls that note() must see, at entry and exit.
  static constexpr Roles Calls = Role::Memory;

  /// Takes a call into account; a call without the role Memory is ignored. Freed memory is removed
  /// at the entry of the call, and allocated memory is added at its exit.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  /// Called when \p Context ends (CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING), with all its
  /// memory. The release of a device's primary context can be seen in no other way.
  void dropContext(CUcontext Context);

  /// Returns what is allocated now, in the order of addresses. Mapped memory is left out while no
  /// device may write it.
  std::vector<MemoryRange> ranges() const;
  std::optional<MemoryRange> find(CUdeviceptr Address) const;

  /// Returns whether kernels may write arrays through surfaces now. The content of an array cannot
  /// be saved.
  bool surfaces() const;
  /// Returns whether one device may reach memory of another. Once true it stays true, because it is
  /// not kept which call gave access to which device.
  bool peers() const;

private:
  struct Entry {
    size_t Bytes = 0;
    MemoryKind Kind = MemoryKind::Device;
    CUcontext Context = nullptr;
    PhysicalHandle Handle = 0; ///< The handle of Mapped memory.
    int Owner = -1;            ///< The device of Mapped memory, if known.
    bool Writable = true;      ///< False for Mapped memory until cuMemSetAccess.
  };
  using Entries = std::map<CUdeviceptr, Entry>;

  void noteEntry(CUpti_CallbackId Id, const void *Params);
  void noteAllocation(CUpti_CallbackId Id, const void *Params, CUcontext Context);
  void noteHost(CUpti_CallbackId Id, const void *Params, CUcontext Context);
  void noteImport(CUpti_CallbackId Id, const void *Params, CUcontext Context);
  void noteExport(CUpti_CallbackId Id, const void *Params);
  void noteMapping(CUpti_CallbackId Id, const void *Params);
  void notePool(CUpti_CallbackId Id, const void *Params);
  void noteState(CUpti_CallbackId Id, const void *Params);
  void setAccess(CUdeviceptr Base, size_t Bytes, const CUmemAccessDesc &Access);

  void add(CUdeviceptr Base, const Entry &New);
  /// Adds memory of another owner; takes the lock itself. If \p Bytes is 0, the driver is asked for
  /// the size.
  void addImported(CUdeviceptr Base, size_t Bytes, CUcontext Context);
  void addAsync(CUdeviceptr Base, size_t Bytes, MemoryKind Kind, CUcontext Context);
  void remove(CUdeviceptr Base) { Ranges.erase(Base); }
  void removeSpan(CUdeviceptr Base, size_t Bytes);
  /// Splits the entry that holds \p At, unless it begins there, into two at \p At.
  void cut(CUdeviceptr At);
  /// Marks the entry that holds \p Address as no longer the program's alone.
  void share(CUdeviceptr Address);
  void shareMappings(PhysicalHandle Handle);
  void drop(CUcontext Context);
  Entries::const_iterator entryAt(CUdeviceptr Address) const;
  static MemoryRange rangeOf(const Entries::value_type &Entry);

  const StreamCaptures &Captures;
  const DriverApi *Driver;
  mutable std::mutex Lock;
  Entries Ranges;
  PhysicalMemory Physical;
  std::unordered_map<CUdevice, CUcontext> Primaries;
  /// The resources that are mapped now.
  std::unordered_map<CUgraphicsResource, CUdeviceptr> Graphics;
  std::unordered_set<CUsurfObject> Surfaces;
  bool SurfaceReferences = false, Peers = false;
};

} // namespace carve::probe
