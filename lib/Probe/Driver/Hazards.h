/// \file
/// Says what a trace records besides kernels: driver calls after which memory is no longer the
/// program's alone, and launches that start before the kernels ahead of them have ended. From these
/// records the tuner chooses how it times kernels. The functions are pure; only SeenHandles keeps
/// state.
#pragma once

#include "Probe/Driver/DriverCalls.h"
#include "Protocol/TraceRecords.h"

#include <array>
#include <atomic>
#include <optional>

namespace carve::probe {

/// Returns which kind of `hazard` record (Protocol.h) a call of \p Id with \p Params is, or nothing
/// if it is no hazard. Page-locked host memory is so common that it is no hazard by itself; only a
/// call that asks for its device address is one.
std::optional<HazardKind> hazardKind(CUpti_CallbackId Id, const void *Params);

/// The calls for which hazardKind() may return a kind. No program makes one of them at every
/// launch.
inline constexpr Roles HazardCalls = Role::HazardManaged | Role::HazardHost | Role::HazardIpc |
                                     Role::HazardPeer | Role::BeginsCapture | Role::HazardArray;

/// Returns the handle of the kernel if the call \p Id launches it with an attribute that lets it
/// overlap with its neighbours; null for any other call.
const void *programmaticKernel(CUpti_CallbackId Id, const void *Params);

/// Remembers which handles have been recorded, so that a loop of launches costs one look-up per
/// launch. A handle is forgotten if another one maps to the same place. Lock-free.
class SeenHandles {
public:
  /// Returns true unless \p Handle is the last handle that was seen in its place.
  bool first(const void *Handle) {
    auto Place = (reinterpret_cast<uintptr_t>(Handle) >> 4) % Places.size();
    return Places[Place].exchange(Handle, std::memory_order_relaxed) != Handle;
  }
  /// Forgets all handles. Called when a module is loaded, because a new kernel may get the handle
  /// of an unloaded one.
  void clear() {
    for (auto &Place : Places)
      Place.store(nullptr, std::memory_order_relaxed);
  }

private:
  std::array<std::atomic<const void *>, 256> Places{};
};

} // namespace carve::probe
