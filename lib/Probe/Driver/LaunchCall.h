/// \file
/// A kernel launch as the program asks the driver for it, decoded from a callback's parameters:
/// what it launches and how, where its kernel can be exchanged, and how to do the same launch
/// again.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/DriverCalls.h"
#include "Protocol/LaunchShape.h"

#include <optional>
#include <vector>

namespace carve::probe {

struct LaunchCall {
  /// The handle in the driver's own copy of the parameters: writing it at the call's entry launches
  /// another kernel. A CUfunction, or a CUkernel in its place.
  CUfunction *Slot = nullptr;
  LaunchShape Shape;           ///< The cluster is that of the launch's attribute.
  CUstream Stream = nullptr;   ///< The default stream as the handle that names it.
  void **Parameters = nullptr; ///< Null where Extra has them.
  void **Extra = nullptr;
  bool Cooperative = false;
  const CUlaunchAttribute *Attributes = nullptr;
  unsigned AttributeCount = 0;

  /// Nothing where \p Id is no launch of one kernel. Only for the time of the callback.
  static std::optional<LaunchCall> decode(CUpti_CallbackId Id, const void *Params);

  /// The calls that decode() knows.
  static constexpr Roles Calls = Role::Launch;

  /// The attributes that decide how the kernel runs. Not those that tie the launch to others
  /// (programmatic ones, events), nor those of streams: a replay stands alone.
  std::vector<CUlaunchAttribute> ownAttributes() const;

  /// Launches \p Function on \p On as this call would.
  CUresult launch(const DriverApi &Driver, CUfunction Function, CUstream On) const;
};

} // namespace carve::probe
