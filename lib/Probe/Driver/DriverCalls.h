/// \file
/// Says what each call of the driver means to the probe, by CUPTI's number of the call.
/// DriverCalls.def is the only list of calls; all other code asks here for their roles. Only the
/// code that reads a call's parameters names the call once more.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <array>
#include <vector>

namespace carve::probe {

/// One meaning that a driver call can have.
enum class Role : uint32_t {
  /// The call waits at its entry while a launch is replayed, captured or counted
  /// (SubmissionGate.h), because it submits work, allocates, frees, maps or shares memory, asks how
  /// much memory is free, begins a capture, or ends a stream or a context.
  Gated = 1u << 0,
  /// The call needs device memory, asks how much is free, or ends a context. The probe gives back
  /// the memory that it holds before the call runs (Snapshot.h).
  NeedsMemory = 1u << 1,
  /// The call changes what DeviceMemory knows.
  Memory = 1u << 2,
  /// The call does something to memory that the probe does not follow. Nothing is replayed after
  /// it.
  Unfollowed = 1u << 3,
  StartsKernels = 1u << 4,
  /// The call starts one kernel, in a way that LaunchCall can decode and repeat.
  Launch = 1u << 5,
  /// The call has the role Launch, and its launch may have attributes.
  LaunchAttributes = 1u << 6,
  BeginsCapture = 1u << 7,
  EndsCapture = 1u << 8,
  /// The call gets a device image in memory, which the probe can exchange there.
  LoadsImage = 1u << 9,
  LoadsFile = 1u << 10,
  /// The call ends a module or a library.
  Unloads = 1u << 11,
  /// The call asks a library for something. The driver has loaded the library from then on.
  UsesLibrary = 1u << 12,
  /// The call returns the address of a variable of a module.
  GivesVariable = 1u << 13,
  /// The call sets an attribute of a kernel.
  SetsAttribute = 1u << 14,
  /// The call asks for something about a kernel that may depend on the kernel's registers.
  AsksKernel = 1u << 15,
  /// The call waits for work, and returns the error of a kernel that failed.
  Waits = 1u << 16,
  /// The call ends a context and everything in it.
  EndsContext = 1u << 17,
  BindsTexture = 1u << 18,
  UnbindsTexture = 1u << 19,
  // The kinds of `hazard` records (Protocol.h). Hazards.h says for which parameters a call is one.
  // A call that begins a capture is a hazard, too.
  HazardManaged = 1u << 20,
  HazardHost = 1u << 21,
  HazardIpc = 1u << 22,
  HazardPeer = 1u << 23,
  HazardArray = 1u << 24,
  /// The call makes, changes or ends an executable graph.
  ExecutableGraph = 1u << 25,
  /// The call launches an executable graph.
  GraphLaunch = 1u << 26,
  /// The call ends a graph or a node of one, whose handle then means nothing.
  EndsGraph = 1u << 27,
  /// The call adds a node of any kind to a graph.
  AddsNode = 1u << 28,
  /// The call returns after work of one stream, or may be a copy that waits for it. If it is a
  /// question whether the work is done, this holds for the answer that it is. Other streams may
  /// still have work.
  AwaitsStream = 1u << 29,
  /// The call returns after the work of the context, or at least of the default stream and of the
  /// streams that it waits for.
  AwaitsDevice = 1u << 30,
  /// The call tells how long the device took between two events.
  TellsTime = 1u << 31,
};

/// A set of roles.
class Roles {
public:
  constexpr Roles() = default;
  constexpr Roles(Role One) : Bits(static_cast<uint32_t>(One)) {}

