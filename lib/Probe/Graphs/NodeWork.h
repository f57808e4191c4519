/// \file
/// What one node of a graph does, copied deeply, because the program may change or destroy the
/// graph after it was made executable; and how the same is done by a plain call on a stream.
#pragma once

#include "Probe/Driver/CuptiApi.h"
#include "Protocol/TraceRecords.h"

#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace carve::probe {

/// A launch of a kernel.
struct KernelWork {
  CUlaunchConfig Config{};     ///< Without stream and attributes.
  CUfunction Handle = nullptr; ///< A CUfunction or a CUkernel.
  bool IsCUkernel = false;     ///< Whether the node was given it as a CUkernel.
  CUcontext Context = nullptr; ///< Null if the node is not bound to one, or if that is not known.
  std::string Name;            ///< The mangled name.
  /// The value of each parameter, or in Packed all of them as the program has laid them out.
  std::vector<std::vector<char>> Arguments;
  std::optional<std::vector<char>> Packed;
  std::vector<CUlaunchAttribute> Attributes;
};
struct EventRecordWork {
  CUevent Event = nullptr;
};
struct EventWaitWork {
  CUevent Event = nullptr;
};

/// Nothing, for an empty node, or what else a node does.
using NodeWork = std::variant<std::monostate, KernelWork, CUDA_MEMCPY3D, CUDA_MEMSET_NODE_PARAMS,
                              CUDA_HOST_NODE_PARAMS, EventRecordWork, EventWaitWork>;

/// Copies the launch that \p Params describes, without attributes. Returns nothing if the driver
/// does not tell the kernel's name or the sizes of its parameters.
std::optional<KernelWork> copyKernel(const DriverApi &Driver,
                                     const CUDA_KERNEL_NODE_PARAMS &Params);

/// Copies the attributes of the kernel node \p Node that a plain launch can have, too. Returns why
/// the node cannot be launched plainly; nothing if it can.
std::optional<GraphStay> copyAttributes(const DriverApi &Driver, CUgraphNode Node,
                                        KernelWork &Kernel);

/// Returns whether \p Copy reads or writes memory that the driver does not know. As a plain call
/// such a copy reads too early, or makes the host wait.
bool isPageable(const DriverApi &Driver, const CUDA_MEMCPY3D &Copy);

/// Does \p Work on \p Stream. Returns the driver's result.
CUresult carryOut(const DriverApi &Driver, const NodeWork &Work, CUstream Stream);

} // namespace carve::probe
