/// \file
/// What a trace notes beside kernels: driver calls after which a program's memory is not its own
/// alone, and launches that start before what they follow has ended. The tuner chooses by it how
/// kernels are timed. Pure, but for the record of what was seen already.
#pragma once

#include "Probe/Driver/DriverCalls.h"
#include "Protocol/TraceRecords.h"

#include <array>
#include <atomic>
#include <optional>

namespace carve::probe {

/// The kind of `hazard` record (Protocol.h) that a call of \p Id with \p Params is; nothing if it
/// is none. Page-locked host memory is everywhere and no hazard by itself: only what asks for a
/// device address of it is.
std::optional<HazardKind> hazardKind(CUpti_CallbackId Id, const void *Params);

/// The calls for which hazardKind() may say something. None is made at every launch.
inline constexpr Roles HazardCalls = Role::HazardManaged | Role::HazardHost | Role::HazardIpc |
                                     Role::HazardPeer | Role::BeginsCapture | Role::HazardArray;

/// The handle of the kernel that a call of \p Id launches with an attribute by which it overlaps
/// with its neighbours; null for any other call.
const void *programmaticKernel(CUpti_CallbackId Id, const void *Params);

/// Which handles have been recorded, so that a loop of launches costs a look each. Forgets where
/// two share a place. Lock-free.
class SeenHandles {
public:
  /// False where \p Handle was the last one in its place.
  bool first(const void *Handle) {
    auto Place = (reinterpret_cast<uintptr_t>(Handle) >> 4) % Places.size();
    return Places[Place].exchange(Handle, std::memory_order_relaxed) != Handle;
  }
  /// A module is loaded: another kernel may get the handle of one that is gone.
  void clear() {
    for (auto &Place : Places)
      Place.store(nullptr, std::memory_order_relaxed);
  }

private:
  std::array<std::atomic<const void *>, 256> Places{};
};

} // namespace carve::probe
