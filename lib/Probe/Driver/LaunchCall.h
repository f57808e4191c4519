/// \file
/// Decodes a kernel launch of the program from a callback's parameters: what it launches and how,
/// where its kernel can be exchanged, and how the same launch can be made again.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Probe/Driver/DriverCalls.h"
#include "Protocol/LaunchShape.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

namespace carve::probe {

/// Returns the value of the argument of \p Bytes bytes at \p Argument, zero-extended. \p Bytes is
/// at most 8.
inline uint64_t argumentBits(const void *Argument, size_t Bytes) {
  uint64_t Bits = 0; // The machine is little-endian, as the device is.
  std::memcpy(&Bits, Argument, Bytes);
  return Bits;
}

/// Returns the handle that names \p Stream, a parameter of the call \p Id. In the calls with
/// `_ptsz` a null stream is the thread's own one.
CUstream streamOf(CUstream Stream, CUpti_CallbackId Id);

/// Returns the shape of launches with \p Config, as far as its attributes do not say more.
LaunchShape shapeOf(const CUlaunchConfig &Config);

/// A launch of one kernel. It points into the callback's parameters and is valid only during the
/// callback.
struct LaunchCall {
  /// The place of the kernel's handle in the driver's own copy of the parameters. Writing it at the
  /// call's entry makes the call launch another kernel. The handle is a CUfunction or a CUkernel.
  CUfunction *Slot = nullptr;
  LaunchShape Shape;           ///< The cluster comes from the launch's attribute.
  CUstream Stream = nullptr;   ///< If the call means a default stream, the handle that names it.
  void **Parameters = nullptr; ///< Null if Extra has the parameters.
  void **Extra = nullptr;
  bool Cooperative = false;
  const CUlaunchAttribute *Attributes = nullptr;
  unsigned AttributeCount = 0;
  /// The guards whose addresses the driver was asked about for this launch, and whether they are
  /// apart.
  mutable std::vector<std::pair<const void *, bool>> Asked = {};

  /// Decodes the parameters of the call \p Id. Returns nothing if \p Id is not a launch of one
  /// kernel.
  static std::optional<LaunchCall> decode(CUpti_CallbackId Id, const void *Params);

  /// The calls that decode() can decode.
  static constexpr Roles Calls = Role::Launch;

  /// Returns the attributes that decide how the kernel runs. It leaves out attributes that tie the
  /// launch to other launches (programmatic ones, events) and attributes of streams, because a
  /// replay runs alone.
  std::vector<CUlaunchAttribute> ownAttributes() const;

  /// Launches \p Function on the stream \p On in the same way as this call. Returns the driver's
  /// result.
  CUresult launch(const DriverApi &Driver, CUfunction Function, CUstream On) const;
};

} // namespace carve::probe
