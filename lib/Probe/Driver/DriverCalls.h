/// \file
/// What each call of the driver means to the probe, by CUPTI's number for it. DriverCalls.def is
/// the one list of calls; everything that has to know calls asks here for their roles. Only the
/// code that reads a call's parameters names the call once more.
#pragma once

#include <cuda.h>
#include <cupti.h>

#include <array>
#include <vector>

namespace carve::probe {

/// One thing that a driver call can mean.
enum class Role : uint32_t {
  /// Waits at its entry while one launch is replayed, captured or counted (SubmissionGate.h): it
  /// submits work, allocates, frees, maps or shares memory, asks how much is free, begins a
  /// capture, or ends a stream or a context.
  Gated = 1u << 0,
  /// Needs device memory, asks how much is free, or ends a context: memory that the probe holds is
  /// given back before it (Snapshot.h).
  NeedsMemory = 1u << 1,
  /// Changes what DeviceMemory knows.
  Memory = 1u << 2,
  /// Does something to memory that the probe does not follow: after it nothing is replayed.
  Unfollowed = 1u << 3,
  StartsKernels = 1u << 4,
  /// Starts one kernel, in a way that LaunchCall can decode and repeat.
  Launch = 1u << 5,
  /// Of these, a launch that may have attributes.
  LaunchAttributes = 1u << 6,
  BeginsCapture = 1u << 7,
  EndsCapture = 1u << 8,
  /// Gets a device image in memory, which can be exchanged there.
  LoadsImage = 1u << 9,
  LoadsFile = 1u << 10,
  /// Ends a module or a library.
  Unloads = 1u << 11,
  /// Asks a library for something, so that the driver has loaded it from then on.
  UsesLibrary = 1u << 12,
  /// Gives the address of a variable of a module.
  GivesVariable = 1u << 13,
  /// Sets an attribute of a kernel.
  SetsAttribute = 1u << 14,
  /// Asks something about a kernel that may depend on its registers.
  AsksKernel = 1u << 15,
  /// Waits for work, and returns the error of a kernel that failed.
  Waits = 1u << 16,
  /// Ends a context, with all that is in it.
  EndsContext = 1u << 17,
  BindsTexture = 1u << 18,
  UnbindsTexture = 1u << 19,
  // The kinds of `hazard` records (Protocol.h); Hazards.h tells for which parameters. A call that
  // begins a capture is one, too.
  HazardManaged = 1u << 20,
  HazardHost = 1u << 21,
  HazardIpc = 1u << 22,
  HazardPeer = 1u << 23,
  HazardArray = 1u << 24,
};

/// A set of roles.
class Roles {
public:
  constexpr Roles() = default;
  constexpr Roles(Role One) : Bits(static_cast<uint32_t>(One)) {}

  /// Whether one of \p Others is among them.
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
  /// Of the call with the same parameters, its own number or that of the form without `_ptsz`.
  CUpti_CallbackId Plain = 0;
  Roles Means;
};

/// More than the largest number in DriverCalls.def.
inline constexpr CUpti_CallbackId DriverCallLimit = 1024;

/// DriverCalls.def by CUPTI's number. A call that is not in it means nothing.
inline constexpr std::array<DriverCall, DriverCallLimit> DriverCallTable = [] {
  using enum Role;
  std::array<DriverCall, DriverCallLimit> Table;
  auto Add = [&](CUpti_CallbackId Id, DriverCall Call) {
    if (!Table[Id].Means.empty())
      throw "this call is named twice";
    Table[Id] = Call;
  };
  // A name is only ever pasted: cuda.h has macros of many of them.
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

/// What the call \p Id means.
constexpr Roles rolesOf(CUpti_CallbackId Id) {
  return Id < DriverCallLimit ? DriverCallTable[Id].Means : Roles();
}

/// The call that has the parameters of \p Id: itself, or its form without `_ptsz` or `_ptds`. Those
/// of DriverCalls.def alone; \p Id for any other.
constexpr CUpti_CallbackId plainForm(CUpti_CallbackId Id) {
  return rolesOf(Id).empty() ? Id : DriverCallTable[Id].Plain;
}

/// Every call that has one of \p Any.
std::vector<CUpti_CallbackId> callsWith(Roles Any);

/// \p Id, where it has the role \p R; otherwise this does not compile. For the labels of switches
/// over the calls of one role, which DriverCalls.def must not lack.
template <Role R> consteval CUpti_CallbackId callOf(CUpti_CallbackId Id) {
  if (!rolesOf(Id).any(R) || plainForm(Id) != Id)
    throw "DriverCalls.def gives this call no such role, or it is a form of another one";
  return Id;
}

} // namespace carve::probe
