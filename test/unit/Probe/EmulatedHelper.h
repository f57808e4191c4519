/// \file
/// What the probe's kernels (lib/Probe/Memory/device/Helper.cu) do, byte by byte on the host: runs
/// in their place in the unit tests, and is what the GPU's results are checked against.
#pragma once

#include <string_view>

namespace carve::test {

/// Runs \p Kernel on memory of this process. \p Parameters are those of cuLaunchKernel. False where
/// there is no such kernel, or a shadow is not aligned as live memory is.
bool runEmulated(std::string_view Kernel, void **Parameters);

} // namespace carve::test
