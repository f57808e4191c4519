/// \file
/// The driver calls that end contexts.
#pragma once

#include "Probe/Driver/CuptiApi.h"

namespace carve::probe {

/// What ends contexts, with all that is in them.
inline constexpr CUpti_CallbackId ContextEndCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy,
    CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease,
    CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2,
};

} // namespace carve::probe
