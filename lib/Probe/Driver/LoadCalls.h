/// \file
/// The driver calls that are given a device image in memory: there it can be exchanged.
#pragma once

#include "Probe/Driver/CuptiApi.h"

namespace carve::probe {

inline constexpr CUpti_CallbackId LoadCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
};

} // namespace carve::probe
