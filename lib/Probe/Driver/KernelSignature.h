/// \file
/// Asks the driver for what it tells of the kernel of a handle: its name, its module, and the sizes
/// of its parameters. The handles are those of launches, where the runtime passes a CUkernel
/// although the driver's signature says CUfunction.
#pragma once

#include "Probe/Driver/CuptiApi.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace carve::probe {

/// Returns the mangled name of a kernel, or null if the driver does not know \p Handle.
/// cuFuncGetName takes both kinds of handles, but in older drivers only a CUfunction.
const char *kernelName(const DriverApi &Driver, const void *Handle);

/// Returns the module of \p Handle if it is a CUfunction, and null if it is a CUkernel.
CUmodule moduleOfFunction(const DriverApi &Driver, CUfunction Handle);

/// Returns the size of each parameter of \p Function in bytes, in their order; nothing if the
/// driver cannot tell the sizes.
std::optional<std::vector<size_t>> parameterBytes(const DriverApi &Driver, CUfunction Function);

/// Returns the same for the \p Handle of a launch. If it is a CUkernel that was not launched in
/// this context before, the driver may load its module.
std::optional<std::vector<size_t>> parameterBytesOfHandle(const DriverApi &Driver,
                                                          CUfunction Handle);

} // namespace carve::probe
