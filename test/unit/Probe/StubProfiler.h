/// \file
/// Of the stand-in for CUPTI: what its range profiler is told.
#pragma once

#include <cstdint>

/// A kernel has run for \p Ns.
void stubProfiledKernel(uint64_t Ns);