  /// Returns whether this set has one of \p Others.
  constexpr bool any(Roles Others) const { return Bits & Others.Bits; }
  constexpr bool empty() const { return Bits == 0; }
  constexpr Roles operator|(Roles Other) const {
    Other.Bits |= Bits;
    return Other;
  }
  constexpr Roles &operator|=(Roles Other) { return *this = *this | Other; }

private:
  uint32_t Bits = 0;
};

constexpr Roles operator|(Role A, Roles B) { return B | A; }
constexpr Roles operator|(Role A, Role B) { return Roles(A) | Roles(B); }

/// An entry of DriverCalls.def.
struct DriverCall {
  /// The number of the form without `_ptsz` or `_ptds`, which has the same parameters; the call's
  /// own number if it is that form.
  CUpti_CallbackId Plain = 0;
  Roles Means;
};

/// A bound above the largest number in DriverCalls.def.
inline constexpr CUpti_CallbackId DriverCallLimit = 1024;

/// DriverCalls.def, indexed by CUPTI's number. A call that is not in the list has no role.
inline constexpr std::array<DriverCall, DriverCallLimit> DriverCallTable = [] {
  using enum Role;
  std::array<DriverCall, DriverCallLimit> Table;
  auto Add = [&](CUpti_CallbackId Id, DriverCall Call) {
    if (!Table[Id].Means.empty())
      throw "this call is named twice";
    Table[Id] = Call;
  };
  // The macros only paste a name together with others and never expand it, because cuda.h defines
  // macros with many of these names.
#define CARVE_CALL_NUMBER(Number, Name, Means) Add(Number, {Number, Means});
#define CARVE_CALL_ALSO(Number, Name, Plain) Add(Number, Table[CUPTI_DRIVER_TRACE_CBID_##Plain]);
#define CARVE_CALL(Name, Means)                                                                    \
  Add(CUPTI_DRIVER_TRACE_CBID_##Name, {CUPTI_DRIVER_TRACE_CBID_##Name, Means});
#define CARVE_CALL_PTSZ(Name, Means)                                                               \
  Add(CUPTI_DRIVER_TRACE_CBID_##Name, {CUPTI_DRIVER_TRACE_CBID_##Name, Means});                    \
  Add(CUPTI_DRIVER_TRACE_CBID_##Name##_ptsz, Table[CUPTI_DRIVER_TRACE_CBID_##Name]);
#define CARVE_CALL_PTDS(Name, Means)                                                               \
  Add(CUPTI_DRIVER_TRACE_CBID_##Name, {CUPTI_DRIVER_TRACE_CBID_##Name, Means});                    \
  Add(CUPTI_DRIVER_TRACE_CBID_##Name##_ptds, Table[CUPTI_DRIVER_TRACE_CBID_##Name]);
#include "Probe/Driver/DriverCalls.def"
#undef CARVE_CALL_PTDS
#undef CARVE_CALL_PTSZ
#undef CARVE_CALL_ALSO
#undef CARVE_CALL
#undef CARVE_CALL_NUMBER
  return Table;
}();

/// Returns the roles of the call \p Id; none if DriverCalls.def does not have it.
constexpr Roles rolesOf(CUpti_CallbackId Id) {
  return Id < DriverCallLimit ? DriverCallTable[Id].Means : Roles();
}

/// Returns the call that has the same parameters as \p Id: the form without `_ptsz` or `_ptds`, or
/// \p Id itself. A call that DriverCalls.def does not have is returned unchanged.
constexpr CUpti_CallbackId plainForm(CUpti_CallbackId Id) {
  return rolesOf(Id).empty() ? Id : DriverCallTable[Id].Plain;
}

/// Returns every call that has at least one of the roles \p Any.
std::vector<CUpti_CallbackId> callsWith(Roles Any);

/// Returns \p Id if that call has the role \p R, and does not compile otherwise. The labels of
/// switches over the calls of one role use it, so that no such call can be missing from
/// DriverCalls.def.
template <Role R> consteval CUpti_CallbackId callOf(CUpti_CallbackId Id) {
  if (!rolesOf(Id).any(R) || plainForm(Id) != Id)
    throw "DriverCalls.def gives this call no such role, or it is a form of another one";
  return Id;
}

} // namespace carve::probe
