/// \file
/// Macros by which the parts of DeviceMemory read a call's parameters. Only these parts include it.
#pragma once

#include "Probe/Driver/DriverCalls.h"

#define CARVE_CALL(Call) callOf<Role::Memory>(CUPTI_DRIVER_TRACE_CBID_##Call)
#define CARVE_PARAMETERS(Call) const auto &P = *static_cast<const Call##_params *>(Params)
