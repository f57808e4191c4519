/// \file
/// Asks the driver into which allocation an address leads. A guard whose addresses must be apart
/// asks this: in the probe, and in programs by the code that Emit/DispatchSource.cpp writes.
#pragma once

#include "Probe/Driver/Allocation.h"
#include "Probe/Driver/CuptiApi.h"

namespace carve::probe {

/// Returns the allocation of plain device memory into which \p Address leads; none if it leads into
/// none. Memory of pools, mapped, managed, imported and host memory, and variables of modules are
/// no such allocations.
Allocation allocationAt(const DriverApi &Driver, uint64_t Address);

} // namespace carve::probe
