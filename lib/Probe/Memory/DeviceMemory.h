/// \file
/// Which memory a kernel of the program may read and write: everything that the program has
/// allocated, mapped, registered or imported, as the driver calls said. What a replay has to save
/// comes from here.
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

struct MemoryRange {
  CUdeviceptr Base = 0;
  size_t Bytes = 0;
  MemoryKind Kind = MemoryKind::Device;
  /// Current when it was allocated. Of Mapped memory it says nothing: that belongs to a device, and
  /// every context there reaches it.
  CUcontext Context = nullptr;
  int Device = -1; ///< Of Mapped memory, where known.

  bool holds(CUdeviceptr Address) const { return Address - Base < Bytes; }
};

/// Thread-safe. Its lock is never held across a call of the driver.
class DeviceMemory {
public:
  /// \p Captures: what is allocated during one belongs to its graph. \p Driver, where given, tells
  /// how large imported memory is, which the calls do not say.
  explicit DeviceMemory(const StreamCaptures &Captures, const DriverApi *Driver = nullptr)
      : Captures(Captures), Driver(Driver) {}

  /// The driver calls that note() has to see, at entry and exit.
  static constexpr Roles Calls = Role::Memory;

  /// Takes a call into account; any other call is passed over. What is freed is gone at the entry
  /// of the call, what is allocated is there at its exit.
  void note(CUpti_CallbackId Id, const CUpti_CallbackData &Call);

  /// \p Context ends (CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING): its memory ends with it. The
  /// release of a device's primary context is seen in no other way.
  void dropContext(CUcontext Context);

  /// What is allocated now, by address. Mapped memory is left out while no device may write it.
  std::vector<MemoryRange> ranges() const;
  std::optional<MemoryRange> find(CUdeviceptr Address) const;

  /// Whether kernels may write arrays through surfaces now: an array cannot be saved.
  bool surfaces() const;
  /// Whether memory of one device may be reached from another. Never false again: who was given
  /// access by which call is not kept.
  bool peers() const;

private:
  struct Entry {
    size_t Bytes = 0;
    MemoryKind Kind = MemoryKind::Device;
    CUcontext Context = nullptr;
    PhysicalHandle Handle = 0; ///< Of Mapped memory.
    int Owner = -1;            ///< The device that Mapped memory is on, where known.
    bool Writable = true;      ///< Mapped memory is not until cuMemSetAccess.
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
  /// Takes the lock itself. 0 \p Bytes: as the driver says.
  void addImported(CUdeviceptr Base, size_t Bytes, CUcontext Context);
  void addAsync(CUdeviceptr Base, size_t Bytes, MemoryKind Kind, CUcontext Context);
  void remove(CUdeviceptr Base) { Ranges.erase(Base); }
  void removeSpan(CUdeviceptr Base, size_t Bytes);
  /// Makes two entries of the one that holds \p At and does not begin there.
  void cut(CUdeviceptr At);
  /// The entry that holds \p Address is not the program's alone any more.
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
  std::unordered_map<CUgraphicsResource, CUdeviceptr> Graphics; ///< Mapped now.
  std::unordered_set<CUsurfObject> Surfaces;
  bool SurfaceReferences = false, Peers = false;
};

} // namespace carve::probe
