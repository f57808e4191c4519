/// \file
/// Which memory a kernel of the program may read and write: everything that the program has
/// allocated, mapped, registered or imported, as the driver calls said. What a replay has to save
/// comes from here.
#pragma once

#include "Probe/CuptiApi.h"
#include "Probe/PhysicalMemory.h"

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

  bool holds(CUdeviceptr Address) const { return Address - Base < Bytes; }
};

/// Thread-safe. Its lock is never held across a call of the driver.
class DeviceMemory {
public:
  /// \p Driver, where given, tells how large imported memory is, which the calls do not say.
  explicit DeviceMemory(const DriverApi *Driver = nullptr) : Driver(Driver) {}

  /// The driver calls that note() has to see, at entry and exit.
  static const std::vector<CUpti_CallbackId> &calls();

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
    bool Writable = true;        ///< Mapped memory is not until cuMemSetAccess.
    PhysicalHandle Handle = 0;   ///< Of Mapped memory.
    CUexternalMemory External{}; ///< It goes with this object.
  };
  using Entries = std::map<CUdeviceptr, Entry>;

  void noteEntry(CUpti_CallbackId Id, const void *Params);
  void noteExit(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void noteAllocation(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void noteShared(CUpti_CallbackId Id, const CUpti_CallbackData &Call);
  void notePhysical(CUpti_CallbackId Id, const void *Params);
  void noteAccess(CUpti_CallbackId Id, const void *Params);
  void noteState(CUpti_CallbackId Id, const void *Params);

  void add(CUdeviceptr Base, Entry Range);
  void addImported(CUdeviceptr Base, CUcontext Context);
  void remove(CUdeviceptr Base);
  void removeSpan(CUdeviceptr Base, size_t Bytes);
  void cut(CUdeviceptr At);
  void share(CUdeviceptr Address);
  Entries::const_iterator at(CUdeviceptr Address) const;

  const DriverApi *Driver;
  mutable std::mutex Lock;
  Entries Ranges;
  PhysicalMemory Physical;
  std::unordered_map<CUdevice, CUcontext> Primaries;
  std::unordered_map<CUgraphicsResource, CUdeviceptr> Graphics; ///< Mapped now.
  std::unordered_set<CUsurfObject> Surfaces;
  std::unordered_set<CUstream> Capturing;
  bool SurfaceReferences = false, Peers = false;
};

} // namespace carve::probe
