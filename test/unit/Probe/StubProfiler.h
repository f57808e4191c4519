/// \file
/// What the range profiler of the stand-in for CUPTI is told.
#pragma once

#include <cstdint>

/// Says that a kernel has run for \p Ns.
void stubProfiledKernel(uint64_t Ns);
